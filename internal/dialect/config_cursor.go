package dialect

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// The tools that Cursor's events about files and MCP servers are about.
const (
	editTools = "Edit|Write|MultiEdit|NotebookEdit"
	mcpTools  = "mcp__.*"
)

// cursorEvents are Cursor's names. Those of its Tab completion have no
// counterpart.
var cursorEvents = productEvents{
	product: "cursor",
	names: map[string]counterpart{
		"sessionStart":         {event: hook.EventSessionStart},
		"sessionEnd":           {event: hook.EventSessionEnd},
		"beforeSubmitPrompt":   {event: hook.EventUserPromptSubmit},
		"preToolUse":           {event: hook.EventPreToolUse},
		"postToolUse":          {event: hook.EventPostToolUse},
		"postToolUseFailure":   {event: hook.EventPostToolUseFailure},
		"beforeShellExecution": {event: hook.EventPreToolUse, matcher: "Bash"},
		"afterShellExecution":  {event: hook.EventPostToolUse, matcher: "Bash"},
		"beforeMCPExecution":   {event: hook.EventPreToolUse, matcher: mcpTools},
		"afterMCPExecution":    {event: hook.EventPostToolUse, matcher: mcpTools},
		"beforeReadFile":       {event: hook.EventPreToolUse, matcher: "Read"},
		"afterFileEdit":        {event: hook.EventPostToolUse, matcher: editTools},
		"subagentStart":        {event: hook.EventSubagentStart},
		"subagentStop":         {event: hook.EventSubagentStop},
		"preCompact":           {event: hook.EventPreCompact},
		"stop":                 {event: hook.EventStop},
		"afterAgentResponse":   {},
		"afterAgentThought":    {},
		"beforeTabFileRead":    {},
		"afterTabFileEdit":     {},
	},
}

// cursorConfig reads Cursor's hooks.json.
var cursorConfig = product{
	name: "cursor",
	files: []configFile{
		{pattern: ".cursor/hooks.json"},
		{pattern: ".cursor-plugin/plugin.json", form: formManifest},
	},
	events: cursorEvents,
	tools: map[string][]string{
		"Shell": {"Bash"}, "Write": {"Write", "Edit", "MultiEdit", "NotebookEdit"}, "StrReplace": {"Edit", "MultiEdit"},
	},
	keys:     []string{"fail_closed", "prompt", "model"},
	ignored:  []string{"loop_limit", "event"},
	flat:     true,
	regexp:   true,
	unit:     time.Second,
	protocol: hook.ProtocolCursor,
	settle:   settleCursor,
	marks:    []string{"failClosed", "loop_limit"},
	casual:   true, // it promises the least
	matcher:  func(pattern string) string { return strings.ReplaceAll(pattern, "MCP:", "mcp__.*__") },
}

// plainText is an expression that stands for itself and means the same in a
// rule.
var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_/-]+( [A-Za-z0-9_/-]+)*$`) })

// settleCursor reads failClosed, and the matchers that Cursor holds against the
// text of a command: a text becomes a rule, and for an expression, which no
// rule can be, the hook runs for every command.
func settleCursor(h *hook.Hook, e *entry, name string) {
	if e.Flag("fail_closed") {
		h.OnFailure = hook.FailureBlock
	}
	if name != "beforeShellExecution" && name != "afterShellExecution" {
		return
	}
	pattern := e.pattern
	h.Matcher, h.Syntax = "Bash", hook.SyntaxClaude
	switch {
	case pattern == "" || pattern == "*" || pattern == ".*":
	case plainText().MatchString(pattern):
		h.If = hook.Rules{"Bash(*" + pattern + "*)"}
	default:
		e.Warn("command_matcher", "matcher", "in Cursor the expression is held against the command's text; here the hook runs for every command",
			`let the command look at tool_input.command itself, or give it a rule: if = "Bash(git push *)"`)
	}
}
