package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// qwen is Qwen Code: Claude Code's events and answers, Gemini CLI's tools.
var qwen = Agent{
	Name: "qwen", Title: "Qwen Code",
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
	prepare: prepareQwen,
	answer:  qwenAnswer,
}

func prepareQwen(c *call) error {
	switch c.event {
	case hook.EventUserPromptSubmit:
		if string(c.fields["prompt"]) == `""` {
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
