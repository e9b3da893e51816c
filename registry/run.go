package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/hook"
)

// handlerGrace is how much longer than its time a handler may take to return;
// ending a process takes a grace of its own.
const handlerGrace = 1500 * time.Millisecond

// run runs one hook behind its breaker and within its time.
func (r *Registry) run(ctx context.Context, e *entry, c *hook.Call) hook.Result {
	permit, ok := e.breaker.Allow()
	if !ok {
		s := e.breaker.Snapshot()
		return hook.Result{Hook: e.hook, Status: hook.StatusFailed, Failure: hook.FailureBreakerOpen,
			Reason: fmt.Sprintf("it failed %d times in a row and is left alone", s.Failures),
			Hint:   fmt.Sprintf("it is tried again in %s", s.RetryAfter.Round(time.Second))}
	}
	defer permit.Release()
	start := time.Now()
	timed, cancel := context.WithDeadlineCause(ctx, start.Add(e.timeout), hook.ErrTimeout)
	defer cancel()
	var out *hook.Output
	var err error
	if e.hook.Kind == hook.KindCommand { // it verifies what it starts
		out, err = e.handler.Handle(timed, c)
	} else if err = verified(c); err == nil {
		out, err = contain(timed, e.handler, c)
	}
	result := classify(ctx, timed, e, start, out, err)
	elapsed, report := time.Since(start), c.Report // a hook that goes on will change it
	if result.Status == hook.StatusSuccess && out != nil && out.Handoff != nil && out.Handoff.Wait != nil {
		result = r.async.follow(e, c, out.Handoff.Wait)
	}
	result.Elapsed, result.Report = elapsed, report
	switch result.Status {
	case hook.StatusSuccess, hook.StatusBlocked, hook.StatusAsync:
		permit.Done(breaker.Success)
	case hook.StatusFailed:
		if result.Failure == hook.FailureUntrusted { // it did not run
			break
		}
		permit.Done(breaker.Failure)
		if result.Failure == hook.FailureStart {
			e.check.Invalidate()
		}
	}
	if e.hook.Once && (result.Status == hook.StatusSuccess || result.Status == hook.StatusAsync) {
		r.spend(e, c.Input.Common().SessionID)
	}
	return result
}

// verified returns an error if a hook that starts no program lost its approval
// since it was selected.
func verified(c *hook.Call) error {
	if c.Verify == nil {
		return nil
	}
	return c.Verify(&hook.Program{})
}

// classify makes a result of how a handler returned.
func classify(caller, timed context.Context, e *entry, start time.Time, out *hook.Output, err error) hook.Result {
	result := hook.Result{Hook: e.hook, Status: hook.StatusSuccess, Output: out, Err: err}
	var failed *hook.Error
	switch {
	case err == nil:
		if out != nil && out.Verdict == hook.Deny {
			result.Status = hook.StatusBlocked
		}
		if out != nil {
			result.Reason = out.Reason
		}
	case errors.Is(context.Cause(timed), hook.ErrTimeout) && errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, hook.ErrTimeout):
		result.Status, result.Failure = hook.StatusFailed, hook.FailureTimeout
		result.Reason = fmt.Sprintf("no answer within %s", limitOf(timed, start))
		result.Hint = "raise its timeout, or make it faster"
	case errors.As(err, &failed):
		result.Status, result.Failure, result.Reason, result.Hint = hook.StatusFailed, failed.Failure, failed.Reason, failed.Hint
	case caller.Err() != nil:
		result.Status, result.Reason = hook.StatusCancelled, "the caller gave up"
	default:
		result.Status, result.Failure, result.Reason = hook.StatusFailed, hook.FailureExit, err.Error()
	}
	return result
}

// limitOf is how much time a run that ran out of it had.
func limitOf(timed context.Context, start time.Time) time.Duration {
	if deadline, ok := timed.Deadline(); ok {
		return deadline.Sub(start).Round(time.Millisecond)
	}
	return time.Since(start).Round(time.Millisecond)
}

// contain runs a handler that may hang, panic or call Goexit in a goroutine of
// its own, and returns soon after ctx ended whatever it does.
func contain(ctx context.Context, h hook.Handler, c *hook.Call) (*hook.Output, error) {
	type answer struct {
		out    *hook.Output
		err    error
		report hook.Report
	}
	done := make(chan answer, 1)
	private := *c
	go func() {
		a := answer{err: &hook.Error{Failure: hook.FailurePanic, Reason: "its handler ended the goroutine (runtime.Goexit)"}}
		defer func() {
			if p := recover(); p != nil {
				a.out = nil
				a.err = &hook.Error{Failure: hook.FailurePanic, Reason: fmt.Sprintf("its handler panicked: %v", p),
					Err: fmt.Errorf("%v\n%s", p, debug.Stack())}
			}
			a.report = private.Report
			done <- a
		}()
		a.out, a.err = h.Handle(ctx, &private)
	}()
	select {
	case a := <-done:
		c.Report = a.report
		return a.out, a.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(handlerGrace)
	defer grace.Stop()
	select {
	case a := <-done:
		c.Report = a.report
		return a.out, a.err
	case <-grace.C:
		return nil, context.Cause(ctx)
	}
}
