package bridge

import "github.com/tenterhook/tenterhook/hook"

// pi is asked by an extension of ours, which sends canonical fields.
var pi = Agent{
	Name: "pi", Title: "pi", Version: "0.73.1",
	events: []event{
		{"session_start", hook.EventSessionStart}, {"input", hook.EventUserPromptSubmit}, {"tool_call", hook.EventPreToolUse},
		{"tool_result", hook.EventPostToolUse}, {"agent_end", hook.EventStop}, {"session_shutdown", hook.EventSessionEnd},
	},
	tools: map[string]tool{
		"bash": {"Bash", nil}, "read": {"Read", piFile}, "write": {"Write", piFile}, "edit": {"Edit", piFile},
		"grep": {"Grep", nil}, "find": {"Glob", nil}, "ls": {"LS", nil},
	},
	can: map[Ability]Cell{
		Deny: {Level: Yes}, Ask: {Stricter, noPerson}, Defer: {Stricter, noDefer}, Allow: {Level: No, Note: "it asks for no permission"},
		Rewrite: {Level: Yes}, ToolContext: {Held, "tool_call takes no context"}, StopAtTool: {Stricter, noStop},
		BlockPrompt: {Level: Yes}, PromptContext: {Held, "it goes behind the next tool's result"}, StartContext: {Held, "it goes behind the first tool's result"},
		Feedback: {Partly, "behind the tool's result"}, AfterContext: {Partly, "behind the tool's result"}, Result: {Level: Yes},
		KeepWorking: {Level: No, Note: "an extension hears of a stop when it is over"}, StopAfter: {Level: No, Note: "the agent goes on"},
		Messages: {Level: No}, MCPTools: {Level: No, Note: "it has none"}, Subagents: {Level: No, Note: "it has none"}, AllTools: {Level: Yes},
		FailsClosed: {Level: Yes}, HooksSurvive: {Level: No, Note: "-ne leaves extensions out"},
	},
	answer: answerOwn,
}

var piFile = map[string]string{"path": "file_path", "oldText": "old_string", "newText": "new_string"}
