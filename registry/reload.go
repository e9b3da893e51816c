package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// Reloaded says what a reload changed, by the IDs of hooks.
type Reloaded struct {
	Added, Removed, Changed []string
	// Kept are hooks whose files are broken by now: they run as they last were.
	Kept []string
	// Settings tells that settings changed.
	Settings bool
	// Diagnostics are those of all that is loaded, as of now.
	Diagnostics []hook.Diagnostic
}

// Any reports whether anything changed.
func (c *Reloaded) Any() bool {
	return c.Settings || len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Kept) > 0
}

// Reload reads again what changed since the last load: a file that did not is
// not read, for the cost of a stat. All is read and judged first and then
// swapped at once: each dispatch sees the hooks of before or those of after. A
// file that is broken by now keeps the hooks that it last had, and a diagnostic
// says so; one that is gone takes them along. It fails on a closed registry and
// if ctx ends, and has changed nothing then.
func (r *Registry) Reload(ctx context.Context) (*Reloaded, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	before := r.snap.Load().generation
	last := r.memory
	if last == nil { // what Open read, without stamps: it is compared byte by byte
		last = remember(&loaded{definitions: before.definitions, read: before.configs}, time.Time{}, false, nil)
	}
	began := time.Now()
	l, err := r.load(ctx, last)
	if err != nil {
		return nil, fmt.Errorf("reload hooks: %w", err)
	}
	changed := &Reloaded{}
	changed.compare(before, l)
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if changed.Any() || !slices.Equal(before.found, l.notes) {
		after := r.arrange(l)
		r.mu.Lock()
		r.swap(after)
		r.mu.Unlock()
		r.forgetBreakers()
	}
	r.memory = remember(l, began, r.opts.FS == nil, last)
	changed.Diagnostics = r.Diagnostics()
	return changed, nil
}

// compare finds what a load changed.
func (c *Reloaded) compare(before *generation, l *loaded) {
	c.Settings = !slices.Equal(before.configs, l.configs)
	for _, file := range l.configs {
		if file.stale && !slices.Contains(before.configs, file) {
			for _, d := range file.definitions {
				c.Kept = append(c.Kept, d.hooks[0].ID)
			}
		}
	}
	if slices.Equal(before.definitions, l.definitions) {
		return
	}
	type place struct{ id, path string }
	index := func(definitions []*definition) map[place]*definition {
		m := make(map[place]*definition, len(definitions))
		for _, d := range definitions {
			m[place{d.hooks[0].ID, d.path}] = d
		}
		return m
	}
	old, now := index(before.definitions), index(l.definitions)
	for at, d := range now {
		switch was := old[at]; {
		case was == nil:
			c.Added = append(c.Added, at.id)
		case was == d:
		case d.stale:
			c.Kept = append(c.Kept, at.id)
		default:
			c.Changed = append(c.Changed, at.id)
		}
	}
	for at := range old {
		if now[at] == nil {
			c.Removed = append(c.Removed, at.id)
		}
	}
	for _, ids := range []*[]string{&c.Added, &c.Changed, &c.Removed, &c.Kept} {
		slices.Sort(*ids)
	}
}

// forgetBreakers drops the breakers of hooks that are gone.
func (r *Registry) forgetBreakers() {
	names := make(map[string]bool)
	keep := func(entries []*entry) {
		for _, e := range entries {
			names[breakerName(e.hook)] = true
		}
	}
	keep(r.snap.Load().entries)
	if sessions := r.sessions.Load(); sessions != nil {
		for hooks := range maps.Values(sessions.hooks) {
			keep(hooks)
		}
	}
	r.breakers.Retain(func(name string) bool { return names[name] })
}
