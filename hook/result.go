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
}

// Verdict is what the hook decided, its failure policy included: a failure of
// a hook with on_failure = "block" is Deny on an event that a policy can block.
func (r *Result) Verdict() Verdict {
	if r.blocksByPolicy() {
		return Deny
	}
	switch {
	case r.Output == nil, r.Status == StatusAsync, r.Status == StatusCancelled:
		return NoOpinion
	case r.Status == StatusFailed, r.Status == StatusSkipped:
		return NoOpinion
	}
	return r.Output.Verdict
}

// verdictReason is the reason that goes with Verdict.
func (r *Result) verdictReason() string {
	if r.blocksByPolicy() {
		return fmt.Sprintf("hook %s failed (%s): %s; blocking because on_failure is %q",
			r.Hook.ID, r.Failure, r.Reason, FailureBlock)
	}
	if r.Output != nil && r.Output.Reason != "" {
		return r.Output.Reason
	}
	if r.Output != nil && r.Output.Verdict == Deny {
		return "blocked by hook " + r.Hook.ID
	}
	return ""
}

func (r *Result) blocksByPolicy() bool {
	if r.Failure == "" || r.Hook == nil || r.Hook.OnFailure != FailureBlock || r.Hook.Async || r.Hook.AsyncRewake {
		return false
	}
	if r.Status != StatusFailed && r.Status != StatusSkipped {
		return false
	}
	info := Info(r.Hook.Event)
	return info.Block != BlockNothing && !info.NoPolicy
}
