package dialect

import (
	"path"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// manifest reads the hooks of a plugin's manifest: paths of hooks files, hooks
// in place, or a list of both.
func (r *configReader) manifest(doc *node) {
	for _, p := range doc.pairs() {
		if p.key == "hooks" {
			r.manifestHooks(p.node)
		}
	}
}

func (r *configReader) manifestHooks(n *node) {
	switch v := n.value.(type) {
	case nil:
	case string:
		r.ref(n)
	case []pair:
		r.hooksValue(n, 0)
	case []*node:
		for _, item := range v {
			switch item.value.(type) {
			case string:
				r.ref(item)
			case []pair:
				r.hooksValue(item, 0)
			default:
				r.note(hook.SeverityError, item.line, "wrong_type", "hooks: want a path or a table of events, got "+item.what(), "")
			}
		}
	default:
		r.note(hook.SeverityError, n.line, "wrong_type", "hooks: want a path or a table of events, got "+n.what(), "")
	}
}

// ref notes a hooks file that the manifest points at, if it is the plugin's.
func (r *configReader) ref(n *node) {
	name := slashed(n.text())
	for _, root := range []string{"${CLAUDE_PLUGIN_ROOT}/", "${PLUGIN_ROOT}/", "${extensionPath}/"} {
		name = strings.TrimPrefix(name, root)
	}
	clean := path.Clean(name)
	if name == "" || clean == "." {
		r.note(hook.SeverityError, n.line, "wrong_type", "hooks: want the path of a file, got "+n.what(), "")
		return
	}
	drive := len(name) > 1 && name[1] == ':'
	if path.IsAbs(clean) || drive || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(clean, "$\x00") {
		r.note(hook.SeverityError, n.line, "ref_escapes", "hooks: "+quote(n.text())+" leads out of the plugin, so it is not read",
			"name a file of the plugin, relative to its root")
		return
	}
	r.config.Refs = append(r.config.Refs, Ref{Path: clean, Product: r.p.name, Line: n.line})
}
