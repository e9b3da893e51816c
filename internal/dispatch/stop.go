package dispatch

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// stopGuard counts how often in a row hooks kept an agent working when it
// wanted to stop, and overrides them when that was too often.
type stopGuard struct {
	limit int // 0 = off

	mu sync.Mutex // guards counts
	// A count below zero means that a prompt followed: it starts again, unless the
	// agent is still kept working. Gemini CLI sends what kept it working as a prompt.
	counts *simplelru.LRU[stopKey, int]
}

func newStopGuard(limit int) *stopGuard {
	counts, _ := simplelru.NewLRU[stopKey, int](selection.MaxSessions, nil) // fails on a size below 1
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

// note marks the counts of a session whose agent got a prompt.
func (g *stopGuard) note(in hook.Input) {
	if in.Event() == hook.EventUserPromptSubmit {
		g.each(in.Common().SessionID, func(key stopKey, n int) { g.counts.Add(key, -max(n, -n)) })
	}
}

// keptWorking reports whether the agent says that a hook keeps it working.
func keptWorking(in hook.Input) bool {
	if stop, ok := hook.As[hook.Stop](in); ok {
		return stop.StopHookActive
	}
	stop, _ := hook.As[hook.SubagentStop](in)
	return stop.StopHookActive
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
	if blocked < 0 && keptWorking(in) {
		blocked = -blocked
	}
	blocked = max(blocked, 0)
	out := decide(g.limit, blocked)
	if out.Verdict != hook.Deny {
		g.counts.Remove(key)
		return out
	}
	g.counts.Add(key, blocked+1)
	return out
}

func (g *stopGuard) forget(session string) {
	g.each(session, func(key stopKey, _ int) { g.counts.Remove(key) })
}

// each calls do for each count of a session.
func (g *stopGuard) each(session string, do func(stopKey, int)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range g.counts.Keys() {
		if n, ok := g.counts.Peek(key); ok && key.session == session {
			do(key, n)
		}
	}
}
