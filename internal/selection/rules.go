package selection

import (
	"errors"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// bindRule prepares a hook of kind rule. A host may bring a handler of its own
// for the kind, which is run as any other.
func (r *Hooks) bindRule(e *Entry) {
	h, ok := e.Handler.(*rule.Handler)
	if !ok {
		return
	}
	bound, err := h.Bind(e.Hook, r.ruleOptions(e.Hook))
	if err == nil {
		e.Handler, e.Ruling = bound, bound
		return
	}
	var failed *hook.Error
	if errors.As(err, &failed) && e.State == hook.StateReady {
		e.State, e.Why = hook.StateUnsupported, failed.Reason
		if failed.Failure == hook.FailureInvalid {
			e.State = hook.StateInvalid
		}
	}
}

func (r *Hooks) ruleOptions(h *hook.Hook) match.RuleOptions {
	return match.RuleOptions{StrictCompat: r.StrictCompat, Caliban: h.Protocol == hook.ProtocolCaliban}
}

// FactsOf are what rules may ask of an input.
func (r *Hooks) FactsOf(in hook.Input, wire []byte, from *Caller) *rule.Facts {
	both := &struct {
		rule.Facts
		match.Call
	}{}
	r.fillCall(&both.Call, in, from)
	f := &both.Facts
	f.Input, f.Payload, f.Cwd, f.Workspace, f.Env, f.Call = in, wire, both.Call.Cwd, r.Workspace, r.RuleEnv, &both.Call
	if env := from.Environ(); env != nil {
		f.Env = env
	}
	f.Also = r.elsewhere(f.Call, from)
	return f
}

// ExplainRule finds out, running nothing, whether a rule that was picked applies
// to the input.
func (r *Hooks) ExplainRule(p *Pick, facts *rule.Facts) {
	basis := p.Ruling.Applies(facts)
	switch {
	case basis.Holds || basis.Err != nil:
		p.by = basis.By
	default:
		p.Run, p.Concerned, p.Why = false, false, basis.Key
		p.Detail = p.Ruling.NotHeld(basis)
	}
}
