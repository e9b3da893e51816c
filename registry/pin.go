package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tenterhook/tenterhook/hook"
)

// pins are the sessions that keep the guards they began with.
type pins struct {
	sessions *simplelru.LRU[string, struct{}] // guarded by Registry.mu
}

func newPins() pins {
	sessions, _ := simplelru.NewLRU[string, struct{}](maxSessions, nil) // fails on a size below 1
	return pins{sessions}
}

// PinSession has a session keep the guards that are loaded now, until it ends: a
// managed, user or named guard that a reload removes, changes or switches off
// still judges the session's events, besides what takes its place. Its word
// counts as far as it refuses or asks, and its failure refuses. The setting
// self_protection = false ends that.
func (r *Registry) PinSession(session string) {
	if session == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pins.sessions.Add(session, struct{}{})
}

// guardKey tells guards of two loads apart.
type guardKey struct {
	id, path string
	event    hook.Event
}

// isGuard reports whether an entry can prevent something on an operator's word.
func (e *entry) isGuard() bool {
	switch e.hook.Scope {
	case hook.ScopeManaged, hook.ScopeUser, hook.ScopeDir:
	default:
		return false
	}
	return e.state == hook.StateReady && e.definition != nil && canGuard(e.hook)
}

// canGuard reports whether a hook can prevent something, or may be one that can:
// a definition that is broken.
func canGuard(h *hook.Hook) bool {
	if h.Event == "" {
		return true
	}
	return !background(h) && hook.Info(h.Event).Block == hook.BlockAction
}

// guardOnly prepares a hook whose word counts as far as it refuses or asks.
func (r *Registry) guardOnly(p *policy, h *hook.Hook) *entry {
	own := *h
	own.Rewrites = false
	e := r.prepare(p, &own)
	e.limited = true
	if e.handler != nil && e.ruling == nil {
		e.handler = refusing{e.handler, e}
	}
	return e
}

// refusing is a handler whose word counts as far as it refuses or asks.
type refusing struct {
	hook.Handler
	entry *entry
}

func (h refusing) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	out, err := h.Handler.Handle(ctx, c)
	return h.entry.refusal(out), err
}

// Check asks the handler.
func (h refusing) Check(c *hook.Call) []hook.Diagnostic {
	if checker, ok := h.Handler.(hook.Checker); ok {
		return checker.Check(c)
	}
	return nil
}

// pin keeps, for the pinned sessions, the guards that are in before and not in
// next as they were. It returns their IDs. The caller holds r.mu, and has not
// swapped yet.
func (r *Registry) pin(before, next *generation) (ids []string) {
	if on := next.policy.SelfProtection; on != nil && !*on {
		r.pins.sessions.Purge()
	}
	live := r.pins.sessions.Keys()
	if len(live) == 0 {
		return nil
	}
	still := make(map[guardKey]*entry)
	for _, e := range next.entries {
		still[guardKey{e.hook.ID, e.hook.Source.Path, e.event}] = e
	}
	all := r.sessions.Load().clone()
	for _, e := range before.entries {
		key := guardKey{e.hook.ID, e.hook.Source.Path, e.event}
		now := still[key]
		if !e.isGuard() || now != nil && now.isGuard() && now.definition == e.definition && now.hook.OnFailure == e.hook.OnFailure {
			continue
		}
		kept := r.keptGuard(&before.policy, e)
		ids = append(ids, e.hook.ID)
		for _, session := range live {
			hooks := all.hooks[session]
			if !slices.ContainsFunc(hooks, func(o *entry) bool {
				return guardKey{o.hook.ID, o.hook.Source.Path, o.event} == key
			}) {
				all.hooks[session] = append(slices.Clip(hooks), kept)
			}
		}
	}
	if len(ids) > 0 {
		r.sessions.Store(all)
	}
	return ids
}

// keptGuard is a guard as it was loaded, for the sessions that began with it.
func (r *Registry) keptGuard(p *policy, e *entry) *entry {
	own := *e.hook
	own.OnFailure, own.Once = hook.FailureBlock, false
	kept := r.guardOnly(p, &own)
	kept.kept = true
	return kept
}

// refusal is what counts of the answer of a hook that only refuses.
func (e *entry) refusal(out *hook.Output) *hook.Output {
	switch {
	case out == nil:
		return nil
	case out.Verdict < hook.Ask:
		return &hook.Output{}
	}
	reason := out.Reason
	if e.kept {
		reason = fmt.Sprintf("%s (%s guards this session, as it was when the session began)", reason, e.hook.ID)
	}
	return &hook.Output{Verdict: out.Verdict, Reason: reason}
}
