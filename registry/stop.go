package registry

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tenterhook/tenterhook/hook"
)

// stopGuard counts how often in a row hooks kept an agent working when it
// wanted to stop, and overrides them when that was too often.
type stopGuard struct {
	limit int // 0 = off

	mu     sync.Mutex // guards counts
	counts *simplelru.LRU[stopKey, int]
}

func newStopGuard(limit int) *stopGuard {
	counts, _ := simplelru.NewLRU[stopKey, int](maxSessions, nil) // fails on a size below 1
	return &stopGuard{limit: limit, counts: counts}
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
	blocked, _ := g.counts.Get(key)
	out := decide(g.limit, blocked)
	if out.Verdict != hook.Deny {
		g.counts.Remove(key)
		return out
	}
	g.counts.Add(key, blocked+1)
	return out
}

func (g *stopGuard) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range g.counts.Keys() {
		if key.session == session {
			g.counts.Remove(key)
		}
	}
}
