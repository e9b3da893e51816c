package bridge

import (
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// concerned are the events on which an ability matters.
var concerned = map[Ability][]hook.Event{
	Ask: {hook.EventPreToolUse}, Defer: {hook.EventPreToolUse}, Allow: {hook.EventPreToolUse}, Deny: {hook.EventPreToolUse},
	Rewrite: {hook.EventPreToolUse}, ToolContext: {hook.EventPreToolUse}, StopAtTool: {hook.EventPreToolUse},
	AllTools: {hook.EventPreToolUse}, BlockPrompt: {hook.EventUserPromptSubmit}, PromptContext: {hook.EventUserPromptSubmit},
	StartContext: {hook.EventSessionStart}, Feedback: {hook.EventPostToolUse}, AfterContext: {hook.EventPostToolUse},
	Result: {hook.EventPostToolUse}, StopAfter: {hook.EventPostToolUse}, KeepWorking: {hook.EventStop, hook.EventSubagentStop},
}

// Shortfall is something that hooks of an event can ask for and an agent does
// not do.
type Shortfall struct {
	Event   hook.Event
	Ability Ability // "" = the agent does not have the event
	Cell    Cell
}

// Shortfalls lists what an agent does not do of what hooks of some events can
// ask for, in the order of the events.
func (a *Agent) Shortfalls(events []hook.Event) []Shortfall {
	var list []Shortfall
	for _, ev := range events {
		if !slices.ContainsFunc(a.events, func(e event) bool { return e.event == ev }) {
			list = append(list, Shortfall{Event: ev})
			continue
		}
		for _, what := range Abilities() {
			if c := a.Can(what); slices.Contains(concerned[what], ev) && c.Level != Yes {
				list = append(list, Shortfall{ev, what, c})
			}
		}
	}
	return list
}
