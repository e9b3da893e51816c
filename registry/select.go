package registry

import (
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// Selection says who would run for an input, in order. It is a view of the
// registry as it was when Select was called.
type Selection struct {
	Event    hook.Event
	Selected []Selected

	picked []selection.Pick
	view   selection.View
	in     hook.Input
}

// Selected is a hook that would run, and by what it was chosen. Unbound says why
// what it runs may change without a new approval; "" = it may not.
type Selected struct {
	Hook    *hook.Hook
	By      string
	Unbound string
}

// Skipped is a hook that would not run. Why is one word: "event", "matcher",
// "if", "once", "duplicate", a state, or the key of a condition of a rule; Detail says it in full.
type Skipped struct {
	Hook   *hook.Hook
	Why    string
	Detail string
}

// Select says which hooks would run for an input. It runs nothing: a hook whose
// handler says that it cannot run is skipped here, and a failure of a dispatch.
func (r *Registry) Select(in hook.Input) Selection {
	_ = r.keepFleet(r.dispatcher.Done) // it fails for a registry that is closed
	s := Selection{Event: in.Event(), in: in, view: r.hooks.View(nil)}
	s.picked = r.hooks.Pick(s.view, in, nil)
	var facts *rule.Facts
	for i := range s.picked {
		p := &s.picked[i]
		if p.Run && p.Ruling != nil {
			if facts == nil {
				wire, _ := hook.Encode(in, r.hooks.FillBase(in.Common())) // what cannot be encoded has no fields, and conditions say so
				facts = r.hooks.FactsOf(in, wire, nil)
			}
			r.hooks.ExplainRule(p, facts)
		}
		if p.Run {
			if outlook, _ := r.hooks.Outlook(p.Entry, nil); outlook.State != hook.StateReady {
				p.Cannot(outlook)
			}
		}
		if p.Run {
			s.Selected = append(s.Selected, Selected{p.Hook, p.SelectedBy(in), p.Unbound})
		}
	}
	return s
}

// Skipped says of every other hook of the registry why it would not run, those
// of the event first.
func (s Selection) Skipped() []Skipped {
	concerned := make(map[*selection.Entry]selection.Pick, len(s.picked))
	for _, p := range s.picked {
		concerned[p.DeclaredEntry()] = p
	}
	var ours, others []Skipped
	for _, e := range s.view.Snap.Entries {
		p, ok := concerned[e]
		switch {
		case ok && p.Run:
		case ok:
			ours = append(ours, Skipped{e.Hook, p.Why, p.Detail})
		case e.Event != s.Event:
			others = append(others, Skipped{e.Hook, "event", "it listens to " + string(e.Hook.Event)})
		default:
			ours = append(ours, Skipped{e.Hook, "matcher",
				fmt.Sprintf("matcher %q does not take %q", e.Hook.Matcher, hook.Subject(s.in))})
		}
	}
	return append(ours, others...)
}

// MarshalJSON writes the selection as `tenterhook why --json` prints it.
func (s Selection) MarshalJSON() ([]byte, error) {
	type selected struct {
		Hook    string `json:"hook"`
		By      string `json:"by"`
		Unbound string `json:"unbound"`
	}
	type skipped struct {
		Hook   string `json:"hook"`
		Why    string `json:"why"`
		Detail string `json:"detail"`
	}
	runs, others := []selected{}, []skipped{}
	for _, one := range s.Selected {
		runs = append(runs, selected{one.Hook.ID, one.By, one.Unbound})
	}
	for _, one := range s.Skipped() {
		others = append(others, skipped{one.Hook.ID, one.Why, one.Detail})
	}
	return json.Marshal(struct {
		Event    hook.Event `json:"event"`
		Selected []selected `json:"selected"`
		Skipped  []skipped  `json:"skipped"`
	}{s.Event, runs, others})
}
