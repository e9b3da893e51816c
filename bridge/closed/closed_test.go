package closed

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestGatesFailClosedAndObserversOpen(t *testing.T) {
	for agent, events := range gates() {
		for event := range events {
			a := Undecided(agent, event, "the \"daemon\"\nis gone\x01\xff")
			if a.Stdout == "" && a.ExitCode != 2 {
				t.Errorf("%s %s does not refuse: %+v", agent, event, a)
			}
			if a.ExitCode == 2 && strings.TrimSpace(a.Stderr) == "" {
				t.Errorf("%s %s exits with 2 in silence", agent, event)
			}
			if a.Stdout != "" && !json.Valid([]byte(a.Stdout)) {
				t.Errorf("%s %s prints what is no JSON: %s", agent, event, a.Stdout)
			}
			if !strings.Contains(a.Stdout+a.Stderr, "is gone") {
				t.Errorf("%s %s does not say why: %+v", agent, event, a)
			}
		}
		for _, event := range observers()[agent] {
			if a := Undecided(agent, event, "gone"); a.Stdout != "" || a.ExitCode != 0 || a.Stderr == "" {
				t.Errorf("%s %s does not fail open: %+v", agent, event, a)
			}
			if _, both := events[event]; both {
				t.Errorf("%s %s is a gate and an observer", agent, event)
			}
		}
		if len(observers()[agent]) == 0 {
			t.Errorf("%s has no observers", agent)
		}
	}
}

func TestUnknownNamesFailClosed(t *testing.T) {
	for _, name := range [][2]string{{"nobody", "PreToolUse"}, {"claude", "PreToolUze"}, {"", ""}} {
		if a := Undecided(name[0], name[1], ""); a.ExitCode != 2 || a.Stderr == "" {
			t.Errorf("%v: %+v", name, a)
		}
	}
}

func TestDeadlineIsBelowTheTimeout(t *testing.T) {
	for agent, events := range gates() {
		names := append([]string{"SessionEnd"}, observers()[agent]...)
		for event := range events {
			names = append(names, event)
		}
		for _, event := range names {
			if d, limit := Deadline(agent, event), Timeout(agent, event); d <= 0 || d >= limit {
				t.Errorf("%s %s: deadline %v, timeout %v", agent, event, d, limit)
			}
		}
	}
}
