package dialect

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// kiroEvents are Kiro's names: those of the CLI's agents, and below them those
// of the editor's hooks.
var kiroEvents = productEvents{
	product: "kiro",
	names: map[string]counterpart{
		"agentSpawn":       {event: hook.EventSessionStart},
		"userPromptSubmit": {event: hook.EventUserPromptSubmit},
		"preToolUse":       {event: hook.EventPreToolUse},
		"postToolUse":      {event: hook.EventPostToolUse},
		"stop":             {event: hook.EventStop},

		"promptSubmit":      {event: hook.EventUserPromptSubmit},
		"agentStop":         {event: hook.EventStop},
		"fileEdited":        {event: hook.EventFileChanged},
		"fileSaved":         {event: hook.EventFileChanged},
		"fileCreated":       {event: hook.EventFileChanged},
		"fileDeleted":       {event: hook.EventFileChanged},
		"userTriggered":     {},
		"preTaskExecution":  {},
		"postTaskExecution": {},
	},
}

// kiroConfig reads the agents of Kiro's CLI and the hooks of its editor.
var kiroConfig = product{
	name: "kiro",
	files: []configFile{
		{pattern: ".kiro/agents/*.json", form: formSettings},
		{pattern: ".kiro/hooks/*.kiro.hook", form: formAction},
	},
	events: kiroEvents,
	tools: map[string][]string{
		"fs_read": {"Read"}, "read": {"Read"}, "fs_write": {"Write", "Edit", "MultiEdit", "NotebookEdit"},
		"write": {"Write", "Edit", "MultiEdit", "NotebookEdit"}, "execute_bash": {"Bash"}, "execute_cmd": {"Bash"},
		"shell": {"Bash"}, "web_fetch": {"WebFetch"}, "web_search": {"WebSearch"}, "grep": {"Grep"}, "glob": {"Glob"},
	},
	keys:    []string{"timeout_ms"},
	ignored: []string{"max_output_size", "cache_ttl_seconds"},
	flat:    true,
	regexp:  true,
	unit:    time.Millisecond,
	timeout: 30 * time.Second,
	matcher: kiroMatcher,
}

// kiroMatcher makes an expression of names, globs, @server, @server/tool and
// @builtin, between which a | may stand.
func kiroMatcher(pattern string) string {
	if pattern == "" || pattern == "*" {
		return pattern
	}
	star := func(s string) string { return strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, ".*") }
	var parts []string
	for name := range strings.SplitSeq(pattern, "|") {
		server, isMCP := strings.CutPrefix(name, "@")
		server, tool, one := strings.Cut(server, "/")
		switch {
		case name == "@builtin":
			parts = append(parts, "^(?:[^m]|m[^c]|mc[^p])")
		case isMCP && one:
			parts = append(parts, "^mcp__"+star(server)+"__"+star(tool)+"$")
		case isMCP:
			parts = append(parts, "^mcp__"+star(server)+"__")
		default:
			parts = append(parts, "^"+star(name)+"$")
		}
	}
	return strings.Join(parts, "|")
}

// action reads a hook of the editor: one file, one hook.
func (r *configReader) action(doc *node) {
	part := func(key string) *node { // one that is missing is empty
		if n := doc.at(key); n != nil {
			return n
		}
		return &node{line: doc.line}
	}
	when, then := part("when"), part("then")
	kind := then.at("type").text()
	handler := []pair{}
	for _, key := range []string{"name", "description"} {
		if v := doc.at(key); v != nil {
			handler = append(handler, pair{key, v.line, v})
		}
	}
	for _, p := range then.pairs() {
		switch {
		case p.key == "type":
			continue
		case p.key == "prompt" && kind != "runCommand":
			continue // it is for the agent, not a question to a model
		}
		handler = append(handler, p)
	}
	if kind != "runCommand" {
		handler = append(handler, pair{"type", then.line, &node{then.line, kind}})
	}
	patterns := when.at("toolTypes").list()
	for _, p := range when.at("patterns").list() { // of paths; a matcher sees the file's name
		patterns = append(patterns, &node{p.line, path.Base(p.text())})
	}
	if len(patterns) > 0 {
		handler = append(handler, pair{"matcher", patterns[0].line, &node{patterns[0].line, patterns}})
	}
	r.events(&node{doc.line, []pair{{when.at("type").text(), when.line, &node{when.line, []*node{{doc.line, handler}}}}}})
	r.switchOff(doc, 0)
}
