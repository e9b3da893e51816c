package bridge

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Matrix is what each agent enforces, as tables of a Markdown document: the
// verified agents first.
func Matrix() string {
	var b strings.Builder
	verified := slices.DeleteFunc(Agents(), func(a *Agent) bool { return a.Version() == "" })
	others := slices.DeleteFunc(Agents(), func(a *Agent) bool { return a.Version() != "" })
	for _, list := range [][]*Agent{verified, others} {
		if len(list) > 0 {
			writeTable(&b, list)
		}
	}
	writeTried(&b, verified)
	for _, a := range append(verified, others...) {
		writeNotes(&b, a)
	}
	return b.String()
}

func writeTable(b *strings.Builder, list []*Agent) {
	b.WriteString("| |")
	for _, a := range list {
		version := a.Version()
		if version == "" {
			version = "not verified"
		}
		b.WriteString(" " + a.Title + "<br>" + version + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(list)) + "\n")
	for _, what := range Abilities() {
		b.WriteString("| " + string(what) + " |")
		for _, a := range list {
			c := a.Can(what)
			b.WriteString(" " + string(c.Level))
			if a.Version() != "" && c.Seen == "" {
				b.WriteString(" \\*")
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// writeTried lists what else the tests show, with which of the verified clients.
func writeTried(b *strings.Builder, list []*Agent) {
	var tried []string
	b.WriteString("| Tried with the real client |")
	for _, a := range list {
		b.WriteString(" " + a.Title + " |")
		for _, what := range a.Row().Tried {
			if !slices.Contains(tried, what) {
				tried = append(tried, what)
			}
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(list)) + "\n")
	for _, what := range tried {
		b.WriteString("| " + what + " |")
		for _, a := range list {
			b.WriteString(map[bool]string{true: " ✓ |", false: " – |"}[slices.Contains(a.Row().Tried, what)])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// writeNotes says what is behind the cells, and which events an entry is
// installed for.
func writeNotes(b *strings.Builder, a *Agent) {
	b.WriteString("### " + a.Title + "\n\n`" + a.Name + "`: ")
	for i, e := range a.events {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.native)
		if e.native != string(e.event) {
			b.WriteString(" (" + string(e.event) + ")")
		}
	}
	b.WriteString(".\n\n")
	notes := 0
	for _, what := range Abilities() {
		if c := a.Can(what); c.Note != "" {
			b.WriteString("- " + string(what) + ": " + string(c.Level) + "; " + c.Note + ".\n")
			notes++
		}
	}
	if notes > 0 {
		b.WriteString("\n")
	}
}

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
