package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// ErrClosed is returned by a registry that was closed.
var ErrClosed = errors.New("the hook registry is closed")

// Dispatch asks every hook that an input concerns, and merges their answers.
// A denial is an Outcome. The error is not nil only if nothing could be
// decided: the registry is closed or ctx ended. Many dispatches may run at
// once; each sees one set of hooks from beginning to end.
func (r *Registry) Dispatch(ctx context.Context, in hook.Input) (*hook.Outcome, error) {
	return r.dispatch(ctx, in, nil)
}

// dispatch is one event on its way through its hooks.
type dispatch struct {
	r       *Registry
	in      hook.Input // as the last rewrite left it
	base    hook.Base
	from    *Caller        // nil = the host itself
	observe func(Progress) // nil = nobody watches

	slots  []slot // one for each hook that the input concerns, in order
	wire   []byte // in as JSON
	broken error  // why it can't be
	notes  []hook.Diagnostic
}

// slot is a hook's place in the outcome.
type slot struct {
	pick
	result hook.Result
	judged []byte // the payload that it answered to
}

func (r *Registry) dispatch(ctx context.Context, in hook.Input, observe func(Progress)) (*hook.Outcome, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	r.stops.note(in)
	from := callerOf(ctx)
	_, picked := r.pick(in, from)
	d := &dispatch{r: r, in: in, base: r.fillBase(in.Common()), from: from, observe: observe}
	d.take(picked)
	if len(d.slots) > 0 {
		unlock, err := r.calls.lock(ctx, in)
		if err != nil {
			return nil, err
		}
		defer unlock()
		ctx, cancel := r.dispatchContext(ctx, in, d.slots)
		defer cancel()
		d.runAll(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	if r.done.Err() != nil {
		return nil, ErrClosed // under way when the registry was closed
	}
	out := d.merge()
	r.stops.guard(in, out)
	if in.Event() == hook.EventSessionEnd {
		r.EndSession(in.Common().SessionID)
	}
	r.log(ctx, out)
	return out, nil
}

// take gives each concerned hook its slot, and those that do not run their
// result.
func (d *dispatch) take(picked picked) {
	d.slots = make([]slot, 0, len(picked.hooks))
	for _, p := range picked.hooks {
		if !p.concerned {
			continue
		}
		s := slot{pick: p}
		if !p.run {
			s.result = hook.Result{Hook: p.hook, Status: hook.StatusSkipped, Failure: p.failure,
				Reason: p.why + ": " + p.detail, Hint: p.hint}
		}
		d.slots = append(d.slots, s)
	}
}

// runAll runs declared rewriters one after the other, then all others side by
// side, then once more whoever judged other bytes than the final ones.
func (d *dispatch) runAll(ctx context.Context) {
	if !d.encode() {
		return
	}
	var together []*slot
	for i := range d.slots {
		s := &d.slots[i]
		switch {
		case !s.run:
		case s.hook.Async || s.hook.AsyncRewake:
			if c, failed := d.call(s); failed == nil {
				s.result = d.r.async.start(s.entry, c)
			} else {
				s.result = *failed
			}
		case d.r.opts.Serial || s.hook.Rewrites:
			d.runOne(ctx, s)
			if d.adopt(s) && !d.encode() {
				return
			}
		default:
			together = append(together, s)
		}
	}
	d.runTogether(ctx, together)
	d.settleRewrites(ctx)
}

// encode makes the payload of the input as it is now. Where it can't, every
// hook that was to run has failed, and what can be blocked is.
func (d *dispatch) encode() bool {
	d.wire, d.broken = hook.Encode(d.in, d.base)
	if d.broken == nil {
		return true
	}
	for i := range d.slots {
		if s := &d.slots[i]; s.run && s.result.Status == "" {
			s.result = hook.Result{Hook: s.hook, Status: hook.StatusFailed, Failure: hook.FailureStart,
				Reason: "it cannot be told of the event: " + d.broken.Error(), Err: d.broken}
		}
	}
	return false
}

// runTogether runs hooks side by side, the last one here: a single hook costs
// no goroutine.
func (d *dispatch) runTogether(ctx context.Context, slots []*slot) {
	if len(slots) == 0 {
		return
	}
	var wg sync.WaitGroup
	for _, s := range slots[:len(slots)-1] {
		wg.Go(func() { d.runOne(ctx, s) })
	}
	d.runOne(ctx, slots[len(slots)-1])
	wg.Wait()
}

// runOne runs one hook on the input as it is now.
func (d *dispatch) runOne(ctx context.Context, s *slot) {
	s.judged = d.wire
	d.tell(Progress{Hook: s.hook, Phase: PhaseStarted})
	select {
	case d.r.parallel <- struct{}{}:
		if c, failed := d.call(s); failed == nil {
			s.result = d.r.run(ctx, s.entry, c)
		} else {
			s.result = *failed
		}
		<-d.r.parallel
	case <-ctx.Done():
		s.result = hook.Result{Hook: s.hook, Status: hook.StatusCancelled, Reason: "the caller gave up", Err: context.Cause(ctx)}
	}
	d.tell(Progress{Hook: s.hook, Phase: PhaseFinished, Result: &s.result})
}

// call is what the hook's handler gets. It fails where the bytes that were
// approved cannot be had.
func (d *dispatch) call(s *slot) (*hook.Call, *hook.Result) {
	h, err := d.r.sealed(s.entry, s.seal)
	if err != nil {
		return nil, &hook.Result{Hook: s.hook, Status: hook.StatusFailed, Failure: hook.FailureUntrusted,
			Reason: "what was approved cannot be run: " + err.Error(), Err: err}
	}
	c := &hook.Call{Hook: h, Input: d.in, Payload: d.wire, ProjectDir: d.r.opts.Workspace, Dir: d.base.Cwd}
	if d.from != nil {
		c.Env, c.Umask = d.from.Env, d.from.Umask
	}
	if d.observe != nil {
		c.Progress = func(line string) { d.tell(Progress{Hook: s.hook, Phase: PhaseProgress, Line: line}) }
	}
	return c, nil
}

// merge makes the outcome, and holds it against what hooks cannot know: the
// tool's schema, and an event that cannot be blocked after all.
func (d *dispatch) merge() *hook.Outcome {
	results := make([]hook.Result, len(d.slots))
	for i := range d.slots {
		results[i] = d.slots[i].result
	}
	ev, info := d.in.Event(), hook.Info(d.in.Event())
	out := hook.Merge(ev, results)
	out.Diagnostics = append(out.Diagnostics, d.notes...)
	if out.UpdatedInput != nil {
		out.UpdatedInput = d.toolInput()
	}
	d.checkSchema(out)
	if d.broken != nil && len(results) > 0 && info.Block == hook.BlockAction {
		out.Verdict, out.Reason, out.UpdatedInput = hook.Deny, "no hook can judge the event: "+d.broken.Error(), nil
	}
	if out.Verdict == hook.Deny && !info.CanBlock(d.in) {
		out.Verdict, out.Reason = hook.NoOpinion, ""
		out.Diagnostics = append(out.Diagnostics, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "cannot_block",
			Message: fmt.Sprintf("a hook blocks this %s, which cannot be blocked", ev)})
	}
	return out
}

func (d *dispatch) note(sev hook.Severity, code string, h *hook.Hook, message, hint string) {
	d.notes = append(d.notes, hook.Diagnostic{Severity: sev, Code: code, Hook: h.ID,
		Path: h.Source.Path, Line: h.Source.Line, Message: message, Hint: hint})
}

// dispatchContext ends with the caller's context, with the registry, and for
// SessionEnd with the budget that its hooks share.
func (r *Registry) dispatchContext(ctx context.Context, in hook.Input, slots []slot) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.done, func() { cancel(ErrClosed) })
	end := func() { stop(); cancel(nil) }
	if in.Event() != hook.EventSessionEnd {
		return ctx, end
	}
	budget := hook.SessionEndBudget
	for i := range slots {
		budget = max(budget, min(slots[i].hook.Timeout, hook.SessionEndBudgetMax))
	}
	ctx, cancelBudget := context.WithTimeoutCause(ctx, budget, hook.ErrTimeout)
	return ctx, func() { cancelBudget(); end() }
}

// fillBase adds what the host left out and the registry knows.
func (r *Registry) fillBase(base hook.Base) hook.Base {
	if base.Cwd == "" {
		base.Cwd = r.opts.Workspace
	}
	return base
}

func (r *Registry) log(ctx context.Context, out *hook.Outcome) {
	for i := range out.Results {
		res := &out.Results[i]
		level := slog.LevelDebug
		if res.Failure != "" {
			level = slog.LevelWarn
		}
		if !r.opts.Logger.Enabled(ctx, level) {
			continue
		}
		r.opts.Logger.LogAttrs(ctx, level, "hook", slog.String("hook", res.Hook.ID), slog.String("event", string(out.Event)),
			slog.String("kind", string(res.Hook.Kind)), slog.String("scope", res.Hook.Scope.String()),
			slog.String("source", res.Hook.Source.Path), slog.String("verdict", res.Verdict().String()),
			slog.String("status", string(res.Status)), slog.String("failure", string(res.Failure)),
			slog.Duration("elapsed", res.Elapsed))
	}
}
