package dialect

import (
	"path"
	"strings"

	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// manifest reads the hooks of a plugin's manifest: paths of hooks files, hooks
// in place, or a list of both.
func (r *configReader) manifest(doc *decl.Node) {
	for _, p := range doc.Pairs() {
		if p.Key == "hooks" {
			r.manifestHooks(p.Node)
		}
	}
}

func (r *configReader) manifestHooks(n *decl.Node) {
	switch v := n.Value.(type) {
	case nil:
	case string:
		r.ref(n)
	case []decl.Pair:
		r.hooksValue(n, 0)
	case []*decl.Node:
		for _, item := range v {
			switch item.Value.(type) {
			case string:
				r.ref(item)
			case []decl.Pair:
				r.hooksValue(item, 0)
			default:
				r.Error(item.Line, "wrong_type", "hooks: want a path or a table of events, got "+item.What(), "")
			}
		}
	default:
		r.Error(n.Line, "wrong_type", "hooks: want a path or a table of events, got "+n.What(), "")
	}
}

// ref notes a hooks file that the manifest points at, if it is the plugin's.
func (r *configReader) ref(n *decl.Node) {
	name := slashed(n.Text())
	for _, root := range []string{"${CLAUDE_PLUGIN_ROOT}/", "${PLUGIN_ROOT}/", "${extensionPath}/"} {
		name = strings.TrimPrefix(name, root)
	}
	clean := path.Clean(name)
	if name == "" || clean == "." {
		r.Error(n.Line, "wrong_type", "hooks: want the path of a file, got "+n.What(), "")
		return
	}
	drive := len(name) > 1 && name[1] == ':'
	if path.IsAbs(clean) || drive || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(clean, "$\x00") {
		r.Error(n.Line, "ref_escapes", "hooks: "+phrase.Quote(n.Text())+" leads out of the plugin, so it is not read",
			"name a file of the plugin, relative to its root")
		return
	}
	r.config.Refs = append(r.config.Refs, Ref{Path: clean, Product: r.p.name, Line: n.Line})
}
