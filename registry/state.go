package registry

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/breaker"
)

// State is what a registry remembers between dispatches, for another process to
// continue with: which hooks that run once have run, how often in a row stops were
// blocked, and the breakers that have failures. Its keys mean something to a
// registry alone. The zero value is that of a registry without a past.
type State struct {
	Once     map[string]bool           `json:"once,omitempty"`
	Stops    map[string]int            `json:"stops,omitempty"`
	Breakers map[string]breaker.Memory `json:"breakers,omitempty"`
}

// State returns what is remembered now.
func (r *Registry) State() State {
	once, stops := r.dispatcher.Remembered()
	return State{Once: once, Stops: stops, Breakers: r.hooks.Breakers.Memories()}
}

// Restore replaces what is remembered. Call it between dispatches.
func (r *Registry) Restore(s State) {
	for name, m := range s.Breakers {
		r.hooks.Breakers.Remember(name, m)
	}
	r.dispatcher.Recall(s.Once, s.Stops)
}

// BreakerHook is the hook that a key of [State.Breakers] belongs to: its ID, and
// the file that declares it.
func BreakerHook(key string) (id, path string) {
	id, path, _ = strings.Cut(key, "\x00")
	return id, path
}

// ResetBreakers closes the breakers of a hook that have failures, "" = of every
// hook, and returns the IDs of the hooks.
func (r *Registry) ResetBreakers(id string) []string {
	var ids []string
	for _, name := range r.hooks.Breakers.Reset(func(name string) bool { own, _ := BreakerHook(name); return id == "" || own == id }) {
		own, _ := BreakerHook(name)
		ids = append(ids, own)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Merge takes over what changed from before to after. What another process added
// in the meantime stays, and failures that both counted add up.
func (s *State) Merge(before, after State) {
	mergeMap(&s.Once, before.Once, after.Once, func(_, _, now bool) bool { return now })
	mergeMap(&s.Stops, before.Stops, after.Stops, func(_, _, now int) int { return now })
	mergeMap(&s.Breakers, before.Breakers, after.Breakers, func(theirs, was, now breaker.Memory) breaker.Memory {
		if now.Failures > was.Failures {
			now.Failures += max(0, theirs.Failures-was.Failures)
		}
		return now
	})
}

func mergeMap[V comparable](into *map[string]V, before, after map[string]V, join func(theirs, was, now V) V) {
	if *into == nil {
		*into = make(map[string]V)
	}
	for key, now := range after {
		if was, ok := before[key]; !ok || was != now {
			(*into)[key] = join((*into)[key], was, now)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			delete(*into, key)
		}
	}
}
