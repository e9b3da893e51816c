package registry

import (
	"fmt"
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

// guard counts a block of Stop or SubagentStop, and lifts it over the limit.
func (g *stopGuard) guard(in hook.Input, out *hook.Outcome) {
	if g.limit <= 0 || in.Event() != hook.EventStop && in.Event() != hook.EventSubagentStop {
		return
	}
	key := stopKeyOf(in)
	g.mu.Lock()
	defer g.mu.Unlock()
	if out.Verdict != hook.Deny {
		delete(g.counts, key)
		return
	}
	if g.counts == nil || len(g.counts) >= maxSessions {
		g.counts = make(map[stopKey]int)
	}
	g.counts[key]++
	if g.counts[key] <= g.limit {
		return
	}
	delete(g.counts, key)
	out.Diagnostics = append(out.Diagnostics, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "stop_overridden",
		Message: fmt.Sprintf("hooks kept the agent working %d times in a row; it stops now, against: %s", g.limit, out.Reason),
		Hint:    "a stop hook should give up when stop_hook_active is true and nothing changed"})
	out.Verdict, out.Reason = hook.NoOpinion, ""
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
