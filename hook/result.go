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
	if r.blocksByFailure() {
		return Deny
	}
	if r.Output == nil || !r.answered() {
		return NoOpinion
	}
	return r.Output.Verdict
}

// answered reports whether the hook ran to its end and its answer counts.
func (r *Result) answered() bool { return r.Status == StatusSuccess || r.Status == StatusBlocked }

// verdictReason is the reason that goes with Verdict.
func (r *Result) verdictReason() string {
	switch {
	case r.blocksByFailure():
		why := "a timeout blocks " + string(r.Hook.Event)
		if r.Hook.OnFailure == FailureBlock {
			why = `its on_failure is "block"`
		}
		return fmt.Sprintf("hook %s failed (%s): %s; blocking because %s", r.Hook.ID, r.Failure, r.Reason, why)
	case r.Output == nil:
		return ""
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
