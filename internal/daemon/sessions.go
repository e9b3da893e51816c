package daemon

import (
	"container/list"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// maxSessions bounds the sessions that are in memory. The session that was not used
// for longest goes first; what is kept of it is on disk.
const maxSessions = 256

// maxHeld bounds the context that waits for a session's next event, in bytes.
const maxHeld = 64 << 10

// sessions are the sessions of agents.
type sessions struct {
	mu    sync.Mutex // guards all below
	byKey map[sessionKey]*list.Element
	order *list.List // of *session, the last used one in front
}

// sessionKey names a session. kept is the state directory of its user.
type sessionKey struct{ kept, agent, id string }

// session is what is kept of a session between its calls.
type session struct {
	key  sessionKey
	load sync.Once

	mu       sync.Mutex     // guards all below
	root     string         // the workspace that it began in; "" = not known yet
	held     []string       // context for its next event that takes some
	pins     []registry.Pin // the guards that it began with
	pinsName string         // of the file that holds them; "" = there is none
	dirty    bool           // the file does not say it
	touched  time.Time      // when the file was marked as used
	ended    bool           // there is nothing to keep
}

func (ss *sessions) init() { ss.byKey, ss.order = make(map[sessionKey]*list.Element), list.New() }

// get returns a session as the last process left it, and begins it if it is not
// known.
func (ss *sessions) get(kept, agent, id string) *session {
	s := ss.find(sessionKey{kept, agent, id})
	s.load.Do(s.restore)
	return s
}

func (ss *sessions) find(key sessionKey) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if e, ok := ss.byKey[key]; ok {
		ss.order.MoveToFront(e)
		return e.Value.(*session)
	}
	s := &session{key: key}
	ss.byKey[key] = ss.order.PushFront(s)
	for ss.order.Len() > maxSessions {
		old := ss.order.Remove(ss.order.Back()).(*session)
		delete(ss.byKey, old.key)
	}
	return s
}

// end forgets a session.
func (ss *sessions) end(s *session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if e, ok := ss.byKey[s.key]; ok && e.Value == s {
		ss.order.Remove(e)
		delete(ss.byKey, s.key)
	}
	s.remove()
}

func (ss *sessions) count() int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.order.Len()
}

// rootFor is the workspace of a call. A session keeps the workspace that it began in:
// an agent that moves into another project takes its guards along.
func (s *session) rootFor(in hook.Input, dir string, u user) string {
	if in.Common().Cwd != "" && !filepath.IsAbs(dir) {
		dir = in.Common().Cwd
	}
	if s.key.id == "" {
		return projectRoot(dir, u.home)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != "" && in.Event() != hook.EventSessionStart {
		return s.root
	}
	if root := projectRoot(dir, u.home); s.root != root {
		s.root, s.dirty = root, true
	}
	return s.root
}

// pin has the session keep the guards of a registry.
func (s *session) pin(reg *registry.Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := reg.PinSession(s.key.id, s.pins)
	if now != nil && len(now) == 0 && len(s.pins) > 0 { // an operator lets them go
		s.pins, s.dirty = nil, true
	}
	for _, p := range now {
		if i := slices.IndexFunc(s.pins, func(o registry.Pin) bool { return same(o, p) }); i < 0 {
			s.pins, s.dirty = append(slices.Clip(s.pins), p), true
		} else {
			s.pins[i] = p // of the registry's memory
		}
	}
}

// hold keeps context for the session's next event that takes some.
func (s *session) hold(contexts []string) {
	if len(contexts) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.dirty = bounded(append(s.held, contexts...)), true
}

// bounded drops the earliest of too much context.
func bounded(held []string) []string {
	size := 0
	for i := len(held) - 1; i >= 0; i-- {
		if size += len(held[i]); size > maxHeld {
			return append([]string{"(earlier context of hooks was dropped: there was too much of it)"}, held[i+1:]...)
		}
	}
	return held
}

// withHeld puts the context that waited in front of an outcome's own.
func (s *session) withHeld(out *hook.Outcome) *hook.Outcome {
	if out == nil {
		return out
	}
	s.mu.Lock()
	held := s.held
	s.held, s.dirty = nil, s.dirty || len(held) > 0
	s.mu.Unlock()
	if len(held) == 0 {
		return out
	}
	more := *out
	more.Contexts = append(append([]string(nil), held...), out.Contexts...)
	return &more
}

// deliver keeps what a hook in the background says until the session's next
// event that takes it.
func (d *Decider) deliver(kept, agent string, a registry.AsyncResult) {
	out := a.Result.Output
	var contexts []string
	if a.Rewake && a.Message != "" {
		contexts = append(contexts, a.Message)
	}
	if out != nil {
		if out.Context != "" {
			contexts = append(contexts, out.Context)
		}
		if out.SystemMessage != "" {
			contexts = append(contexts, out.SystemMessage)
		}
	}
	if a.Result.Failure != "" {
		d.log.Warn("background hook failed", "hook", a.Result.Hook.ID, "failure", a.Result.Failure, "reason", a.Result.Reason)
	}
	s := d.sessions.get(kept, agent, a.SessionID)
	s.hold(contexts)
	d.save(s)
}
