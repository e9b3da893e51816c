package bridge

import "github.com/tenterhook/tenterhook/hook"

// kiro is Kiro's CLI: exit code 2 with a reason refuses, and plain text is
// context.
var kiro = Agent{
	Name: "kiro", Title: "Kiro",
	events: []event{
		{"agentSpawn", hook.EventSessionStart}, {"userPromptSubmit", hook.EventUserPromptSubmit}, {"preToolUse", hook.EventPreToolUse},
		{"postToolUse", hook.EventPostToolUse}, {"stop", hook.EventStop},
	},
	tools: map[string]tool{
		"execute_bash": {"Bash", nil}, "execute_cmd": {"Bash", nil}, "shell": {"Bash", nil}, "fs_write": {"Write", map[string]string{"path": "file_path", "file_text": "content"}},
		"write": {"Write", map[string]string{"path": "file_path"}}, "fs_read": {"Read", map[string]string{"path": "file_path"}}, "read": {"Read", map[string]string{"path": "file_path"}},
		"web_fetch": {"WebFetch", nil}, "web_search": {"WebSearch", nil}, "grep": {"Grep", nil}, "glob": {"Glob", nil},
	},
	prepare: func(c *call) error {
		c.rename(map[string]string{"assistant_response": "last_assistant_message"})
		return nil
	},
	answer: func(r *reply) Answer {
		if r.verdict == hook.Deny {
			return Answer{Stderr: []byte(r.reason + "\n"), ExitCode: 2}
		}
		if r.context != "" {
			return Answer{Stdout: []byte(r.context + "\n")}
		}
		return Answer{}
	},
}
