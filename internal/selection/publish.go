package selection

import (
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
)

// Publish swaps what was loaded in, with the hooks that were registered, which
// its settings are about too. It returns the IDs of guards that sessions keep.
func (r *Hooks) Publish(g *Generation) []string {
	if r.Pinning() {
		r.Guards(g) // reads files, so before the lock
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.repin(g)
	r.inProc = r.resettled(&g.Policy, r.inProc)
	if now := r.sessions.Load(); now != nil {
		next := now.clone()
		for session, hooks := range next.hooks {
			next.hooks[session] = r.resettled(&g.Policy, hooks)
		}
		r.sessions.Store(next)
	}
	r.swap(g)
	return kept
}

// resettled prepares again the registered hooks whose defaults are others now.
func (r *Hooks) resettled(p *load.Settings, entries []*Entry) []*Entry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		if e.kept {
			continue // as it was
		}
		if h := p.Settled(e.declared); h.OnFailure != e.Hook.OnFailure || h.Breaker != e.Hook.Breaker || h.Scope == hook.ScopeManaged {
			entries[i] = r.Prepare(p, e.declared)
		}
	}
	return entries
}

// ForgetBreakers drops the breakers of hooks that are gone, or are others by
// now: what another did is not held against them.
func (r *Hooks) ForgetBreakers(gone []*load.Definition) {
	names := make(map[string]bool)
	for _, d := range gone {
		names[breakerName(d.Hooks[0])] = true
	}
	r.Breakers.Retain(func(name string) bool { return !names[name] })
}
