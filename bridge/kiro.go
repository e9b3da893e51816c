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
	can: codesAlone(PromptContext, StartContext),
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

// codesAlone are the abilities of an agent that reads exit codes, and beside
// them a few more.
func codesAlone(more ...Ability) map[Ability]Cell {
	const note = "exit codes alone count"
	can := map[Ability]Cell{
		Deny: {Level: Yes}, Ask: {Stricter, note}, Defer: {Stricter, note}, Allow: {Level: No, Note: note}, Rewrite: {Stricter, note}, ToolContext: {Held, note},
		StopAtTool: {Stricter, note}, BlockPrompt: {Level: Yes}, PromptContext: {Level: No, Note: note}, StartContext: {Level: No, Note: note},
		Feedback: {Level: No, Note: note}, AfterContext: {Level: No, Note: note}, Result: {Level: No, Note: note}, KeepWorking: {Level: No, Note: note},
		StopAfter: {Level: No, Note: note}, Messages: {Level: No, Note: note}, MCPTools: {Level: Yes}, Subagents: {Level: No, Note: "not documented"},
		AllTools: {Level: No, Note: "not documented"}, FailsClosed: {Partly, "by the line of the entry alone"}, HooksSurvive: {Level: No, Note: "not documented"},
	}
	for _, what := range more {
		can[what] = Cell{Level: Yes}
	}
	return can
}
