package manifest

import (
	"fmt"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/hook"
)

// MaxSize is the size in bytes that a HOOK.md may have.
const MaxSize = 64 << 10

// Source says where a manifest was found.
type Source struct {
	hook.Source // Line is not used
	Scope       hook.Scope
	Package     string // the plugin package, in ScopePlugin
	Folder      string // the folder's name, and the hook's, unless the manifest has one

	// Files returns the names of what lies beside the manifest. It is asked only
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
		return broken(src, 1, &fault{
			code: "too_large", message: fmt.Sprintf("larger than %d KiB", MaxSize>>10),
			hint: "move what does not define the hook into another file",
		})
	}
	block, bad := cut(string(data))
	if bad != nil {
		return broken(src, 1, bad)
	}
	doc, bad := block.syntax.read(block)
	if bad != nil {
		return broken(src, block.line, bad)
	}
	r := &reader{src: src, doc: doc, first: block.line}
	hooks := r.hooks()
	r.sort()
	return hooks, r.notes
}

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

// broken is Broken for a fault of a text that begins on line first.
func broken(src Source, first int, bad *fault) ([]*hook.Hook, []hook.Diagnostic) {
	d := bad.diagnostic(src, first)
	return []*hook.Hook{Broken(src, d)}, []hook.Diagnostic{d}
}

func (bad *fault) diagnostic(src Source, first int) hook.Diagnostic {
	d := hook.Diagnostic{
		Severity: hook.SeverityError, Code: bad.code, Hook: src.ID(src.Folder), Path: src.Path,
		Line: first, Message: bad.message, Hint: bad.hint,
	}
	if bad.line > 0 {
		d.Line = first + bad.line - 1
	}
	if bad.first > 0 {
		d.Message += fmt.Sprintf(", after line %d", first+bad.first-1)
	}
	return d
}
