package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// settleTime is for how long nothing must have changed before a reload: editors
// and version control write in several steps. After settleLimit it is done
// anyway.
const (
	settleTime  = 100 * time.Millisecond
	settleLimit = 2 * time.Second
)

// Watch reloads whenever something changes where hooks are loaded from, until
// ctx ends or the registry is closed. It calls told, which may be nil, for each
// reload that changed anything, and for a hook whose state changed without one: an
// edit of its script ended its approval, or an approval was given. It returns nil
// at the end, and an error if the system cannot watch.
func (r *Registry) Watch(ctx context.Context, told func(*Reloaded)) error {
	if r.opts.FS != nil {
		return errors.New("watch hooks: only the operating system's own file system can be watched")
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch hooks: %w", err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.dispatcher.Done, cancel)()
	g := &gaze{watcher: w}
	states := r.states()
	for ctx.Err() == nil {
		watched := r.watched()
		if err := g.follow(watched); err != nil {
			return err
		}
		changed, err := r.Reload(ctx)
		if err != nil { // ctx ended, or the registry
			return nil
		}
		before := states
		states = r.states()
		changed.compareStates(before, states)
		if changed.Any() && told != nil {
			told(changed)
		}
		// What changed before it was watched counts too: only where a reload
		// changes nothing, and no folder came meanwhile, all is watched.
		if err := g.wait(ctx, changed.Any() || !slices.Equal(watched, r.watched())); err != nil {
			return err
		}
	}
	return nil
}

// watched are the directories in which a change may be one of the hooks.
func (r *Registry) watched() []string { return r.loader.Watched(r.hooks.Snap.Load().Loaded) }

// hookState is what Watch compares of a hook.
type hookState struct {
	id    string
	event hook.Event
	path  string
	line  int
}

// states are the hooks with their states as of now, without what their handlers
// say: an environment that changes is no edit.
func (r *Registry) states() map[hookState]selection.Status {
	states := make(map[hookState]selection.Status)
	for _, e := range r.hooks.Snap.Load().Entries {
		if e.Definition != nil {
			h := e.Hook
			states[hookState{h.ID, h.Event, h.Source.Path, h.Source.Line}] = r.hooks.Status(e, nil)
		}
	}
	return states
}

// compareStates finds the hooks whose state has changed, in order.
func (c *Reloaded) compareStates(before, now map[hookState]selection.Status) {
	for h, s := range now {
		if was, ok := before[h]; ok && was.State != s.State {
			c.States = append(c.States, StateChange{h.id, h.event, was.State, s.State, s.Why})
		}
	}
	slices.SortFunc(c.States, func(a, b StateChange) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(string(a.Event), string(b.Event)))
	})
}

// gaze watches directories. For a missing directory it watches the nearest
// existing parent, for the name that leads to it.
type gaze struct {
	watcher *fsnotify.Watcher
	dirs    map[string]bool // what is in them counts
	names   map[string]bool // what would lead to others
}

// follow watches dirs, and nothing else. It fails where the system has no more
// watches to give.
func (g *gaze) follow(dirs []string) error {
	g.dirs, g.names = make(map[string]bool), make(map[string]bool)
	wanted := make(map[string]bool)
	var full error
	add := func(dir string) bool {
		if wanted[dir] {
			return true
		}
		err := g.watcher.Add(dir)
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			full = fmt.Errorf("watch hooks: %s: %w (raise the system's limit of watches or of open files)", dir, err)
		}
		wanted[dir] = err == nil // else it is not there, or not to be read
		return err == nil
	}
	for _, dir := range dirs {
		g.dirs[dir] = add(dir)
		// The way to it: it may be replaced, or are created.
		for at := dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
			g.names[at] = true
			if add(filepath.Dir(at)) {
				break
			}
		}
	}
	if full != nil {
		return full
	}
	for _, dir := range g.watcher.WatchList() {
		if !wanted[dir] {
			_ = g.watcher.Remove(dir) // it may be gone
		}
	}
	return nil
}

// concerns reports whether an event is about what was asked for.
func (g *gaze) concerns(e fsnotify.Event) bool {
	if g.names[e.Name] || g.dirs[e.Name] {
		return true
	}
	hidden := strings.HasPrefix(filepath.Base(e.Name), ".")
	return g.dirs[filepath.Dir(e.Name)] && (e.Op != fsnotify.Chmod || !hidden)
}

// wait returns once something has changed and is at rest, or ctx ended; with
// again it is enough that all is at rest. An error is a watcher that broke.
func (g *gaze) wait(ctx context.Context, again bool) error {
	var settled, limit <-chan time.Time
	if again {
		settled, limit = time.After(settleTime), time.After(settleLimit)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-settled:
			return nil
		case <-limit:
			return nil
		case e, ok := <-g.watcher.Events:
			if !ok {
				return errors.New("watch hooks: the system's watch ended")
			}
			if !g.concerns(e) {
				continue
			}
		case err, ok := <-g.watcher.Errors:
			if !ok {
				return errors.New("watch hooks: the system's watch ended")
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch hooks: %w", err)
			}
		}
		settled = time.After(settleTime)
		if limit == nil {
			limit = time.After(settleLimit)
		}
	}
}
