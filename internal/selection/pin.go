package selection

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/trust"
)

// Pin is a guard as a session began with it. Its JSON is for another registry
// to continue with.
type Pin struct {
	Hook *hook.Hook // with the defaults that its settings gave it
	// Files is a digest of the files that its command comes to, "" = it is not
	// known. Copy is a folder with those of the hook's folder, "" = there is none.
	Files, Copy string
}

// pinJSON has what the JSON of a hook leaves out.
type pinJSON struct {
	*hook.Hook
	Scope uint8
	By    uint8 `json:",omitzero"` // Source.PackBy
	If    []string
	Files string `json:",omitempty"`
	Copy  string `json:",omitempty"`
}

// MarshalJSON writes the hook and its files.
func (p Pin) MarshalJSON() ([]byte, error) {
	h := *p.Hook
	h.Handler, h.Source.Line = nil, 0 // the same guard on another line is the same
	return json.Marshal(pinJSON{&h, uint8(h.Scope), uint8(h.Source.PackBy), h.If, p.Files, p.Copy})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Pin) UnmarshalJSON(data []byte) error {
	j := pinJSON{Hook: new(hook.Hook)}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	j.Hook.Scope, j.Hook.Source.PackBy, j.Hook.If = hook.Scope(j.Scope), hook.Scope(j.By), j.If
	*p = Pin{j.Hook, j.Files, j.Copy}
	return nil
}

// pin is a guard that sessions began with.
type pin struct {
	Pin
	text string        // its JSON: two guards of which this is the same are one
	kept func() *Entry // the guard as it was
}

// guardKey tells guards of one load apart.
type guardKey struct {
	id, path string
	event    hook.Event
}

func (p *pin) key() guardKey { return guardKey{p.Hook.ID, p.Hook.Source.Path, p.Hook.Event} }

func (r *Hooks) newPin(from Pin) *pin {
	p := &pin{Pin: from}
	text, _ := json.Marshal(from) // strings, numbers and raw JSON that was read
	p.text = string(text)
	p.kept = sync.OnceValue(func() *Entry { return r.keptGuard(p) })
	return p
}

// Pins are the sessions that keep the guards they began with.
type Pins struct {
	sessions *simplelru.LRU[string, *pinned] // guarded by Hooks.mu
}

// pinned are the guards of a session.
type pinned struct {
	guards []*pin
	seen   *GuardSet // whose guards are among them; nil = none
}

func newPins() Pins {
	sessions, _ := simplelru.NewLRU[string, *pinned](MaxSessions, nil) // fails on a size below 1
	return Pins{sessions}
}

// GuardSet are the guards of a generation, found out at the first question. It
// is safe for concurrent use.
type GuardSet struct {
	once  sync.Once
	pins  []*pin
	live  map[string]bool // their texts
	mu    sync.Mutex      // guards seals
	seals map[*pin]*trust.Seal
}

// Pinning reports whether any session keeps its guards.
func (r *Hooks) Pinning() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pins.sessions.Len() > 0
}

// Guards returns the guards of a generation.
func (r *Hooks) Guards(g *Generation) *GuardSet {
	s := g.Guards
	s.once.Do(func() {
		s.live, s.seals = make(map[string]bool), make(map[*pin]*trust.Seal)
		for _, e := range g.Entries {
			if !e.isGuard() {
				continue
			}
			of := Pin{Hook: e.Hook}
			seal := r.sealGuard(e.Hook)
			if seal != nil {
				of.Files = digestOf(seal)
				of.Copy, _ = r.Snapshots.Dir(seal) // without one the guard fails once its files are others
			}
			p := r.newPin(of)
			s.pins, s.live[p.text] = append(s.pins, p), true
			if seal != nil {
				s.seals[p] = seal
			}
		}
	})
	return s
}

// Moved reports whether files of guards changed since they were found out.
func (s *GuardSet) Moved(r *Hooks) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, seal := range s.seals {
		if intact, _ := seal.Intact(); intact {
			continue
		}
		now := r.sealGuard(p.Hook)
		if now == nil || digestOf(now) != p.Files {
			return true
		}
		s.seals[p] = now
	}
	return false
}

// PinSession has a session keep the guards that are loaded now, besides earlier ones
// of another process. It returns all that the session has, nil if they are as they
// were at the last call.
func (r *Hooks) PinSession(session string, earlier []Pin) []Pin {
	if session == "" {
		return nil
	}
	for {
		g := r.Snap.Load().Generation
		if g.Policy.Unguarded() {
			return []Pin{}
		}
		now := r.Guards(g)
		r.mu.Lock()
		if r.Snap.Load().Generation != g { // a reload came between
			r.mu.Unlock()
			continue
		}
		all := r.pinTo(session, earlier, now)
		r.mu.Unlock()
		return all
	}
}

