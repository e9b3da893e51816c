package hook

import (
	"fmt"
	"time"
)

// Status is how one hook's run ended.
type Status string

const (
	StatusSuccess   Status = "success"   // it ran; its answer, if any, counts
	StatusBlocked   Status = "blocked"   // it ran and denied
	StatusFailed    Status = "failed"    // it should have run and did not do its work; see Failure
	StatusCancelled Status = "cancelled" // the caller gave up
	StatusSkipped   Status = "skipped"   // it did not run; Reason says why
	StatusAsync     Status = "async"     // it runs on in the background
)

// Result is what became of one hook that an event concerned.
type Result struct {
	Hook    *Hook
	Status  Status
	Failure Failure // set if failed, or skipped for a reason that a policy can turn into a block
	Reason  string  // why it failed or was skipped, or its own words
	Hint    string  // what to do about a failure
	Output  *Output // nil = none
	Err     error
	Report  Report
	Elapsed time.Duration // of the handler alone

	// Turn orders the runs of one dispatch, from 1: hooks that ran side by side
	// share a turn. 0 = the hook did not run.
	Turn int
	// Stale reports that the hook judged another input than the final one, or
	// that the final one does not concern it. It can refuse, but not approve.
	Stale bool
	// Earlier is the hook's answer to an input that was rewritten afterwards;
	// nil = the hook was asked once. The stricter of both answers counts, and no
	// approval of the earlier one.
	Earlier *Result
}

// Verdict is what the hook decided, its failure policy included: a failure of
// a hook with on_failure = "block" is Deny on an event that a policy can block.
// Of a hook that was asked twice it is the stricter answer; an Allow counts only
// if it was given for the final input.
func (r *Result) Verdict() Verdict {
	v := r.lastVerdict()
	for e := r.Earlier; e != nil; e = e.Earlier {
		if before := e.lastVerdict(); before > Allow {
			v = max(v, before)
		}
	}
	return v
}

// lastVerdict is Verdict without earlier answers.
func (r *Result) lastVerdict() Verdict {
	switch {
	case r.blocksByFailure():
		return Deny
	case r.Output == nil || !r.answered(), r.Stale && r.Output.Verdict == Allow:
		return NoOpinion
	}
	return r.Output.Verdict
}

// answered reports whether the hook ran to its end and its answer counts.
func (r *Result) answered() bool { return r.Status == StatusSuccess || r.Status == StatusBlocked }

// approves reports whether what the hook allows, grants and rewrites counts.
func (r *Result) approves() bool { return r.answered() && !r.Stale }

// failed reports whether the hook should have done its work and did not.
func (r *Result) failed() bool { return r.Status == StatusFailed || r.Failure != "" }

// verdictReason is the reason that goes with Verdict.
func (r *Result) verdictReason() string {
	for e := r; e != nil; e = e.Earlier {
		if e.lastVerdict() == r.Verdict() {
			return e.lastReason()
		}
	}
	return ""
}

func (r *Result) lastReason() string {
	switch {
	case r.blocksByFailure():
		why := "a timeout blocks " + string(r.Hook.Event)
		if r.Hook.OnFailure == FailureBlock {
			why = `its on_failure is "block"`
		}
		return fmt.Sprintf("hook %s failed (%s): %s; blocking because %s", r.Hook.ID, r.Failure, r.Reason, why)
	case r.Output.Reason == "" && r.Output.Verdict == Deny:
		return "blocked by hook " + r.Hook.ID
	}
	return r.Output.Reason
}

// blocksByFailure reports whether the hook's failure blocks: by its policy, or
// because its event blocks when time is up.
func (r *Result) blocksByFailure() bool {
	if r.Failure == "" || r.answered() || r.Status == StatusAsync || r.Hook.Async || r.Hook.AsyncRewake {
		return false
	}
	info := Info(r.Hook.Concerns())
	if info.Block == BlockNothing || info.NoPolicy {
		return false
	}
	return r.Hook.OnFailure == FailureBlock || info.OnTimeout && r.Failure == FailureTimeout
}
