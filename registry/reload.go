package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// Reloaded says what a reload changed, by the IDs of hooks.
type Reloaded struct {
	Added, Removed, Changed []string
	// Kept are hooks whose files are broken now: they run as they last were.
	Kept []string
	// States are the hooks that can run now and could not before, or the other
	// way round. Only Watch looks for them.
	States []StateChange
	// Pinned are guards that were removed, changed or switched off, or whose
	// scripts changed, and still
	// judge the sessions that began with them: see Registry.PinSession.
	Pinned []string
	// Settings tells that settings changed.
	Settings bool
	// Diagnostics are those of all that is loaded, as of now.
	Diagnostics []hook.Diagnostic

	replaced []*load.Definition // the hooks that others replaced, or nothing
}

// StateChange is a hook whose state has changed.
type StateChange struct {
	ID    string     `json:"id"`
	Event hook.Event `json:"event"`
	From  hook.State `json:"from"`
	To    hook.State `json:"to"`
	Why   string     `json:"why"`
}

// Any reports whether anything changed.
func (c *Reloaded) Any() bool {
	return c.Settings || len(c.States) > 0 || len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Kept) > 0
}

// Reload reads again what changed since the last load: a file that did not is
// not read, for the cost of a stat. All is read and judged first and then
// swapped at once: each dispatch sees the hooks of before or those of after. A
// file that is broken now keeps the hooks that it last had, and a diagnostic
// says so; with a deleted file its hooks go. It fails on a closed registry and
// if ctx ends, and has changed nothing then.
func (r *Registry) Reload(ctx context.Context) (*Reloaded, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	return r.reload(ctx)
}

// reload is Reload. The caller holds reloading.
func (r *Registry) reload(ctx context.Context) (*Reloaded, error) {
	before := r.hooks.Snap.Load().Generation
	last := r.memory
	if last == nil { // what Open read, without stamps: it is compared byte by byte
		last = load.Remember(before.Loaded, time.Time{}, false, nil)
	}
	began := time.Now()
	l, err := r.loader.Load(ctx, last)
	if err != nil {
		return nil, fmt.Errorf("reload hooks: %w", err)
	}
	changed := &Reloaded{}
	changed.compare(before, l)
	if err := r.dispatcher.Enter(); err != nil {
		return nil, err
	}
	defer r.dispatcher.Leave()
	if changed.Any() || !slices.Equal(before.Notes, l.Notes) || !slices.Equal(before.Plugins, l.Plugins) {
		r.hooks.ForgetBreakers(changed.replaced)
		g := r.hooks.Arrange(l)
		changed.Pinned = r.publish(g)
		r.dispatcher.Async.Resize(r.opts.maxAsync(&g.Policy))
	} else if r.hooks.Pinning() && r.hooks.Guards(before).Moved(r.hooks) {
		g := *before
		g.Guards = new(selection.GuardSet)
		changed.Pinned = r.publish(&g)
	}
	r.watchFleet(l)
	r.memory = load.Remember(l, began, r.opts.FS == nil, last)
	changed.Diagnostics = r.Diagnostics()
	return changed, nil
}

// compare finds what a load changed.
func (c *Reloaded) compare(before *selection.Generation, l *load.Loaded) {
	c.Settings = !slices.Equal(before.Configs, l.Configs)
	for _, file := range l.Configs {
		if file.Stale && !slices.Contains(before.Configs, file) {
			for _, d := range file.Definitions {
				c.Kept = append(c.Kept, d.Hooks[0].ID)
			}
		}
	}
	if slices.Equal(before.Definitions, l.Definitions) {
		return
	}
	type place struct{ id, path string }
	index := func(definitions []*load.Definition) map[place]*load.Definition {
		m := make(map[place]*load.Definition, len(definitions))
		for _, d := range definitions {
			m[place{d.Hooks[0].ID, d.Path}] = d
		}
		return m
	}
	old, now := index(before.Definitions), index(l.Definitions)
	for at, d := range now {
		switch was := old[at]; {
		case was == nil:
			c.Added = append(c.Added, at.id)
		case was == d, d.SameEntry(was):
		case d.Stale:
			c.Kept = append(c.Kept, at.id)
		default:
			c.Changed, c.replaced = append(c.Changed, at.id), append(c.replaced, was)
		}
	}
	for at, was := range old {
		if now[at] == nil {
			c.Removed, c.replaced = append(c.Removed, at.id), append(c.replaced, was)
		}
	}
	for _, ids := range []*[]string{&c.Added, &c.Changed, &c.Removed, &c.Kept} {
		slices.Sort(*ids)
	}
}

// publish swaps in what was loaded, and forgets of hooks that are gone that they
// have run. It returns the IDs of guards that sessions keep.
func (r *Registry) publish(g *selection.Generation) []string {
	kept := r.hooks.Publish(g)
	r.dispatcher.ForgetUnloaded()
	return kept
}
