package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// antigravityEvents are the names of Google Antigravity beside those of the
// table. It calls a hook before and after each call of the model.
var antigravityEvents = productEvents{
	product: "antigravity",
	names:   map[string]counterpart{"PreInvocation": {}, "PostInvocation": {}},
}

// antigravityConfig reads Antigravity's hooks.json: tables of events by the name
// of a hook.
var antigravityConfig = product{
	name: "antigravity",
	files: []configFile{
		{pattern: ".agents/hooks.json", shared: true},
		{pattern: ".antigravitycli/hooks.json"},
		{pattern: ".gemini/config/hooks.json"},
	},
	events: antigravityEvents,
	tools: map[string][]string{
		"run_command": {"Bash"}, "view_file": {"Read"}, "write_to_file": {"Write"},
		"replace_file_content": {"Edit", "MultiEdit"}, "multi_replace_file_content": {"Edit", "MultiEdit"},
		"list_dir": {"LS"}, "grep_search": {"Grep"}, "find_by_name": {"Glob"},
		"read_url_content": {"WebFetch"}, "search_web": {"WebSearch"},
	},
	besides:  []string{"enabled", "description"},
	flat:     true,
	guest:    true,
	shape:    &shape{tells: isNamed, read: (*configReader).named},
	regexp:   true,
	unit:     time.Second,
	protocol: hook.ProtocolGemini,
}

// isNamed reports whether a file holds tables of events by a hook's name.
func isNamed(doc *decl.Node) bool {
	if events, _ := eventTable(doc); events != nil {
		return false
	}
	for _, named := range doc.Pairs() {
		for _, p := range named.Node.Pairs() {
			_, own := antigravityEvents.names[p.Key]
			if _, known := hook.Lookup(hook.Event(p.Key)); (own || known) && p.Node.List() != nil {
				return true
			}
		}
	}
	return false
}

// named reads tables of events by the name of a hook. One with enabled = false
// is switched off.
func (r *configReader) named(doc *decl.Node) {
	for _, p := range doc.Pairs() {
		if decl.IsComment(p.Key) {
			continue
		}
		if !p.Node.IsTable() {
			r.Warn(p.Line, "unknown_key", phrase.Quote(p.Key)+": want a table of events, got "+p.Node.What(), "")
			continue
		}
		before := len(r.config.Hooks)
		r.prefix = p.Key
		r.events(p.Node)
		r.prefix = ""
		r.switchOff(p.Node, before)
	}
}

// switchOff disables the hooks of a definition that says enabled = false: those
// from the first on.
func (r *configReader) switchOff(definition *decl.Node, first int) {
	if on := definition.At("enabled"); on == nil || on.Value != false {
		return
	}
	for _, h := range r.config.Hooks[first:] {
		h.State, h.Why = hook.StateDisabled, "its definition has enabled = false"
	}
}
