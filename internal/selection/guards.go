package selection

import (
	"context"
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
)

// isGuard reports whether an entry can prevent something on an operator's word.
func (e *Entry) isGuard() bool {
	switch e.Hook.Scope {
	case hook.ScopeManaged, hook.ScopeUser, hook.ScopeDir:
	default:
		return false
	}
	if e.Definition == nil || e.Definition.Config != nil && e.Definition.Config.Fleet != nil {
		return false // a fleet's word ends for every session at once
	}
	return e.State == hook.StateReady && canGuard(e.Hook)
}

// canGuard reports whether a hook can prevent something, or could if it were valid:
// a definition that is broken.
func canGuard(h *hook.Hook) bool {
	if h.Event == "" {
		return true
	}
	return !Background(h) && hook.Info(h.Event).Block == hook.BlockAction
}

// guardOnly prepares a hook whose word counts as far as it refuses or asks.
func (r *Hooks) guardOnly(p *load.Settings, h *hook.Hook) *Entry {
	own := *h
	own.Rewrites = false
	e := r.Prepare(p, &own)
	e.Limited = true
	if e.Handler != nil && e.Ruling == nil {
		e.Handler = refusing{e.Handler, e}
	}
	return e
}

// refusing is a handler whose word counts as far as it refuses or asks.
type refusing struct {
	hook.Handler
	entry *Entry
}

func (h refusing) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	out, err := h.Handler.Handle(ctx, c)
	return h.entry.Refusal(out), err
}

// Check asks the handler.
func (h refusing) Check(c *hook.Call) []hook.Diagnostic {
	if checker, ok := h.Handler.(hook.Checker); ok {
		return checker.Check(c)
	}
	return nil
}

// Refusal is what counts of the answer of a hook that only refuses.
func (e *Entry) Refusal(out *hook.Output) *hook.Output {
	switch {
	case out == nil:
		return nil
	case out.Verdict < hook.Ask:
		return &hook.Output{}
	}
	reason := out.Reason
	if e.kept {
		reason = fmt.Sprintf("%s (%s guards this session, as it was when the session began)", reason, e.Hook.ID)
	}
	return &hook.Output{Verdict: out.Verdict, Reason: reason}
}
