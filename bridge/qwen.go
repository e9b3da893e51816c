package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// qwen is Qwen Code: Claude Code's events and answers, Gemini CLI's tools.
var qwen = Agent{
	Name: "qwen", Title: "Qwen Code", Version: "0.24.4",
	events: sameEvents(
		hook.EventSessionStart, hook.EventUserPromptSubmit, hook.EventPreToolUse, hook.EventPermissionRequest,
		hook.EventPostToolUse, hook.EventPostToolUseFailure, hook.EventPostToolBatch, hook.EventNotification,
		hook.EventSubagentStart, hook.EventSubagentStop, hook.EventStop, hook.EventStopFailure, hook.EventPreCompact,
		hook.EventPostCompact, hook.EventSessionEnd),
	tools: map[string]tool{
		"run_shell_command": {"Bash", map[string]string{"is_background": "run_in_background"}},
		"read_file":         {"Read", map[string]string{"absolute_path": "file_path"}},
		"read_many_files":   {"Read", nil},
		"write_file":        {"Write", nil},
		"edit":              {"Edit", nil},
		"replace":           {"Edit", nil},
		"notebook_edit":     {"NotebookEdit", nil},
		"list_directory":    {"LS", nil},
		"glob":              {"Glob", nil},
		"grep_search":       {"Grep", nil},
		"web_fetch":         {"WebFetch", nil},
		"web_search":        {"WebSearch", nil},
		"todo_write":        {"TodoWrite", nil},
		"agent":             {"Agent", nil},
		"task":              {"Agent", nil},
		"skill":             {"Skill", nil},
	},
	can: map[Ability]Cell{
		Deny: {Level: Yes}, Ask: {Yes, "without a person to ask it denies"},
		Defer: {Stricter, "a defer of a hook lets the tool run"}, Allow: {Level: No, Note: "its own approval mode decides"},
		Rewrite: {Stricter, "the original input would run"}, ToolContext: {Held, "PreToolUse takes no context"},
		StopAtTool:  {Stricter, "continue: false is a denial of the one call"},
		BlockPrompt: {Level: Yes}, PromptContext: {Level: Yes}, StartContext: {Level: Yes},
		Feedback: {Level: No, Note: "it reaches the model as context"}, AfterContext: {Level: Yes},
		Result: {Partly, "as text in its place"}, KeepWorking: {Level: Yes},
		StopAfter: {Level: No, Note: "the agent goes on"}, Messages: {Level: No}, MCPTools: {Level: Yes}, Subagents: {Level: Yes},
		AllTools:     {Partly, "tool_call and notebook_edit check their input before a hook is asked"},
		FailsClosed:  {Partly, "not if its own time limit ends the entry, and not if the shell itself is killed"},
		HooksSurvive: {Level: No, Note: "disableAllHooks in a project switches them off, and a change of its settings counts in mid-session"},
	},
	prepare: prepareQwen,
	answer:  qwenAnswer,
}

func prepareQwen(c *call) error {
	switch c.event {
	case hook.EventUserPromptSubmit:
		if _, there := c.fields["prompt"]; there && c.text("prompt") == "" {
			return ErrNoEvent
		}
	case hook.EventPostToolBatch:
		var calls []map[string]json.RawMessage
		if json.Unmarshal(c.fields["tool_calls"], &calls) != nil {
			return nil
		}
		for _, one := range calls {
			var name string
			_ = json.Unmarshal(one["tool_name"], &name)
			if t, ok := c.agent.tools[name]; ok {
				one["tool_name"] = quotedText(t.name)
				if input := renameKeys(one["tool_input"], t.keys); input != nil {
					one["tool_input"] = input
				}
			}
		}
		c.set("tool_calls", calls)
	}
	return nil
}

func qwenAnswer(r *reply) Answer {
	s := &specific{Event: string(r.event), AdditionalContext: r.context}
	b := &body{Specific: s}
	switch r.event {
	case hook.EventPreToolUse:
		s.setPermission(r)
		return b.print(r, r.verdict == hook.Deny)
	case hook.EventPermissionRequest:
		s.Decision = requestDecision(r)
		return b.print(r, false)
	case hook.EventUserPromptSubmit:
		return b.print(r, r.verdict == hook.Deny)
	case hook.EventPostToolUse:
		if r.output != nil {
			b.Continue, b.StopReason = new(bool), resultText(r.output)
		}
	}
	if r.verdict == hook.Deny {
		b.Decision, b.Reason = "block", r.reason
	}
	return b.print(r, false)
}
