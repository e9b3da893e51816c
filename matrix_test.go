package tenterhook_test

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/bridge"
)

// agentMatrix is what each agent enforces, as tables of a Markdown document: the
// verified agents first.
func agentMatrix() string {
	var b strings.Builder
	verified := slices.DeleteFunc(bridge.Agents(), func(a *bridge.Agent) bool { return a.Version() == "" })
	others := slices.DeleteFunc(bridge.Agents(), func(a *bridge.Agent) bool { return a.Version() != "" })
	for _, list := range [][]*bridge.Agent{verified, others} {
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

func writeTable(b *strings.Builder, list []*bridge.Agent) {
	b.WriteString("| |")
	for _, a := range list {
		version := a.Version()
		if version == "" {
			version = "not verified"
		}
		b.WriteString(" " + a.Title + "<br>" + version + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(list)) + "\n")
	for _, what := range bridge.Abilities() {
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
func writeTried(b *strings.Builder, list []*bridge.Agent) {
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
func writeNotes(b *strings.Builder, a *bridge.Agent) {
	b.WriteString("### " + a.Title + "\n\n`" + a.Name + "`: ")
	for i, native := range a.Events() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(native)
		if event, _ := a.Event(native); native != string(event) {
			b.WriteString(" (" + string(event) + ")")
		}
	}
	b.WriteString(".\n\n")
	notes := 0
	for _, what := range bridge.Abilities() {
		if c := a.Can(what); c.Note != "" {
			b.WriteString("- " + string(what) + ": " + string(c.Level) + "; " + c.Note + ".\n")
			notes++
		}
	}
	if notes > 0 {
		b.WriteString("\n")
	}
}
