package bridge

import (
	"cmp"
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// codex is Codex CLI. Its answers have Claude Code's shape, and a strict schema:
// one field that it does not know, or a word that it does not support on the
// event, fails the hook and the tool runs.
var codex = Agent{
	Name: "codex", Title: "Codex",
	events: sameEvents(
		hook.EventSessionStart, hook.EventUserPromptSubmit, hook.EventPreToolUse, hook.EventPermissionRequest,
		hook.EventPostToolUse, hook.EventSubagentStart, hook.EventSubagentStop, hook.EventStop, hook.EventPreCompact,
		hook.EventPostCompact, hook.EventSessionEnd),
	tools: map[string]tool{
		"exec_command": {"Bash", map[string]string{"cmd": "command"}}, "shell": {"Bash", nil}, "shell_command": {"Bash", nil},
		"apply_patch": {"Edit", nil},
		"spawn_agent": {"Agent", map[string]string{"message": "prompt"}},
		"view_image":  {"Read", map[string]string{"path": "file_path"}},
	},
	means: func(c *call, input json.RawMessage) (string, json.RawMessage, bool) {
		var in struct{ Command, Cmd string }
		if json.Unmarshal(input, &in) != nil || in.Command != "" && in.Cmd != "" {
			return "", nil, false
		}
		files := patchIn(cmp.Or(in.Cmd, in.Command), cmp.Or(c.text("cwd"), c.caller.Dir))
		if len(files) == 0 {
			return "", nil, false
		}
		return files[0].tool, files[0].input(), true // implied has the others
	},
	express: func(r *reply) bool {
		name, _, _ := toolOf(r.in)
		if name != "Bash" && (r.said.Tool == "Bash" || r.agent.tools[r.said.Tool].name == "Bash") {
			return false // a patch, of which a file is no input
		}
		r.input = r.nativeInput(r.input)
		var input struct{ Command *json.RawMessage }
		return name != "Bash" || json.Unmarshal(r.input, &input) == nil && input.Command != nil
	},
	answer: codexAnswer,
}

func codexAnswer(r *reply) Answer {
	s := &specific{Event: string(r.event), AdditionalContext: r.context}
	b := &body{SystemMessage: r.message, Specific: s}
	switch r.event {
	case hook.EventPreToolUse:
		switch {
		case r.verdict == hook.Deny:
			s.Permission, s.PermissionReason = "deny", r.reason
			return b.print(r, true)
		case r.input != nil:
			s.Permission, s.UpdatedInput = "allow", r.input // a rewrite counts beside an allow alone
		}
	case hook.EventPermissionRequest:
		s.Decision = requestDecision(r)
		if s.Decision != nil {
			s.Decision.Interrupt = false
		}
	case hook.EventUserPromptSubmit:
		return b.print(r, r.verdict == hook.Deny)
	case hook.EventPostToolUse:
		if r.output != nil && r.verdict != hook.Deny {
			b.Decision, b.Reason = "block", resultText(r.output)
		}
	case hook.EventSessionStart:
		if r.stop {
			b.Continue, b.StopReason = new(bool), r.stopReason
		}
	}
	if r.verdict == hook.Deny {
		b.Decision, b.Reason = "block", r.reason
	}
	return b.print(r, false)
}

// resultText is a replaced result as text: a JSON string as what it says, and
// anything else as JSON.
func resultText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var content struct {
		Stdout  *string
		Content []struct{ Text string }
	}
	if json.Unmarshal(raw, &content) == nil {
		if content.Stdout != nil {
			return *content.Stdout
		}
		if len(content.Content) == 1 && content.Content[0].Text != "" {
			return content.Content[0].Text
		}
	}
	return string(raw)
}
