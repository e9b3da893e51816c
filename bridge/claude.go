package bridge

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// claude is Claude Code: its names are the canonical ones.
var claude = Agent{
	Name: "claude", Title: "Claude Code",
	events: sameEvents(
		hook.EventSessionStart, hook.EventSetup, hook.EventInstructionsLoaded, hook.EventUserPromptSubmit,
		hook.EventUserPromptExpansion, hook.EventPreToolUse, hook.EventPermissionRequest, hook.EventPermissionDenied,
		hook.EventPostToolUse, hook.EventPostToolUseFailure, hook.EventPostToolBatch, hook.EventNotification,
		hook.EventSubagentStart, hook.EventSubagentStop, hook.EventTaskCreated, hook.EventTaskCompleted, hook.EventStop,
		hook.EventStopFailure, hook.EventTeammateIdle, hook.EventConfigChange, hook.EventCwdChanged,
		hook.EventDirectoryAdded, hook.EventFileChanged, hook.EventPreCompact, hook.EventPostCompact,
		hook.EventPreModelSwitch, hook.EventPostModelSwitch, hook.EventElicitation, hook.EventElicitationResult,
		hook.EventSessionEnd),
	besideDenial: true,
	answer:       claudeAnswer,
}

func sameEvents(names ...hook.Event) []event {
	events := make([]event, len(names))
	for i, name := range names {
		events[i] = event{string(name), name}
	}
	return events
}

// body is an answer in Claude Code's words, and in those of the agents that
// took them over. Each writes the fields that it is known to read.
type body struct {
	Continue          *bool         `json:"continue,omitempty"`
	StopReason        string        `json:"stopReason,omitempty"`
	SystemMessage     string        `json:"systemMessage,omitempty"`
	TerminalSequence  string        `json:"terminalSequence,omitempty"`
	Decision          string        `json:"decision,omitempty"`
	Reason            string        `json:"reason,omitempty"`
	AdditionalContext string        `json:"additionalContext,omitempty"` // Copilot
	ModifiedResult    *copilotValue `json:"modifiedResult,omitempty"`    // Copilot
	Specific          *specific     `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event              string          `json:"hookEventName"`
	Permission         string          `json:"permissionDecision,omitempty"`
	PermissionReason   string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	ToolInput          json.RawMessage `json:"tool_input,omitempty"` // Gemini
	AdditionalContext  string          `json:"additionalContext,omitempty"`
	UpdatedToolOutput  json.RawMessage `json:"updatedToolOutput,omitempty"`
	UpdatedMCPOutput   json.RawMessage `json:"updatedMCPToolOutput,omitempty"`
	Decision           *requestAnswer  `json:"decision,omitempty"`
	Retry              bool            `json:"retry,omitempty"`
	InitialUserMessage string          `json:"initialUserMessage,omitempty"`
	SessionTitle       string          `json:"sessionTitle,omitempty"`
	WatchPaths         []string        `json:"watchPaths,omitempty"`
	SuppressPrompt     bool            `json:"suppressOriginalPrompt,omitempty"`
	Action             string          `json:"action,omitempty"`
	Content            json.RawMessage `json:"content,omitempty"`
}

type requestAnswer struct {
	Behavior           string          `json:"behavior"`
	Message            string          `json:"message,omitempty"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"`
	Interrupt          bool            `json:"interrupt,omitempty"`
}

// words is a verdict before a tool.
var words = map[hook.Verdict]string{hook.Allow: "allow", hook.Ask: "ask", hook.Defer: "defer", hook.Deny: "deny"}

// print ends an answer: nothing at all for an empty body, and with refuse the
// exit code that blocks, with the reason on stderr.
func (b *body) print(r *reply, refuse bool) Answer {
	var a Answer
	if b.Specific != nil && b.Specific.empty() {
		b.Specific = nil
	}
	if *b != (body{}) {
		a.Stdout = marshal(b)
	}
	if refuse {
		a.Stderr, a.ExitCode = []byte(r.reason+"\n"), 2
	}
	return a
}

func (s *specific) empty() bool {
	return s.Permission == "" && s.UpdatedInput == nil && s.ToolInput == nil && s.AdditionalContext == "" && s.UpdatedToolOutput == nil &&
		s.UpdatedMCPOutput == nil && s.Decision == nil && !s.Retry && s.InitialUserMessage == "" && s.SessionTitle == "" &&
		s.WatchPaths == nil && !s.SuppressPrompt && s.Action == ""
}

func claudeAnswer(r *reply) Answer {
	s := &specific{Event: string(r.event), AdditionalContext: r.context}
	b := &body{SystemMessage: r.message, Specific: s}
	if r.stop {
		b.Continue, b.StopReason = new(bool), r.stopReason
	}
	for _, sequence := range r.out.TerminalSequences {
		b.TerminalSequence += sequence
	}
	info := hook.Info(r.event)
	switch {
	case r.event == hook.EventPreToolUse:
		s.setPermission(r)
		return b.print(r, r.verdict == hook.Deny && !r.stop)
	case r.event == hook.EventPermissionRequest:
		s.Decision = requestDecision(r)
		return b.print(r, false)
	case r.event == hook.EventPostToolUse:
		s.UpdatedToolOutput = r.output
	}
	s.claudeOnly(r)
	if r.verdict != hook.Deny {
		return b.print(r, false)
	}
	if info.BlockField {
		b.Decision, b.Reason = "block", r.reason
		return b.print(r, false)
	}
	if info.Fields.Has(hook.FieldElicitation) {
		s.Action = "decline"
	}
	return b.print(r, true)
}

// setPermission writes the verdict before a tool, and the rewrite.
func (s *specific) setPermission(r *reply) {
	if s.Permission = words[r.verdict]; s.Permission != "" {
		s.PermissionReason = r.reason
	}
	s.UpdatedInput = r.input
}

// requestDecision answers a PermissionRequest; nil leaves it to the person.
func requestDecision(r *reply) *requestAnswer {
	switch r.verdict {
	case hook.Deny:
		d := &requestAnswer{Behavior: "deny", Message: r.reason}
		if p := r.out.Permission; p != nil {
			d.Interrupt = p.Interrupt
		}
		return d
	case hook.Allow:
		d := &requestAnswer{Behavior: "allow", UpdatedInput: r.input}
		if p := r.out.Permission; p != nil && r.agent.isClaude() {
			d.UpdatedPermissions = p.UpdatedPermissions
		}
		return d
	}
	return nil
}

// claudeOnly writes the fields that no other agent has, where the event has
// them.
func (s *specific) claudeOnly(r *reply) {
	fields := hook.Info(r.event).Fields
	if fields.Has(hook.FieldRetry) {
		s.Retry = r.out.Retry
	}
	if fields.Has(hook.FieldInitialMessage) && len(r.out.InitialUserMessages) > 0 {
		s.InitialUserMessage = r.out.InitialUserMessages[0]
	}
	if fields.Has(hook.FieldSessionTitle) {
		s.SessionTitle = r.out.SessionTitle
	}
	if fields.Has(hook.FieldWatchPaths) {
		s.WatchPaths = r.out.WatchPaths
	}
	if fields.Has(hook.FieldSuppressPrompt) {
		s.SuppressPrompt = r.out.SuppressOriginalPrompt
	}
	if e := r.out.Elicitation; e != nil && fields.Has(hook.FieldElicitation) {
		s.Action, s.Content = e.Action, e.Content
	}
}
