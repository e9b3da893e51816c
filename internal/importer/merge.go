package importer

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// merge joins a hook with an already kept one, if the agent's files run both
// as one: folders have no such rule. It reports whether it did. Where no folder
// can do the same, both get a note.
func (m *maker) merge(k *kept) bool {
	for i, first := range m.kept {
		if first.Hook.Event != k.Hook.Event {
			continue
		}
		legacy := first.legacy != "" && first.legacy == k.legacy && first.Scope == k.Scope
		whole := first.whole != "" && first.whole == k.whole
		if !legacy && !whole {
			continue
		}
		narrow := hook.Info(k.Hook.Event).NarrowMatcher
		together := m.Together || first.Scope == k.Scope // other people may have the one and not the other
		switch {
		case first.Hook.Matcher == k.Hook.Matcher && together:
			m.kept[i] = joined(first, k, legacy)
			return true
		case match.Apart(first.Hook.Matcher, k.Hook.Matcher, narrow):
			continue
		}
		if union, ok := match.Union([]string{first.Hook.Matcher, k.Hook.Matcher}, narrow); ok && whole && together && first.Hook.OnFailure == k.Hook.OnFailure {
			m.kept[i] = joined(first, k, legacy)
			m.kept[i].Hook.Matcher = union
			return true
		}
		k.Notes = append(k.Notes, fmt.Sprintf("for a call that its matcher and that of %s take, the folders of both run; the agent's files run one of them", first.From[0]))
	}
	return false
}

// joined is the hook that runs of two: at the place of the first, what the last
// declares, but not one in the background for a hook that decides.
func joined(first, last *kept, legacy bool) *kept {
	runs := *first
	if legacy && (!background(last.Hook) || background(first.Hook)) {
		runs = *last
	}
	own := *runs.Hook
	if first.Hook.OnFailure == hook.FailureBlock || last.Hook.OnFailure == hook.FailureBlock {
		own.OnFailure = hook.FailureBlock
	}
	runs.Hook, runs.From, runs.Scope = &own, append(first.From, last.From...), first.Scope
	return &runs
}

func background(h *hook.Hook) bool { return h.Async || h.AsyncRewake }
