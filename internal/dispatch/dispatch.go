package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// ErrClosed is returned by a registry that was closed.
var ErrClosed = errors.New("the hook registry is closed")

// dispatch is one event on its way through its hooks.
type dispatch struct {
	r       *Dispatcher
	view    selection.View
	in      hook.Input // as the last rewrite left it
	base    hook.Base
	observe func(hook.Progress) // nil = no watcher
	nested  bool                // a hook of another dispatch waits for this one
	id      uint64              // tells dispatches apart

	slots  []slot           // one for each hook that a version of the input concerned, in order
	room   [4]*slot         // for the hooks that run side by side
	wire   []byte           // in as JSON
	turn   int              // of the hooks that run now
	author *selection.Entry // whose rewrite in is; nil = in is as the host gave it

	run   string    // its name for the recorder; "" = there is none
	began time.Time // where it has a name
	asked []byte    // the first wire

	recorded bool         // what was decided is written down
	unkept   *hook.Result // stands for a record that could not be written; nil = none does

	unjudged error       // why hooks cannot judge in
	withheld error       // why the tool's output must not be shown
	facts    *rule.Facts // of in; nil = no rule asked yet
	notes    []hook.Diagnostic
}

// slot is a hook's place in the outcome. The concerned of its pick is about the
// input as it is now.
type slot struct {
	selection.Pick
	result  hook.Result
	judged  []byte // the payload that it answered to last, or that it made; nil = it was not asked
	rewrote bool   // it has rewritten the input, which it may do once
	unused  bool   // what it answered is about a rewrite of its own that does not count
}

// Dispatch asks every hook that an input concerns.
func (r *Dispatcher) Dispatch(ctx context.Context, in hook.Input, observe func(hook.Progress)) (out *hook.Outcome, err error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	self, nested, err := r.nest(ctx)
	if err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	defer self.end()
	if err := r.opts.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: the fleet's policy: %w", in.Event(), err)
	}
	r.stops.note(in)
	d := &dispatch{r: r, view: r.hooks.View(selection.CallerOf(ctx)), in: in, base: r.hooks.FillBase(in.Common()), observe: observe, nested: nested, id: self.id}
	d.take(r.hooks.Pick(d.view, in, nil))
	if len(d.slots) > 0 {
		if r.opts.Recorder != nil {
			d.began = time.Now()
			d.run = NewRun(d.began)
			defer func() {
				if !d.recorded {
					d.record(selection.CallerOf(ctx), out, err)
				}
			}()
		}
		if d.onlyRules() { // they wait for nothing, and nothing can overtake them
			d.runAll(ctx)
		} else {
			unlock, err := r.calls.lock(ctx, in, nested || d.view.From.Below())
			if err != nil {
				return nil, err
			}
			defer unlock()
			ctx, cancel := r.dispatchContext(self.in(ctx), in, d.slots)
			defer cancel()
			d.runAll(ctx)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	if r.Done.Err() != nil {
		return nil, ErrClosed // under way when the registry was closed
	}
	out = r.stops.decide(in, d.decideAudited(ctx))
	out.Run = d.run
	if in.Event() == hook.EventSessionEnd {
		r.EndSession(in.Common().SessionID)
	}
	r.log(ctx, out)
	return out, nil
}

// take gives each concerned hook its slot, and those without a run their
// result.
func (d *dispatch) take(picked []selection.Pick) {
	d.slots = make([]slot, 0, len(picked))
	for _, p := range picked {
		if p.Concerned {
			d.slots = append(d.slots, slot{Pick: p, result: skipped(&p, d.in.Event())})
		}
	}
}

// skipped is the result of a hook that does not run, and the zero Result of one
// that does.
func skipped(p *selection.Pick, event hook.Event) hook.Result {
	if p.Run {
		return hook.Result{}
	}
	h := p.Hook
	if h.Event == "" { // it could be about any event, and its failure is about this one
		own := *h
		own.Event, h = event, &own
	}
	reason := p.Detail
	if p.Failure == "" { // else that says why in a word
		reason = p.Why + ": " + p.Detail
	}
	return hook.Result{Hook: h, Status: hook.StatusSkipped, Failure: p.Failure, Reason: reason, Hint: p.Hint}
}

// decide makes the outcome of the results.
func (d *dispatch) decide(stopLimit, stopsBlocked int) *hook.Outcome {
	results := make([]hook.Result, 0, len(d.slots))
	for i := range d.slots {
		s := &d.slots[i]
		if s.unconcerned() {
			continue
		}
		if d.author != nil {
			s.result.Stale = d.stale(s)
		}
		results = append(results, s.result)
	}
	if d.unkept != nil {
		results = append(results, *d.unkept)
	}
	return hook.Decide(d.in, results, hook.Facts{Unjudged: d.unjudged, Withheld: d.withheld, Schema: d.schemaError(),
		StopLimit: stopLimit, StopsBlocked: stopsBlocked, Notes: d.notes})
}

func (d *dispatch) note(sev hook.Severity, code string, h *hook.Hook, message, hint string) {
	d.notes = append(d.notes, hook.Diagnostic{Severity: sev, Code: code, Hook: h.ID,
		Path: h.Source.Path, Line: h.Source.Line, Message: message, Hint: hint})
}

// dispatchContext ends with the caller's context, with the registry, and for
// SessionEnd with the budget that its hooks share.
func (r *Dispatcher) dispatchContext(ctx context.Context, in hook.Input, slots []slot) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.Done, func() { cancel(ErrClosed) })
	end := func() { stop(); cancel(nil) }
	if in.Event() != hook.EventSessionEnd {
		return ctx, end
	}
	budget := hook.SessionEndBudget
	for i := range slots {
		budget = max(budget, min(slots[i].Hook.Timeout, hook.SessionEndBudgetMax))
	}
	ctx, cancelBudget := context.WithTimeoutCause(ctx, budget, hook.ErrTimeout)
	return ctx, func() { cancelBudget(); end() }
}
