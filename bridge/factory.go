package bridge

import "github.com/tenterhook/tenterhook/hook"

// factory is Factory's Droid: Claude Code's words, and tools of its own.
var factory = Agent{
	Name: "factory", Title: "Factory Droid",
	events: sameEvents(hook.EventSessionStart, hook.EventUserPromptSubmit, hook.EventPreToolUse, hook.EventPostToolUse,
		hook.EventNotification, hook.EventSubagentStop, hook.EventStop, hook.EventPreCompact, hook.EventSessionEnd),
	tools: map[string]tool{
		"Execute": {"Bash", nil}, "Create": {"Write", nil}, "ApplyPatch": {"Edit", nil}, "FetchUrl": {"WebFetch", nil},
	},
	answer: claudeLikeAnswer,
}

func claudeLikeAnswer(r *reply) Answer {
	s := &specific{Event: string(r.event), AdditionalContext: r.context}
	b := &body{SystemMessage: r.message, Specific: s}
	switch {
	case r.event == hook.EventPreToolUse:
		s.setPermission(r)
	case r.verdict == hook.Deny && !r.agent.IsGate(r.native):
		b.Decision, b.Reason = "block", r.reason
	}
	return b.print(r, r.verdict == hook.Deny && r.agent.IsGate(r.native))
}
