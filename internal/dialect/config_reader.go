package dialect

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// The bounds of what comes out of a file.
const (
	maxConfigEvents = 500
	maxConfigHooks  = 2_000
)

// configReader turns a parsed file into hooks, and notes what is odd on the
// way.
type configReader struct {
	*decl.Reader
	src        ConfigSource
	p          *product
	prefix     string // before the names of hooks: that of the table that they are in
	config     Config
	names      map[string]int
	translated map[string]string // matchers
}

func newConfigReader(src ConfigSource) *configReader {
	return &configReader{Reader: decl.NewReader(src.Path), src: src, names: make(map[string]int), translated: make(map[string]string)}
}

// file reads a file whose product is known.
func (r *configReader) file(f recognized, doc *decl.Node) {
	r.p, r.config.Product = f.product, f.product.name
	if !doc.IsTable() {
		r.broken(hook.Diagnostic{Code: "wrong_type", Line: doc.Line, Message: "want a table, got " + doc.What(), Hint: `write {"hooks": {…}}`})
		return
	}
	if r.isLegacy() {
		r.Warn(1, "deprecated", fmt.Sprintf("%s's %s is deprecated", r.p.name, path.Base(slashed(r.src.Path))), fmt.Sprintf("move its hooks into %s's settings", r.p.name))
	}
	if base := path.Base(slashed(r.src.Path)); r.p.settings && strings.Contains(base, "settings") {
		r.settings(doc)
	}
	switch f.form {
	case formManifest:
		r.manifest(doc)
	case formShape:
		r.p.shape.read(r, doc)
	default:
		r.hooksOf(doc, f.form)
	}
	if f.form == formSettings {
		r.singles(doc)
	}
	if f.by == byName && len(r.Notes)+len(r.config.Hooks)+len(r.config.Refs) == 0 && doc.At("hooks") == nil {
		r.Note(hook.Diagnostic{Severity: hook.SeverityInfo, Line: 1, Code: "no_hooks", Message: "it declares no hooks"})
	}
	if r.p.also != nil {
		r.p.also(r, doc)
	}
	r.duplicates()
}

// isLegacy reports whether the file is one of an older version.
func (r *configReader) isLegacy() bool {
	return slices.ContainsFunc(r.p.files, func(f configFile) bool { return f.legacy && path.Base(f.pattern) == path.Base(slashed(r.src.Path)) })
}

// hooksOf reads the hooks under their key, or where the events stand at the top.
func (r *configReader) hooksOf(doc *decl.Node, f form) {
	table, at := eventTable(doc)
	if r.p.root != "" {
		table = r.p.rooted(doc)
	}
	switch {
	case table == nil && f == formHooks:
		r.Error(1, "no_hooks", "it declares no hooks", "put them under the key "+phrase.Quote(cmp.Or(r.p.root, "hooks"))+", by event")
	case table == nil:
	case r.p.root != "":
		r.hooksValue(table, 0)
	case at == atHooksKey:
		r.hooksKeys(doc)
		r.eventsBeside(doc)
	default:
		if !r.p.bare {
			r.Warn(table.Line, "unwrapped", `the events stand at the top of the file, and not under "hooks"`,
				`write {"hooks": {…}}: other readers pass them over`)
		}
		r.events(table)
	}
}

// eventsBeside reports events that stand beside "hooks": no product reads them.
func (r *configReader) eventsBeside(doc *decl.Node) {
	for _, p := range doc.Pairs() {
		if r.p.knows(p.Key) && p.Node.Value != nil {
			r.Error(p.Line, "misplaced_event", phrase.Quote(p.Key)+` stands beside "hooks", so its hooks are not read`, `move it into "hooks"`)
		}
	}
}

// hooksKeys reads what stands under "hooks", even where it stands twice.
func (r *configReader) hooksKeys(doc *decl.Node) {
	first := 0
	for _, p := range doc.Pairs() {
		if p.Key != "hooks" {
			continue
		}
		if first > 0 {
			r.Warn(p.Line, "duplicate_key",
				fmt.Sprintf(`"hooks" stands here a second time, after line %d; both are read here, other readers take one`, first), "join them")
		}
		first = p.Line
		r.hooksValue(p.Node, 0)
	}
}

// broken is a file that cannot be read at all: a hook that is invalid, so that
// it is not taken for a file without hooks.
func (r *configReader) broken(bad hook.Diagnostic) {
	base := r.base()
	h := &hook.Hook{Name: base, ID: HookID(r.src.Scope, r.src.Package, base), Kind: hook.KindCommand,
		Scope: r.src.Scope, Source: r.src.Source, State: hook.StateInvalid, Why: bad.Message}
	h.Source.Line = bad.Line
	r.config.Hooks = append(r.config.Hooks, h)
	r.Error(bad.Line, bad.Code, bad.Message, bad.Hint)
}

// base is what hooks without names are named after: the file, and where several
// products' files share a scope, its product.
func (r *configReader) base() string {
	base := path.Base(slashed(r.src.Path))
	if of := productOf(r.src.Product); of == nil || of.own || r.src.Package != "" {
		return base
	}
	return r.src.Product + "/" + base
}

// entry is a table that describes a hook, or several: an event's group, or a
// handler.
type entry struct {
	*decl.Table
	r       *configReader
	p       *product
	first   int    // of the notes, the first that is about it
	pattern string // the matcher, as the product has it
}

// newEntry reads the keys of a table. Which of them count is the product's
// choice.
func (r *configReader) newEntry(at string, table *decl.Node) *entry {
	first := len(r.Notes)
	e := &entry{r: r, p: r.p, Table: r.Table(at, table), first: first}
	e.Alias(r.p.alias)
	return e
}

// rules returns permission rules: one, or in our own settings a list.
func (e *entry) rules(key string) hook.Rules {
	if e.p.own {
		return e.Rules(key)
	}
	if rule := e.Str(key); rule != "" {
		return hook.Rules{rule}
	}
	return nil
}

// strange warns of keys that have no effect.
func (e *entry) strange(known func(key string) bool) {
	all := e.p.handlerKeys()
	if e.p.own {
		e.Valueless(all)
	}
	e.Unknown(all, func(key string) bool {
		told := e.Get("command") == nil && slices.Contains(systemCommands, key) // it is taken for the command, and that is said
		key = e.p.ours(key)
		return known(key) || told || key == e.p.listed || slices.Contains(e.p.ignored, key)
	})
}
