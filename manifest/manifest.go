package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// MaxSize is the size in bytes that a HOOK.md may have.
const MaxSize = 64 << 10

// Source says where a manifest was found.
type Source struct {
	hook.Source // Line is not used
	Scope       hook.Scope
	Package     string // the plugin package, in ScopePlugin
	Folder      string // the folder's name, and the hook's, unless the manifest has one

	// Files returns the names of what is beside the manifest. It is asked only
	// if there is no command, to say what the handler is instead; nil = unknown.
	Files func() []string
}

// ID is what a hook of that name is called everywhere; see [dialect.HookID].
func (s Source) ID(name string) string { return dialect.HookID(s.Scope, s.Package, name) }

// Parse reads a HOOK.md. It returns a hook for each event that the manifest
// names, all with one ID, and never none: a manifest that cannot be read, or
// that names no event, is one hook without an event, in StateInvalid.
//
// The diagnostics are in the order of their lines. One of SeverityError makes
// the hooks it is about StateInvalid, with the first as Why, unless the manifest
// has enabled = false. Parse keeps nothing of data and may be called from
// several goroutines at once.
func Parse(src Source, data []byte) ([]*hook.Hook, []hook.Diagnostic) {
	if len(data) > MaxSize {
		return broken(src, &hook.Diagnostic{Line: 1, Code: "too_large", Message: fmt.Sprintf("larger than %d KiB", MaxSize>>10),
			Hint: "move what does not define the hook into another file"})
	}
	block, bad := cut(string(data))
	if bad != nil {
		return broken(src, bad)
	}
	doc := decl.Parse(block.syntax.language, block.text(), decl.Options{Line: block.line, Values: maxValues, Unique: true})
	if doc.Bad == nil && !doc.Root.IsTable() {
		doc.Bad = &hook.Diagnostic{Line: block.line, Code: "wrong_type", Message: "want keys and values, got " + doc.Root.What()}
	}
	if doc.Bad != nil {
		return broken(src, doc.Bad)
	}
	doc.Root.Line = max(1, block.line-1) // what is said of the whole is said of the fence
	notes := decl.NewReader(src.Path)
	for _, d := range doc.Lax {
		notes.Note(d)
	}
	r := &reader{Table: notes.Table("", doc.Root), src: src}
	hooks := r.hooks()
	return hooks, r.Finish()
}

// maxValues is how many values and keys front matter may have.
const maxValues = 4096

// Broken is the hook that stands for a manifest of which only a diagnostic is
// known: the file could not be read, say.
func Broken(src Source, d hook.Diagnostic) *hook.Hook {
	h := &hook.Hook{
		ID: src.ID(src.Folder), Name: src.Folder, Scope: src.Scope, Source: src.Source,
		Kind: hook.KindCommand, State: hook.StateInvalid, Why: d.Message,
	}
	h.Source.Line = d.Line
	return h
}

// broken is Broken for what is wrong with a text.
func broken(src Source, bad *hook.Diagnostic) ([]*hook.Hook, []hook.Diagnostic) {
	bad.Severity, bad.Hook, bad.Path = hook.SeverityError, src.ID(src.Folder), src.Path
	return []*hook.Hook{Broken(src, *bad)}, []hook.Diagnostic{*bad}
}

// Schema is the JSON Schema of a HOOK.md's frontmatter, for editors: every key
// that Parse knows, in both its spellings. What Parse only warns of, it refuses.
func Schema() json.RawMessage { return decl.HookSchema(foreignKeys...) }
