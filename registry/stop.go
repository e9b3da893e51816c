package registry

import (
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// maxSessions bounds the sessions whose continuations are counted.
const maxSessions = 4096

// stopGuard counts how often in a row hooks kept an agent working when it
// wanted to stop, and overrides them when that was too often.
type stopGuard struct {
	limit int // 0 = off

	mu     sync.Mutex // guards counts
	counts map[stopKey]int
}

type stopKey struct {
	session, agent string
	event          hook.Event
}

func stopKeyOf(in hook.Input) stopKey {
	base := in.Common()
	return stopKey{base.SessionID, base.AgentID, in.Event()}
}

// note starts the count anew when a person speaks.
func (g *stopGuard) note(in hook.Input) {
	if in.Event() == hook.EventUserPromptSubmit {
		g.forget(in.Common().SessionID)
	}
}

// decide makes an outcome, given the limit of this input and how often in a row
// it was blocked already, and counts what comes of it.
func (g *stopGuard) decide(in hook.Input, decide func(limit, blocked int) *hook.Outcome) *hook.Outcome {
	if g.limit <= 0 || in.Event() != hook.EventStop && in.Event() != hook.EventSubagentStop {
		return decide(0, 0)
	}
	key := stopKeyOf(in)
	g.mu.Lock()
	defer g.mu.Unlock()
	out := decide(g.limit, g.counts[key])
	if out.Verdict != hook.Deny {
		delete(g.counts, key)
		return out
	}
	if g.counts == nil || len(g.counts) >= maxSessions {
		g.counts = make(map[stopKey]int)
	}
	g.counts[key]++
	return out
}

func (g *stopGuard) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key := range g.counts {
		if key.session == session {
			delete(g.counts, key)
		}
	}
}
