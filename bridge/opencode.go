package bridge

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// opencode is asked by a plugin of ours, which sends canonical fields.
var opencode = Agent{
	Name: "opencode", Title: "opencode", Version: "1.18.33",
	events: []event{
		{"session.created", hook.EventSessionStart}, {"chat.message", hook.EventUserPromptSubmit},
		{"tool.execute.before", hook.EventPreToolUse}, {"tool.execute.after", hook.EventPostToolUse},
		{"session.idle", hook.EventStop},
	},
	tools: map[string]tool{
		"bash": {"Bash", nil}, "read": {"Read", opencodeFile}, "write": {"Write", opencodeFile}, "edit": {"Edit", opencodeFile},
		"glob": {"Glob", nil}, "grep": {"Grep", map[string]string{"include": "glob"}}, "list": {"LS", nil}, "webfetch": {"WebFetch", nil},
		"websearch": {"WebSearch", nil}, "task": {"Agent", nil}, "todowrite": {"TodoWrite", nil}, "skill": {"Skill", nil},
	},
	can: map[Ability]Cell{
		Deny: {Level: Yes}, Ask: {Stricter, noPerson}, Defer: {Stricter, noDefer}, Allow: {Level: No, Note: "its own permissions decide"},
		Rewrite: {Level: Yes}, ToolContext: {Held, "tool.execute.before takes no context"}, StopAtTool: {Stricter, noStop},
		BlockPrompt: {Level: Yes}, PromptContext: {Level: Yes}, StartContext: {Held, "it goes with the first prompt"},
		Feedback: {Partly, "behind the tool's result"}, AfterContext: {Partly, "behind the tool's result"}, Result: {Level: Yes},
		KeepWorking: {Level: No, Note: "a plugin hears of a stop when it is over"}, StopAfter: {Level: No, Note: "the agent goes on"}, Messages: {Level: No},
		MCPTools: {Level: Yes}, Subagents: {Level: Yes}, AllTools: {Level: Yes},
		FailsClosed: {Partly, "not if the plugin itself is not loaded"}, HooksSurvive: {Level: No, Note: "--pure leaves plugins out"},
	},
	mcp: func(c *call, name string) (server, tool string, ok bool) {
		var servers []string
		_ = json.Unmarshal(c.fields["mcp_servers"], &servers) // none where it says none
		for _, s := range servers {
			if strings.HasPrefix(name, s+"_") && len(s) > len(server) {
				server = s
			}
		}
		return server, strings.TrimPrefix(name, server+"_"), server != ""
	},
	answer: answerOwn,
}

var opencodeFile = map[string]string{"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"}
