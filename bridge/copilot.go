package bridge

import (
	"encoding/json"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// copilot is Copilot CLI, with the PascalCase names of its events: under these
// its payloads and its answers are nearly Claude Code's. Reasons count in JSON
// with exit code 0 alone.
var copilot = Agent{
	Name: "copilot", Title: "Copilot CLI",
	events: sameEvents(
		hook.EventSessionStart, hook.EventSessionEnd, hook.EventUserPromptSubmit, hook.EventPreToolUse,
		hook.EventPermissionRequest, hook.EventPostToolUse, hook.EventPostToolUseFailure, hook.EventStop,
		hook.EventSubagentStart, hook.EventSubagentStop, hook.EventPreCompact, hook.EventNotification),
	tools: map[string]tool{
		"Bash": {"Bash", nil}, "bash": {"Bash", nil},
		"Write": {"Write", copilotFile}, "create": {"Write", copilotFile},
		"Edit": {"Edit", copilotFile}, "edit": {"Edit", copilotFile}, "str_replace_editor": {"Edit", copilotFile},
		"Read": {"Read", copilotFile}, "view": {"Read", copilotFile},
		"Agent": {"Agent", copilotTask}, "task": {"Agent", copilotTask},
		"grep": {"Grep", nil}, "glob": {"Glob", nil}, "web_fetch": {"WebFetch", nil},
	},
	prepare: prepareCopilot,
	mcp:     copilotMCP,
	answer:  copilotAnswer,
}

var (
	copilotFile = map[string]string{"path": "file_path", "file_text": "content", "old_str": "old_string", "new_str": "new_string"}
	copilotTask = map[string]string{"agent_type": "subagent_type"}
)

// copilotValue is a result in Copilot's words.
type copilotValue struct {
	Text string `json:"textResultForLlm"`
	Type string `json:"resultType"`
}

// prepareCopilot gives the fields of its few events that keep camelCase, and
// its results, their canonical names.
func prepareCopilot(c *call) error {
	c.rename(map[string]string{
		"sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name", "toolInput": "tool_input",
		"toolArgs": "tool_input", "permissionSuggestions": "permission_suggestions", "tool_result": "tool_response",
		"toolResult": "tool_response", "response": "last_assistant_message", "agentId": "agent_id", "agentType": "agent_type",
		"initial_prompt": "prompt",
	})
	if c.event == hook.EventSessionStart && c.text("source") == "new" {
		c.set("source", "startup")
	}
	if c.event == hook.EventPostToolUseFailure && c.text("error") == "" {
		if text := c.fields["error"]; text != nil {
			c.set("error", string(text))
		}
	}
	return nil
}

// copilotMCP splits server-tool, or server/tool as a PermissionRequest has it.
// A dash may belong to either name; see implied for the other ways to split.
func copilotMCP(_ *call, name string) (server, tool string, ok bool) {
	if server, tool, ok = strings.Cut(name, "/"); ok {
		return server, tool, true
	}
	return strings.Cut(name, "-")
}

// isCopilotPayload recognizes a call of Copilot, whose project settings of
// Claude Code are run by both: Claude Code sends a transcript's path and no
// time.
func isCopilotPayload(a *Agent, in hook.Input) bool {
	return a.Name == "copilot" || in.Common().Agent == "copilot"
}

// fromCopilot reports whether a payload for Claude Code's entry is Copilot's.
func fromCopilot(members []hook.Member) bool {
	return hasKey(members, "timestamp") && !hasKey(members, "prompt_id") && (!hasKey(members, "transcript_path") || hasKey(members, "stop_reason"))
}

func copilotAnswer(r *reply) Answer {
	s := &specific{Event: string(r.event)}
	b := &body{Specific: s, AdditionalContext: r.context}
	switch r.event {
	case hook.EventPreToolUse:
		s.setPermission(r)
		s.AdditionalContext, b.AdditionalContext = r.context, ""
	case hook.EventPermissionRequest:
		if s.Decision = requestDecision(r); s.Decision != nil {
			s.Decision.UpdatedInput = nil
			return Answer{Stdout: marshal(struct {
				*body
				Behavior string `json:"behavior"`
				Message  string `json:"message,omitempty"`
			}{b, s.Decision.Behavior, s.Decision.Message})}
		}
	case hook.EventPostToolUse:
		if r.output != nil {
			b.ModifiedResult = &copilotValue{resultText(r.output), "success"}
		}
		fallthrough
	default:
		if r.verdict == hook.Deny {
			b.Decision, b.Reason = "block", r.reason
		}
	}
	return b.print(r, false)
}

// quotedText is the JSON of a text.
func quotedText(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string always encodes
	return raw
}
