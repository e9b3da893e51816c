package daemon

import (
	"container/list"
	"path/filepath"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// maxSessions bounds the sessions that are remembered. The one that was not used
// for longest is forgotten first.
const maxSessions = 1024

// maxHeld bounds the context that waits for a session's next event, in bytes.
const maxHeld = 64 << 10

// sessions are the sessions of agents.
type sessions struct {
	mu    sync.Mutex // guards all below, and root and held of each session
	byKey map[sessionKey]*list.Element
	order *list.List // of *session, the one that was used last in front
}

type sessionKey struct{ agent, id string }

// session is what is kept of a session between its calls.
type session struct {
	key sessionKey
	all *sessions

	root string   // the workspace that it began in; "" = not known yet
	held []string // context for its next event that takes some
}

func (ss *sessions) init() { ss.byKey, ss.order = make(map[sessionKey]*list.Element), list.New() }

// get returns a session, and begins it if it is not known.
func (ss *sessions) get(agent, id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	key := sessionKey{agent, id}
	if e, ok := ss.byKey[key]; ok {
		ss.order.MoveToFront(e)
		return e.Value.(*session)
	}
	s := &session{key: key, all: ss}
	ss.byKey[key] = ss.order.PushFront(s)
	for ss.order.Len() > maxSessions {
		old := ss.order.Remove(ss.order.Back()).(*session)
		delete(ss.byKey, old.key)
	}
	return s
}

// end forgets a session.
func (ss *sessions) end(agent, id string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	key := sessionKey{agent, id}
	if e, ok := ss.byKey[key]; ok {
		ss.order.Remove(e)
		delete(ss.byKey, key)
	}
}

func (ss *sessions) count() int {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.order.Len()
}

// rootFor is the workspace of a call. A session keeps the one that it began in:
// an agent that moves into another project takes its guards along.
func (s *session) rootFor(in hook.Input, dir string, u user) string {
	if in.Common().Cwd != "" && !filepath.IsAbs(dir) {
		dir = in.Common().Cwd
	}
	root := projectRoot(dir, u.home)
	if s.key.id == "" {
		return root
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.root == "" || in.Event() == hook.EventSessionStart {
		s.root = root
	}
	return s.root
}

// hold keeps context for the session's next event that takes some.
func (s *session) hold(contexts []string) {
	if len(contexts) == 0 {
		return
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.held = append(s.held, contexts...)
	size := 0
	for i := len(s.held) - 1; i >= 0; i-- {
		if size += len(s.held[i]); size > maxHeld {
			s.held = append([]string{"(earlier context of hooks was dropped: there was too much of it)"}, s.held[i+1:]...)
			return
		}
	}
}

// withHeld puts the context that waited in front of an outcome's own.
func (s *session) withHeld(out *hook.Outcome) *hook.Outcome {
	s.all.mu.Lock()
	held := s.held
	s.held = nil
	s.all.mu.Unlock()
	if len(held) == 0 || out == nil {
		return out
	}
	more := *out
	more.Contexts = append(append([]string(nil), held...), out.Contexts...)
	return &more
}

// deliver keeps what a hook in the background says until the session's next
// event that takes it.
func (d *Decider) deliver(agent string, a registry.AsyncResult) {
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
	d.sessions.get(agent, a.SessionID).hold(contexts)
}
