package dispatch

import (
	"errors"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// Rules are judged here and not by way of a handler's goroutine: they start
// nothing, need no slot among the hooks that run side by side, cannot time out,
// and have no breaker that failures on some events would open for all others.

// judge lets a rule judge the input as it is now.
func (d *dispatch) judge(s *slot) hook.Result {
	if d.facts == nil {
		d.facts = d.r.hooks.FactsOf(d.in, d.wire, d.view.From)
	}
	start := time.Now()
	out, basis, err := s.Ruling.Judge(d.facts)
	if s.Limited {
		out = s.Refusal(out)
	}
	result := hook.Result{Hook: s.Hook, Status: hook.StatusSuccess, Output: out, Err: err, Elapsed: time.Since(start), Report: hook.Report{By: basis.By}}
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
	if s.Hook.Once && consumes(&result) && !d.r.once.spend(onceKeyOf(s.Entry, d.in.Common().SessionID), d.id) {
		return hasRun(s.Entry)
	}
	return result
}

// onlyRules reports whether every hook that runs is a rule, whatever rules make
// of the input: none of them may rewrite, so no other hook is selected later.
func (d *dispatch) onlyRules() bool {
	for i := range d.slots {
		if s := &d.slots[i]; s.Run && (s.Ruling == nil || s.Hook.Rewrites) {
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
