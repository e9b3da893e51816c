package registry

import (
	"errors"
	"time"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Rules are judged here and not by way of a handler's goroutine: they start
// nothing, need no slot among the hooks that run side by side, cannot time out,
// and have no breaker that failures on some events would open for all others.

// bindRule prepares a hook of kind rule. A host may bring a handler of its own
// for the kind, which is run as any other.
func (r *Registry) bindRule(e *entry) {
	h, ok := e.handler.(*rule.Handler)
	if !ok {
		return
	}
	bound, err := h.Bind(e.hook, r.ruleOptions(e.hook))
	if err == nil {
		e.handler, e.ruling = bound, bound
		return
	}
	var failed *hook.Error
	if errors.As(err, &failed) && e.state == hook.StateReady {
		e.state, e.why = hook.StateUnsupported, failed.Reason
		if failed.Failure == hook.FailureInvalid {
			e.state = hook.StateInvalid
		}
	}
}

func (r *Registry) ruleOptions(h *hook.Hook) match.RuleOptions {
	return match.RuleOptions{StrictCompat: r.opts.StrictCompat, Caliban: h.Protocol == hook.ProtocolCaliban}
}

// factsOf are what rules may ask of an input.
func (r *Registry) factsOf(in hook.Input, wire []byte, from *Caller) *rule.Facts {
	both := &struct {
		rule.Facts
		match.Call
	}{}
	r.fillCall(&both.Call, in, from)
	f := &both.Facts
	f.Input, f.Payload, f.Cwd, f.Workspace, f.Env, f.Call = in, wire, both.Call.Cwd, r.opts.Workspace, r.opts.Env, &both.Call
	if env := from.env(); env != nil {
		f.Env = env
	}
	f.Also = r.elsewhere(f.Call)
	return f
}

// judge lets a rule judge the input as it is now.
func (d *dispatch) judge(s *slot) hook.Result {
	if d.facts == nil {
		d.facts = d.r.factsOf(d.in, d.wire, d.view.from)
	}
	start := time.Now()
	out, basis, err := s.ruling.Judge(d.facts)
	if s.limited {
		out = s.refusal(out)
	}
	result := hook.Result{Hook: s.hook, Status: hook.StatusSuccess, Output: out, Err: err, Elapsed: time.Since(start), Report: hook.Report{By: basis.By}}
	var failed *hook.Error
	switch {
	case errors.As(err, &failed):
		result.Status, result.Failure, result.Reason, result.Hint = hook.StatusFailed, failed.Failure, failed.Reason, failed.Hint
		return result
	case !basis.Holds:
		result.Err, result.Reason = hook.ErrNotConcerned, "its condition "+basis.Key+" does not hold"
		return result
	case out.Verdict == hook.Deny:
		result.Status = hook.StatusBlocked
	}
	result.Reason = out.Reason
	if s.hook.Once && consumes(&result) && !d.r.once.spend(s.onceKey(d.in.Common().SessionID), d.id) {
		return hasRun(s.entry)
	}
	return result
}

// onlyRules reports whether every hook that runs is a rule, whatever rules make
// of the input: none of them may rewrite, so no other hook is selected later.
func (d *dispatch) onlyRules() bool {
	for i := range d.slots {
		if s := &d.slots[i]; s.run && (s.ruling == nil || s.hook.Rewrites) {
			return false
		}
	}
	return true
}

// unconcerned reports whether the hook leaves no result, since its own
// conditions do not hold. What it said about an earlier input remains.
func (s *slot) unconcerned() bool {
	return s.result.Err == hook.ErrNotConcerned && s.result.Earlier == nil
}

// explainRule finds out, running nothing, whether a rule that was picked applies
// to the input.
func (r *Registry) explainRule(p *pick, facts *rule.Facts) {
	basis := p.ruling.Applies(facts)
	switch {
	case basis.Holds || basis.Err != nil:
		p.by = basis.By
	default:
		p.run, p.concerned, p.why = false, false, basis.Key
		p.detail = p.ruling.NotHeld(basis)
	}
}
