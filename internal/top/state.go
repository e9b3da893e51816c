package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
)

// What is kept. The journal has the rest.
const (
	maxLines    = 1000
	maxHooks    = 500
	maxSessions = 200
	maxRecent   = 60  // results of one hook, for its plots
	maxText     = 300 // bytes of a text of a line
)

// state is what the view shows. Only the view's goroutine uses it.
type state struct {
	lines    []journal.Line // the newest last
	hooks    map[string]*hookState
	sessions map[sessionKey]*sessionState
	breakers []Breaker
	off      map[string]string
	perSec   [60]int // results, by second
	second   int64   // that perSec ends with
}

// hookState is how a hook did lately.
type hookState struct {
	journal.HookStats
	recent []outcome // the newest last
}

// outcome is a result as a plot shows it.
type outcome struct {
	ms             float64
	failed, denied bool
}

type sessionKey struct{ agent, session string }

type sessionState struct {
	sessionKey
	results, denied, failed int
	last                    time.Time
}

func newState() *state {
	return &state{hooks: make(map[string]*hookState), sessions: make(map[sessionKey]*sessionState), off: make(map[string]string)}
}

// take takes news over, and forgets what is too much.
func (s *state) take(n news) {
	for i := range n.lines {
		s.line(&n.lines[i])
	}
	if over := len(s.lines) - maxLines; over > 0 {
		s.lines = slices.Clone(s.lines[over:])
	}
	if !n.slow {
		return
	}
	for _, st := range n.stats {
		if h := s.hook(st.Hook, st.Last); h != nil {
			h.HookStats = st
		}
	}
	s.breakers, s.off = n.breakers, n.off
}

func (s *state) line(l *journal.Line) {
	own := *l
	own.Reason, own.Hint, own.Stderr, own.Source = phrase.Bytes(l.Reason, maxText), "", "", ""
	s.lines = append(s.lines, own)
	if l.Status == hook.StatusAsync { // it counts when it has ended
		return
	}
	s.count(l.Time)
	denied := l.Verdict == hook.Deny && l.Failure == ""
	if h := s.hook(l.Hook, l.Time); h != nil && l.Status != hook.StatusSkipped {
		if len(h.recent) >= maxRecent {
			h.recent = slices.Delete(h.recent, 0, len(h.recent)-maxRecent+1)
		}
		h.recent = append(h.recent, outcome{l.ElapsedMS, l.Failure != "", denied})
	}
	key := sessionKey{l.Agent, l.Session}
	one := s.sessions[key]
	if one == nil {
		if len(s.sessions) >= maxSessions {
			s.forgetSession()
		}
		one = &sessionState{sessionKey: key}
		s.sessions[key] = one
	}
	one.results++
	if denied {
		one.denied++
	}
	if l.Failure != "" {
		one.failed++
	}
	if l.Time.After(one.last) {
		one.last = l.Time
	}
}

// count counts a result in its second of the last minute.
func (s *state) count(at time.Time) {
	now := time.Now().Unix()
	s.advance(now)
	if ago := now - at.Unix(); ago >= 0 && ago < int64(len(s.perSec)) {
		s.perSec[(now-ago)%int64(len(s.perSec))]++
	}
}

// advance empties the seconds that have passed.
func (s *state) advance(now int64) {
	for ; s.second < now; s.second++ {
		if now-s.second > int64(len(s.perSec)) {
			s.second = now - int64(len(s.perSec))
		}
		s.perSec[(s.second+1)%int64(len(s.perSec))] = 0
	}
}

// perMinute is how many results there were in the last minute.
func (s *state) perMinute() (n int) {
	s.advance(time.Now().Unix())
	for _, one := range s.perSec {
		n += one
	}
	return n
}

// hook returns the state of a hook, nil for a hook that is older than all others
// where there are too many.
func (s *state) hook(id string, last time.Time) *hookState {
	h := s.hooks[id]
	if h == nil {
		if len(s.hooks) >= maxHooks {
			oldest := id
			at := last
			for other, o := range s.hooks {
				if o.Last.Before(at) {
					oldest, at = other, o.Last
				}
			}
			if oldest == id {
				return nil
			}
			delete(s.hooks, oldest)
		}
		h = &hookState{HookStats: journal.HookStats{Hook: id}}
		s.hooks[id] = h
	}
	if last.After(h.Last) {
		h.Last = last
	}
	return h
}

func (s *state) forgetSession() {
	var oldest *sessionState
	for _, one := range s.sessions {
		if oldest == nil || one.last.Before(oldest.last) {
			oldest = one
		}
	}
	delete(s.sessions, oldest.sessionKey)
}

// filter chooses what is shown.
type filter struct {
	text   string // in a hook's, an event's, a tool's, an agent's or a session's name; any case
	failed bool   // failures and denials alone
}

func (f filter) takes(texts ...string) bool {
	return f.text == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), strings.ToLower(f.text)) })
}

// line reports whether the filter chooses a line.
func (f filter) line(l *journal.Line) bool {
	return (!f.failed || l.Failure != "" || l.Verdict == hook.Deny) && f.takes(l.Hook, string(l.Event), l.Tool, l.Agent, l.Session, l.Run)
}

// shownLines are the lines that a filter chooses, the newest first.
func (s *state) shownLines(f filter) (list []journal.Line) {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if l := &s.lines[i]; f.line(l) {
			list = append(list, *l)
		}
	}
	return list
}

// shownHooks are the hooks that a filter chooses, the busiest first.
func (s *state) shownHooks(f filter) (list []*hookState) {
	for _, h := range s.hooks {
		if f.takes(h.Hook) && (!f.failed || h.Failed+h.Denied > 0) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b *hookState) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Hook, b.Hook)) })
	return list
}

func (s *state) shownSessions(f filter) (list []*sessionState) {
	for _, one := range s.sessions {
		if f.takes(one.agent, one.session) && (!f.failed || one.failed+one.denied > 0) {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *sessionState) int {
		return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.agent, b.agent), cmp.Compare(a.session, b.session))
	})
	return list
}

func (s *state) shownBreakers(f filter) (list []Breaker) {
	for _, b := range s.breakers {
		if f.takes(b.Hook, b.By) {
			list = append(list, b)
		}
	}
	return list
}
