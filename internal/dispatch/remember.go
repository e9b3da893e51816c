package dispatch

import (
	"encoding/json"

	"github.com/tenterhook/tenterhook/hook"
)

// Remembered is what a session has used, by keys that recall reads: the hooks that
// run once and have run, and how often in a row stops were blocked.
func (r *Dispatcher) Remembered() (once map[string]bool, stops map[string]int) {
	once, stops = make(map[string]bool), make(map[string]int)
	r.once.mu.Lock()
	for _, runs := range r.once.sessions.Values() {
		for key, run := range runs {
			if run.over == nil {
				once[stateKey(key.id, key.path, key.definition, key.session)] = true
			}
		}
	}
	r.once.mu.Unlock()
	r.stops.mu.Lock()
	defer r.stops.mu.Unlock()
	for _, key := range r.stops.counts.Keys() {
		if n, ok := r.stops.counts.Peek(key); ok {
			stops[stateKey(key.session, key.agent, string(key.event))] = n
		}
	}
	return once, stops
}

// Recall replaces what is remembered.
func (r *Dispatcher) Recall(once map[string]bool, stops map[string]int) {
	r.once.mu.Lock()
	r.once.sessions.Purge()
	for text := range once {
		if k := stateParts(text, 4); k != nil {
			key := onceKey{k[0], k[1], k[2], k[3]}
			runs, ok := r.once.sessions.Get(key.session)
			if !ok {
				runs = make(map[onceKey]*onceRun)
				r.once.sessions.Add(key.session, runs)
			}
			runs[key] = &onceRun{}
		}
	}
	r.once.mu.Unlock()
	r.stops.mu.Lock()
	defer r.stops.mu.Unlock()
	r.stops.counts.Purge()
	for text, n := range stops {
		if k := stateParts(text, 3); k != nil {
			r.stops.counts.Add(stopKey{k[0], k[1], hook.Event(k[2])}, n)
		}
	}
}

// ForgetUnloaded forgets of hooks that are gone that they have run.
func (r *Dispatcher) ForgetUnloaded() {
	loaded := make(map[onceKey]bool)
	for _, e := range r.hooks.Snap.Load().Entries {
		loaded[onceKeyOf(e, "")] = e.Hook.Once
	}
	r.once.keep(func(k onceKey) bool {
		k.session = ""
		return loaded[k] || k.path == "" // hooks of sessions leave with them
	})
}

func stateKey(parts ...string) string {
	text, _ := json.Marshal(parts) // strings can always be written
	return string(text)
}

func stateParts(text string, n int) []string {
	var parts []string
	if json.Unmarshal([]byte(text), &parts) != nil || len(parts) != n {
		return nil
	}
	return parts
}
