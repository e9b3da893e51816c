package dialect

import (
	"time"

	"github.com/tenterhook/tenterhook/hook"
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
		{pattern: ".agents/hooks.json", form: formHooks},
		{pattern: ".antigravitycli/hooks.json", form: formHooks},
		{pattern: ".gemini/config/hooks.json", form: formHooks},
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
	regexp:   true,
	unit:     time.Second,
	protocol: hook.ProtocolGemini,
}

// named reads tables of events by the name of a hook. One with enabled = false
// is switched off.
func (r *configReader) named(doc *node) {
	for _, p := range doc.pairs() {
		if isComment(p.key) {
			continue
		}
		if !p.node.isTable() {
			r.note(hook.SeverityWarning, p.line, "unknown_key", quote(p.key)+": want a table of events, got "+p.node.what(), "")
			continue
		}
		before := len(r.config.Hooks)
		r.prefix = p.key
		r.events(p.node)
		r.prefix = ""
		r.switchOff(p.node, before)
	}
}

// switchOff disables the hooks of a definition that says enabled = false: those
// from the first on.
func (r *configReader) switchOff(definition *node, first int) {
	if on := definition.at("enabled"); on == nil || on.value != false {
		return
	}
	for _, h := range r.config.Hooks[first:] {
		h.State, h.Why = hook.StateDisabled, "its definition has enabled = false"
	}
}
