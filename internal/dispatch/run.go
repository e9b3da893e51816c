package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// HandlerGrace is how much longer than its time a handler may take to return;
// ending a process takes a grace of its own.
const HandlerGrace = 1500 * time.Millisecond

// attempt runs one hook behind its breaker and within its time, whether or not it
// runs once.
func (r *Dispatcher) attempt(ctx context.Context, e *selection.Entry, c *hook.Call) hook.Result {
	permit, ok := e.Breaker.Allow()
	if !ok {
		s := e.Breaker.Snapshot()
		return hook.Result{Hook: e.Hook, Status: hook.StatusFailed, Failure: hook.FailureBreakerOpen,
			Reason: fmt.Sprintf("it failed %d times in a row and is left alone", s.Failures),
			Hint:   fmt.Sprintf("it is tried again in %s; sooner with: tenterhook breaker reset %s", s.RetryAfter.Round(time.Second), e.Hook.ID)}
	}
	defer permit.Release()
	start := time.Now()
	timed, cancel := context.WithDeadlineCause(ctx, start.Add(e.Timeout), hook.ErrTimeout)
	defer cancel()
	a := r.ask(timed, e, c)
	result := classify(ctx, timed, e, start, a)
	elapsed, report := time.Since(start), a.report() // a hook that continues changes it later
	if a.out != nil && a.out.Handoff != nil && a.out.Handoff.Wait != nil {
		if later := r.Async.follow(e, a); result.Status == hook.StatusSuccess {
			result = later
		}
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
			e.Check.Invalidate()
		}
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

// answer is how a handler returned, or did not.
type answer struct {
	call *hook.Call // what the handler filled; nil = it hangs, and may still write there
	out  *hook.Output
	end  ending
}

func (a *answer) report() hook.Report {
	if a.call == nil {
		return hook.Report{}
	}
	return a.call.Report
}

// ending is what an error of a handler says. The methods of the error are
// foreign code too, so they are called where the handler is.
type ending struct {
	err      error // nil = it returned well
	text     string
	failed   *hook.Error
	timeout  bool // the hook's time limit
	deadline bool // some time limit
}

func endingOf(err error) ending {
	if err == nil {
		return ending{}
	}
	e := ending{err: err, timeout: errors.Is(err, hook.ErrTimeout), deadline: errors.Is(err, context.DeadlineExceeded)}
	if errors.As(err, &e.failed) {
		failed := *e.failed // panics on a nil one: the handler's fault
		e.failed = &failed
		return e
	}
	e.text = err.Error()
	e.err = &said{e.text, err}
	return e
}

// said is a foreign error with the text that it had.
type said struct {
	text string
	err  error
}

func (s *said) Error() string { return s.text }

func (s *said) Unwrap() error { return s.err }

// ask calls the hook's handler. The registry's own command handler needs no
// goroutine: it neither panics nor hangs.
func (r *Dispatcher) ask(ctx context.Context, e *selection.Entry, c *hook.Call) answer {
	if own, ok := e.Handler.(*command.Handler); ok && own == r.commands {
		out, err := own.Handle(ctx, c)
		return answer{c, out, endingOf(err)}
	}
	private := *c
	if _, ok := e.Handler.(*command.Handler); !ok { // that one verifies what it starts
		if err := verified(c); err != nil {
			return answer{c, nil, endingOf(err)}
		}
	}
	return call(ctx, e, &private, func() (*hook.Output, error) { return e.Handler.Handle(ctx, &private) })
}

// call calls foreign code of a hook, and returns soon after ctx ended
// whatever the code does. c is what the code fills.
func call(ctx context.Context, e *selection.Entry, c *hook.Call, fn func() (*hook.Output, error)) answer {
	var a answer
	err := e.Foreign.Call(ctx, HandlerGrace, func() {
		out, err := fn()
		a = answer{c, out, endingOf(err)}
	})
	var panicked *contain.PanicError
	switch {
	case err == nil && a.out != nil && a.out.Verdict > hook.Deny:
		return answer{c, nil, endingOf(hook.Errorf(hook.FailureOutput, "its verdict %d is none", a.out.Verdict))}
	case err == nil:
		return a
	case errors.Is(err, contain.ErrHung):
		return answer{end: endingOf(context.Cause(ctx))}
	case errors.Is(err, contain.ErrStuck):
		return answer{c, nil, endingOf(hook.Errorf(hook.FailureStart, "its handler %w", err))}
	}
	failed := hook.Errorf(hook.FailurePanic, "its handler %w", err)
	if errors.As(err, &panicked) {
		failed.Err = fmt.Errorf("%w\n%s", err, panicked.Stack)
	}
	return answer{c, nil, endingOf(failed)}
}

// classify makes a result of how a handler returned.
func classify(caller, timed context.Context, e *selection.Entry, start time.Time, a answer) hook.Result {
	result := hook.Result{Hook: e.Hook, Status: hook.StatusSuccess, Output: a.out, Err: a.end.err}
	switch end := &a.end; {
	case end.err == nil:
		if a.out != nil && a.out.Verdict == hook.Deny {
			result.Status = hook.StatusBlocked
		}
		if a.out != nil {
			result.Reason = a.out.Reason
		}
	case end.timeout, end.deadline && errors.Is(context.Cause(timed), hook.ErrTimeout):
		result.Status, result.Failure = hook.StatusFailed, hook.FailureTimeout
		result.Reason = fmt.Sprintf("no answer within %s", limitOf(timed, start))
		result.Hint = "raise its timeout, or make it faster"
	case end.failed != nil:
		result.Status, result.Failure, result.Reason, result.Hint = hook.StatusFailed, end.failed.Failure, end.failed.Reason, end.failed.Hint
	case caller.Err() != nil:
		result.Status, result.Reason = hook.StatusCancelled, "the caller gave up"
	default:
		result.Status, result.Failure, result.Reason = hook.StatusFailed, hook.FailureExit, end.text
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