// pinTo adds guards to those of a session. The caller holds mu.
func (r *Hooks) pinTo(session string, earlier []Pin, now *GuardSet) (all []Pin) {
	s, known := r.pins.sessions.Get(session)
	if !known {
		s = new(pinned)
		for _, p := range earlier {
			own := r.newPin(p)
			if i := slices.IndexFunc(now.pins, func(o *pin) bool { return o.text == own.text }); i >= 0 {
				own = now.pins[i]
			}
			s.guards = append(s.guards, own)
		}
		r.pins.sessions.Add(session, s)
	}
	if s.seen == now {
		return nil
	}
	s.seen = now
	before := len(s.guards)
	if before == 0 {
		s.guards = now.pins // shared by the sessions that begin now
	} else {
		s.add(now.pins)
	}
	r.keepGuards(map[string][]*pin{session: s.guards}, now)
	if known && len(s.guards) == before {
		return nil
	}
	all = make([]Pin, len(s.guards))
	for i, p := range s.guards {
		all[i] = p.Pin
	}
	return all
}

// add adds the guards that the session has in no version.
func (s *pinned) add(more []*pin) {
	have := make(map[guardKey]bool, len(s.guards))
	for _, p := range s.guards {
		have[p.key()] = true
	}
	for _, p := range more {
		if !have[p.key()] {
			s.guards = append(slices.Clip(s.guards), p)
		}
	}
}

// repin keeps for all sessions their guards that are not in a generation as they
// were. It returns their IDs. The caller holds mu, and has not swapped yet.
func (r *Hooks) repin(next *Generation) (ids []string) {
	if next.Policy.Unguarded() {
		r.pins.sessions.Purge()
		r.keepGuards(nil, nil)
		return nil
	}
	sessions := make(map[string][]*pin, r.pins.sessions.Len())
	for _, session := range r.pins.sessions.Keys() {
		if s, ok := r.pins.sessions.Peek(session); ok {
			sessions[session] = s.guards
		}
	}
	if len(sessions) == 0 {
		return nil
	}
	return r.keepGuards(sessions, r.Guards(next))
}

// keepGuards puts the guards of sessions that are not live among the sessions' hooks,
// and for no sessions takes all away. It returns the IDs of the guards that were not
// there. The caller holds mu.
func (r *Hooks) keepGuards(sessions map[string][]*pin, now *GuardSet) (ids []string) {
	all := r.sessions.Load().clone()
	if sessions == nil {
		sessions = make(map[string][]*pin)
		for session := range all.hooks {
			sessions[session] = nil
		}
	}
	changed := false
	for session, guards := range sessions {
		was := all.hooks[session]
		hooks := slices.DeleteFunc(slices.Clone(was), func(e *Entry) bool { return e.kept })
		for _, p := range guards {
			if now.live[p.text] {
				continue
			}
			e := p.kept()
			if hooks = append(hooks, e); !slices.Contains(was, e) {
				ids = append(ids, p.Hook.ID)
			}
		}
		changed = changed || !slices.Equal(was, hooks)
		if all.hooks[session] = hooks; len(hooks) == 0 {
			delete(all.hooks, session)
		}
	}
	if changed {
		r.sessions.Store(all)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// keptGuard is a guard as it was loaded, for the sessions that began with it.
func (r *Hooks) keptGuard(p *pin) *Entry {
	own := *p.Hook
	own.OnFailure, own.Once = hook.FailureBlock, false
	kept := r.guardOnly(&load.Settings{NoHooks: r.Off}, &own)
	if p.Files != "" {
		kept.Handler = r.keptFiles(p, &own, kept.Handler)
	}
	kept.kept = true
	return kept
}

// keptFiles is a handler of a guard that runs what its session began with.
func (r *Hooks) keptFiles(p *pin, as *hook.Hook, run hook.Handler) hook.Handler {
	copied := *as // handlers remember hooks by their pointers
	copied.Source.Dir = p.Copy
	return hook.HandlerFunc(func(ctx context.Context, c *hook.Call) (*hook.Output, error) {
		switch {
		case p.isOf(r.sealGuard(as)):
			c.Hook = as
		case p.Copy != "" && p.isOf(r.sealGuard(&copied)):
			c.Hook = &copied
		default:
			failed := hook.Errorf(hook.FailureUntrusted, "its files changed or are gone since the session began, and no copy of them is left")
			failed.Hint = "begin a new session, or put them back"
			return nil, failed
		}
		return run.Handle(ctx, c)
	})
}

// isOf reports whether files are those of the pin.
func (p *pin) isOf(seal *trust.Seal) bool { return seal != nil && digestOf(seal) == p.Files }
