package selection

import (
	"maps"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// MaxSessions bounds the sessions that anything is remembered of. The session
// that was not used for longest is forgotten first.
const MaxSessions = 4096

// sessionHooks are the hooks of sessions, by session. It is immutable.
type sessionHooks struct {
	hooks map[string][]*Entry
}

func (s *sessionHooks) clone() *sessionHooks {
	if s == nil {
		return &sessionHooks{hooks: make(map[string][]*Entry)}
	}
	return &sessionHooks{hooks: maps.Clone(s.hooks)}
}

// join adds to found, in order, the hooks of the input's session whose matchers
// fit; for a nil input the hooks of every session.
func (s *sessionHooks) join(found []*Entry, in hook.Input) []*Entry {
	var more []*Entry
	if in == nil {
		for _, session := range slices.Sorted(maps.Keys(s.hooks)) {
			more = append(more, s.hooks[session]...)
		}
	} else {
		for _, e := range s.hooks[in.Common().SessionID] {
			if ok, _ := e.takes(hook.Subject(in)); ok && e.Event == in.Event() {
				more = append(more, e)
			}
		}
	}
	if len(more) == 0 {
		return found
	}
	found = slices.Concat(found, more)
	slices.SortStableFunc(found, CompareEntries)
	return found
}
