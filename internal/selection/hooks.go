package selection

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/trust"
)

// Hooks are those of a host: what was loaded and what was registered, ready to be
// selected. All methods may be called at once. The fields that come before snap are
// set before the first call, and not changed after.
type Hooks struct {
	Handlers    map[hook.Kind]hook.Handler
	Eligibility *eligibility.Checker
	Pauses      *pause.List // hooks that an operator switched off
	Snapshots   *trust.Snapshots
	Recorder    any               // gets the settings if it takes them
	Notes       []hook.Diagnostic // of what was opened before the first load

	Workspace      string   // the project's root
	Home           string   // what ~ means in an `if` rule; "" = unknown
	Homes          []string // more directories that it may mean
	Env            []string // that hooks inherit
	RuleEnv        []string // that rules see; nil = this process's
	DirSandbox     *hook.Sandbox
	Off            string // what switches all hooks off from outside of files; "" = nothing
	StrictCompat   bool
	NonInteractive bool
	// Spent reports whether a hook that runs once has run in the session.
	Spent func(e *Entry, session string) bool

	Breakers breaker.Set
	asked    sync.Map // what Loading calls, and about what → its *contain.Guard

	Snap     atomic.Pointer[snapshot]
	sessions atomic.Pointer[sessionHooks]

	mu     sync.Mutex // guards all below, and who replaces snap or sessions
	inProc []*Entry
	pins   Pins
}

// Start publishes what was loaded first, with the guards that the host has.
func (r *Hooks) Start(g *Generation, guards []*hook.Hook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pins = newPins()
	for _, h := range guards {
		r.inProc = append(r.inProc, r.Prepare(&g.Policy, h))
	}
	r.swap(g)
}

// swap publishes what was loaded beside the hooks that mu guards.
func (r *Hooks) swap(g *Generation) { r.Snap.Store(newSnapshot(g, r.inProc)) }

// Entries are all hooks in configuration order, those of every session included.
func (r *Hooks) Entries() []*Entry {
	entries := r.Snap.Load().Entries
	if sessions := r.sessions.Load(); sessions != nil {
		entries = sessions.join(slices.Clone(entries), nil)
	}
	return entries
}

// FillBase adds what the host left out and the registry knows.
func (r *Hooks) FillBase(base hook.Base) hook.Base {
	if base.Cwd == "" {
		base.Cwd = r.Workspace
	}
	return base
}

// Background reports whether nothing waits for the hook.
func Background(h *hook.Hook) bool { return h.Async || h.AsyncRewake }

// Add adds a hook that the host registered. It fails if the name is taken.
func (r *Hooks) Add(h *hook.Hook) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.inProc {
		if e.Hook.ID == h.ID && e.Hook.Event == h.Event {
			return fmt.Errorf("hook %s is already registered for %s: give it another name", h.ID, h.Event)
		}
	}
	h.Source.Line = len(r.inProc) + 1 // the order of registration
	r.inProc = append(r.inProc, r.Prepare(&r.Snap.Load().Policy, h))
	r.swap(r.Snap.Load().Generation)
	return nil
}

// AddToSession is add for one session.
func (r *Hooks) AddToSession(session string, h *hook.Hook) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.sessions.Load().clone()
	for _, e := range next.hooks[session] {
		if e.Hook.ID == h.ID && e.Hook.Event == h.Event {
			return fmt.Errorf("hook %s is already registered for %s in this session: give it another name", h.ID, h.Event)
		}
	}
	h.Source.Line = len(next.hooks[session]) + 1
	next.hooks[session] = append(slices.Clip(next.hooks[session]), r.Prepare(&r.Snap.Load().Policy, h))
	r.sessions.Store(next)
	return nil
}

// EndSession removes the hooks and the guards of a session.
func (r *Hooks) EndSession(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.sessions.Load(); now != nil && now.hooks[session] != nil {
		next := now.clone()
		delete(next.hooks, session)
		r.sessions.Store(next)
	}
	r.pins.sessions.Remove(session)
}
