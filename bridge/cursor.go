package bridge

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// cursor is Cursor, by its general events: those for single kinds of tools
// would ask about the same call again.
var cursor = Agent{
	Name: "cursor", Title: "Cursor",
	events: []event{
		{"sessionStart", hook.EventSessionStart}, {"sessionEnd", hook.EventSessionEnd}, {"beforeSubmitPrompt", hook.EventUserPromptSubmit},
		{"preToolUse", hook.EventPreToolUse}, {"postToolUse", hook.EventPostToolUse}, {"postToolUseFailure", hook.EventPostToolUseFailure},
		{"subagentStart", hook.EventSubagentStart}, {"subagentStop", hook.EventSubagentStop}, {"preCompact", hook.EventPreCompact},
		{"stop", hook.EventStop},
	},
	tools: map[string]tool{"Shell": {"Bash", nil}, "StrReplace": {"Edit", map[string]string{"path": "file_path"}},
		"Write": {"Write", map[string]string{"path": "file_path", "contents": "content"}}, "Read": {"Read", map[string]string{"path": "file_path"}}},
	mcp: func(_ *call, name string) (server, tool string, ok bool) {
		rest, ok := strings.CutPrefix(name, "MCP:")
		if !ok {
			return "", "", false
		}
		if server, tool, ok = strings.Cut(rest, ":"); !ok {
			server, tool = "cursor", rest
		}
		return server, tool, true
	},
	prepare: func(c *call) error {
		c.rename(map[string]string{"conversation_id": "session_id", "tool_output": "tool_response", "error_message": "error"})
		var roots []string
		if json.Unmarshal(c.fields["workspace_roots"], &roots) == nil && len(roots) > 0 && c.fields["cwd"] == nil {
			c.set("cwd", roots[0])
		}
		return nil
	},
	answer: cursorAnswer,
}

func cursorAnswer(r *reply) Answer {
	out := struct {
		Permission string          `json:"permission,omitempty"`
		Continue   *bool           `json:"continue,omitempty"`
		User       string          `json:"user_message,omitempty"`
		Agent      string          `json:"agent_message,omitempty"`
		Input      json.RawMessage `json:"updated_input,omitempty"`
		Context    string          `json:"additional_context,omitempty"`
		Followup   string          `json:"followup_message,omitempty"`
	}{Context: r.context, Input: r.input}
	denied := r.verdict == hook.Deny
	switch {
	case denied && r.event == hook.EventPreToolUse:
		out.Permission, out.User, out.Agent = "deny", r.reason, r.reason
	case r.input != nil:
		out.Permission = "allow"
	case denied && r.event == hook.EventUserPromptSubmit:
		out.Continue, out.User = new(bool), r.reason
	case denied:
		out.Followup = r.reason
	}
	if out.Permission == "" && out.Continue == nil && out.Context == "" && out.Followup == "" {
		return Answer{}
	}
	a := Answer{Stdout: marshal(out)}
	if denied && r.agent.IsGate(r.native) {
		a.Stderr, a.ExitCode = []byte(r.reason+"\n"), 2
	}
	return a
}
