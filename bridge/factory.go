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
	can:    claudeLike("its documentation does not say"),
	answer: claudeLikeAnswer,
}

// claudeLike are the abilities of an agent that documents Claude Code's words:
// what it does not document is not asked of it.
func claudeLike(note string) map[Ability]Cell {
	return map[Ability]Cell{
		Deny: {Level: Yes}, Ask: {Level: Yes}, Defer: {Stricter, note}, Allow: {Level: Yes}, Rewrite: {Stricter, note}, ToolContext: {Held, note},
		StopAtTool: {Stricter, note}, BlockPrompt: {Level: Yes}, PromptContext: {Level: Yes}, StartContext: {Level: Yes}, Feedback: {Level: Yes},
		AfterContext: {Level: Yes}, Result: {Level: No, Note: note}, KeepWorking: {Level: Yes}, StopAfter: {Level: No, Note: note}, Messages: {Level: Yes},
		MCPTools: {Level: Yes}, Subagents: {Level: No, Note: note}, AllTools: {Level: No, Note: note},
		FailsClosed: {Partly, "by the line of the entry alone"}, HooksSurvive: {Level: No, Note: note},
	}
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
