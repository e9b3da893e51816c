package bridge

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// opencode is asked by a plugin of ours, which sends canonical fields.
var opencode = Agent{
	Name: "opencode", Title: "opencode",
	events: []event{
		{"session.created", hook.EventSessionStart}, {"chat.message", hook.EventUserPromptSubmit},
		{"tool.execute.before", hook.EventPreToolUse}, {"tool.execute.after", hook.EventPostToolUse},
		{"session.idle", hook.EventStop},
	},
	tools: map[string]tool{
		"bash": {"Bash", nil}, "read": {"Read", opencodeFile}, "write": {"Write", opencodeFile}, "edit": {"Edit", opencodeFile},
		"glob": {"Glob", nil}, "grep": {"Grep", map[string]string{"include": "glob"}}, "list": {"LS", nil}, "apply_patch": {"Edit", nil}, "webfetch": {"WebFetch", nil},
		"websearch": {"WebSearch", nil}, "task": {"Agent", nil}, "todowrite": {"TodoWrite", nil}, "skill": {"Skill", nil},
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
