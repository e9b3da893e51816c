package dialect

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
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
		{pattern: ".kiro/hooks/*.kiro.hook", form: formShape},
	},
	events: kiroEvents,
	tools: map[string][]string{
		"fs_read": {"Read"}, "read": {"Read"}, "fs_write": {"Write", "Edit", "MultiEdit", "NotebookEdit"},
		"write": {"Write", "Edit", "MultiEdit", "NotebookEdit"}, "execute_bash": {"Bash"}, "execute_cmd": {"Bash"},
		"shell": {"Bash"}, "web_fetch": {"WebFetch"}, "web_search": {"WebSearch"}, "grep": {"Grep"}, "glob": {"Glob"},
	},
	keys:      []string{"timeout_ms"},
	ignored:   []string{"max_output_size", "cache_ttl_seconds"},
	flat:      true,
	regexp:    true,
	unit:      time.Millisecond,
	timeout:   30 * time.Second,
	matcher:   kiroMatcher,
	marks:     []string{"cache_ttl_seconds"},
	shape:     &shape{tells: isAction, read: (*configReader).action},
	nameLists: true,
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

// isAction reports whether a file is a hook of the editor.
func isAction(doc *decl.Node) bool { return doc.At("when").IsTable() && doc.At("then").IsTable() }

// action reads a hook of the editor: one file, one hook.
func (r *configReader) action(doc *decl.Node) {
	part := func(key string) *decl.Node { // a missing part is empty
		if n := doc.At(key); n != nil {
			return n
		}
		return decl.Value(doc.Line, nil)
	}
	when, then := part("when"), part("then")
	kind := then.At("type").Text()
	handler := []decl.Pair{}
	for _, key := range []string{"name", "description"} {
		if v := doc.At(key); v != nil {
			handler = append(handler, decl.Member(key, v))
		}
	}
	for _, p := range then.Pairs() {
		switch {
		case p.Key == "type":
			continue
		case p.Key == "prompt" && kind != "runCommand":
			continue // it is for the agent, not a question to a model
		}
		handler = append(handler, p)
	}
	if kind != "runCommand" {
		handler = append(handler, decl.Member("type", decl.Value(then.Line, kind)))
	}
	patterns := when.At("toolTypes").List()
	for _, p := range when.At("patterns").List() { // of paths; a matcher sees the file's name
		patterns = append(patterns, decl.Value(p.Line, path.Base(p.Text())))
	}
	if len(patterns) > 0 {
		handler = append(handler, decl.Member("matcher", decl.Value(patterns[0].Line, patterns)))
	}
	handlers := []*decl.Node{decl.Value(doc.Line, handler)}
	r.events(decl.Value(doc.Line, []decl.Pair{decl.Member(when.At("type").Text(), decl.Value(when.Line, handlers))}))
	r.switchOff(doc, 0)
}
