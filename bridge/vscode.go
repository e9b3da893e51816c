package bridge

import "github.com/tenterhook/tenterhook/hook"

// vscode is the agent of VS Code: Claude Code's words, and tools of its own.
var vscode = Agent{
	Name: "vscode", Title: "VS Code",
	events: sameEvents(hook.EventSessionStart, hook.EventUserPromptSubmit, hook.EventPreToolUse, hook.EventPostToolUse,
		hook.EventPreCompact, hook.EventSubagentStart, hook.EventSubagentStop, hook.EventStop),
	tools: map[string]tool{
		"run_in_terminal": {"Bash", nil}, "create_file": {"Write", opencodeFile}, "replace_string_in_file": {"Edit", opencodeFile}, "insert_edit_into_file": {"Edit", opencodeFile}, "apply_patch": {"Edit", nil},
		"read_file": {"Read", opencodeFile}, "fetch_webpage": {"WebFetch", nil},
	},
	prepare: func(c *call) error { c.rename(map[string]string{"sessionId": "session_id"}); return nil },
	answer:  claudeLikeAnswer,
}
