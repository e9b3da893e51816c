package bridge

import "github.com/tenterhook/tenterhook/hook"

// pi is asked by an extension of ours, which sends canonical fields.
var pi = Agent{
	Name: "pi", Title: "pi",
	events: []event{
		{"session_start", hook.EventSessionStart}, {"input", hook.EventUserPromptSubmit}, {"tool_call", hook.EventPreToolUse},
		{"tool_result", hook.EventPostToolUse}, {"agent_end", hook.EventStop}, {"session_shutdown", hook.EventSessionEnd},
	},
	tools: map[string]tool{
		"bash": {"Bash", nil}, "read": {"Read", piFile}, "write": {"Write", piFile}, "edit": {"Edit", piFile},
		"grep": {"Grep", nil}, "find": {"Glob", nil}, "ls": {"LS", nil},
	},
	answer: answerOwn,
}

var piFile = map[string]string{"path": "file_path", "oldText": "old_string", "newText": "new_string"}
