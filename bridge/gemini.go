package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// gemini is Gemini CLI. Its JSON beats its exit code, so a denial says both.
var gemini = Agent{
	Name: "gemini", Title: "Gemini CLI",
	events: []event{
		{"SessionStart", hook.EventSessionStart}, {"BeforeAgent", hook.EventUserPromptSubmit},
		{"BeforeTool", hook.EventPreToolUse}, {"AfterTool", hook.EventPostToolUse}, {"AfterAgent", hook.EventStop},
		{"PreCompress", hook.EventPreCompact}, {"Notification", hook.EventNotification},
		{"SessionEnd", hook.EventSessionEnd},
	},
	tools: map[string]tool{
		"run_shell_command":   {"Bash", map[string]string{"is_background": "run_in_background"}},
		"read_file":           {"Read", map[string]string{"absolute_path": "file_path"}},
		"read_many_files":     {"Read", nil},
		"write_file":          {"Write", nil},
		"replace":             {"Edit", map[string]string{"allow_multiple": "replace_all"}},
		"list_directory":      {"LS", map[string]string{"dir_path": "path"}},
		"glob":                {"Glob", map[string]string{"dir_path": "path"}},
		"grep_search":         {"Grep", map[string]string{"dir_path": "path", "include_pattern": "glob"}},
		"search_file_content": {"Grep", map[string]string{"dir_path": "path", "include": "glob"}},
		"web_fetch":           {"WebFetch", nil},
		"google_web_search":   {"WebSearch", nil},
		"write_todos":         {"TodoWrite", nil},
		"invoke_agent":        {"Agent", map[string]string{"agent_name": "subagent_type"}},
	},
	mcp: func(c *call, _ string) (server, tool string, ok bool) {
		var m struct {
			Server string `json:"server_name"`
			Tool   string `json:"tool_name"`
		}
		if json.Unmarshal(c.fields["mcp_context"], &m) != nil || m.Server == "" || m.Tool == "" {
			return "", "", false
		}
		return m.Server, m.Tool, true
	},
	prepare: func(c *call) error {
		c.rename(map[string]string{"prompt_response": "last_assistant_message"})
		if c.event == hook.EventNotification && c.fields["message"] == nil {
			c.set("message", "")
		}
		return nil
	},
	express: func(r *reply) bool {
		r.input = r.nativeInput(r.input)
		return keepsKeys(r.input, r.nativeBefore())
	},
	answer: geminiAnswer,
}

// nativeBefore is the tool's input as the agent sent it.
func (r *reply) nativeBefore() json.RawMessage {
	if r.said.Input != nil {
		return r.said.Input
	}
	_, input, _ := toolOf(r.in)
	return input
}

// keepsKeys reports whether an object still has every key of another: then
// merging it into that one replaces it.
func keepsKeys(object, before json.RawMessage) bool {
	now, err := hook.Members(object)
	old, err2 := hook.Members(before)
	if err != nil || err2 != nil {
		return false
	}
	for _, m := range old {
		if !hasKey(now, m.Key) {
			return false
		}
	}
	return true
}

func geminiAnswer(r *reply) Answer {
	s := &specific{Event: r.native, AdditionalContext: r.context, ToolInput: r.input}
	b := &body{SystemMessage: r.message, Specific: s}
	if r.stop {
		b.Continue, b.StopReason = new(bool), r.stopReason
		if b.StopReason == "" {
			b.StopReason = "a hook stopped the agent"
		}
	}
	switch {
	case r.verdict == hook.Deny:
		b.Decision, b.Reason = "deny", r.reason
	case r.output != nil:
		b.Decision, b.Reason = "deny", resultText(r.output)
	}
	return b.print(r, r.verdict == hook.Deny && r.agent.IsGate(r.native))
}
