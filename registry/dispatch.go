package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/handler/rule"
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
	view    view
	in      hook.Input // as the last rewrite left it
	base    hook.Base
	observe func(Progress) // nil = no watcher
	nested  bool           // a hook of another dispatch waits for this one
	id      uint64         // tells dispatches apart

	slots  []slot   // one for each hook that a version of the input concerned, in order
	room   [4]*slot // for the hooks that run side by side
	wire   []byte   // in as JSON
	turn   int      // of the hooks that run now
	author *entry   // whose rewrite in is; nil = in is as the host gave it

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
	pick
	result  hook.Result
	judged  []byte // the payload that it answered to last, or that it made; nil = it was not asked
	rewrote bool   // it has rewritten the input, which it may do once
	unused  bool   // what it answered is about a rewrite of its own that does not count
}

func (r *Registry) dispatch(ctx context.Context, in hook.Input, observe func(Progress)) (out *hook.Outcome, err error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	self, nested, err := r.nest(ctx)
	if err != nil {
		return nil, fmt.Errorf("dispatch %s: %w", in.Event(), err)
	}
	defer self.end()
	if err := r.keepFleet(ctx); err != nil {
		return nil, fmt.Errorf("dispatch %s: the fleet's policy: %w", in.Event(), err)
	}
	r.stops.note(in)
	d := &dispatch{r: r, view: r.view(callerOf(ctx)), in: in, base: r.fillBase(in.Common()), observe: observe, nested: nested, id: self.id}
	d.take(r.pick(d.view, in, nil))
	if len(d.slots) > 0 {
		if r.opts.Recorder != nil {
			d.began = time.Now()
			d.run = NewRun(d.began)
			defer func() {
				if !d.recorded {
					d.record(callerOf(ctx), out, err)
				}
			}()
		}
		if d.onlyRules() { // they wait for nothing, and nothing can overtake them
			d.runAll(ctx)
		} else {
			unlock, err := r.calls.lock(ctx, in, nested || d.view.from.below())
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
	if r.done.Err() != nil {
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
func (d *dispatch) take(picked []pick) {
	d.slots = make([]slot, 0, len(picked))
	for _, p := range picked {
		if p.concerned {
			d.slots = append(d.slots, slot{pick: p, result: p.skipped(d.in.Event())})
		}
	}
}

// skipped is the result of a hook that does not run, and the zero Result of one
// that does.
func (p *pick) skipped(event hook.Event) hook.Result {
	if p.run {
		return hook.Result{}
	}
	h := p.hook
	if h.Event == "" { // it could be about any event, and its failure is about this one
		own := *h
		own.Event, h = event, &own
	}
	reason := p.detail
	if p.failure == "" { // else that says why in a word
		reason = p.why + ": " + p.detail
	}
	return hook.Result{Hook: h, Status: hook.StatusSkipped, Failure: p.failure, Reason: reason, Hint: p.hint}
}

// background reports whether nothing waits for the hook.
func background(h *hook.Hook) bool { return h.Async || h.AsyncRewake }

// maxRounds bounds how often hooks are asked about what other hooks made of the
// input. A call whose input does not settle within it is denied.
const maxRounds = 4

// runAll asks every hook. A round runs declared rewriters one after the other,
// then all others side by side. If one of those rewrote the input, another round
// asks every hook that the new input concerns and that has not judged it.
func (d *dispatch) runAll(ctx context.Context) {
	if !d.encode() {
		return
	}
	for round := 1; ; round++ {
		d.runInSequence(ctx)
		if d.unjudged != nil {
			return
		}
		group := d.together()
		d.runTogether(ctx, group)
		if d.refused() || ctx.Err() != nil { // what was denied stays denied
			return
		}
		if len(group) > 0 {
			d.adopt(ctx)
		}
		if d.author == nil || d.unjudged != nil || !d.anyDue() {
			return
		}
		if round == maxRounds {
			d.giveUp(fmt.Errorf("hooks rewrote its input again and again, and after %d rounds some had not judged it", maxRounds))
			return
		}
	}
}

// due reports whether a hook is to be asked about the input as it is: each is
// asked once, and again whenever the input concerns it and others rewrote it. An
// output that was replaced is not judged again: its tool has run.
func (d *dispatch) due(s *slot) bool {
	switch {
	case !s.run:
		return false
	case s.judged == nil:
		return true
	case !s.concerned || hook.Info(d.in.Event()).Fields.Has(hook.FieldToolOutput):
		return false
	}
	return !bytes.Equal(s.judged, d.wire)
}

func (d *dispatch) anyDue() bool {
	for i := range d.slots {
		if d.due(&d.slots[i]) {
			return true
		}
	}
	return false
}

// runInSequence runs declared rewriters, or in a serial registry all hooks, one
// after the other, each on the input that the last one left. Each runs once a
// round.
func (d *dispatch) runInSequence(ctx context.Context) {
	before := d.turn
	for i := 0; i < len(d.slots); i++ {
		s := &d.slots[i]
		if !d.r.opts.Serial && !s.hook.Rewrites || s.result.Turn > before || !d.due(s) {
			continue
		}
		if background(s.hook) {
			d.start(s)
			continue
		}
		d.turn++
		d.runOne(ctx, s)
		if !d.adopt(ctx) {
			continue
		}
		if d.unjudged != nil {
			return
		}
		i = -1 // other hooks may be concerned now, some of them earlier in order
	}
}

// together starts the background hooks that are due, and returns all others.
func (d *dispatch) together() []*slot {
	if d.r.opts.Serial {
		return nil
	}
	due := d.room[:0]
	for i := range d.slots {
		switch s := &d.slots[i]; {
		case !d.due(s):
		case background(s.hook):
			d.start(s)
		default:
			due = append(due, s)
		}
	}
	if len(due) > 0 {
		d.turn++
	}
	return due
}

// start hands a hook to the background.
func (d *dispatch) start(s *slot) {
	s.judged = d.wire
	if c, failed := d.call(s); failed == nil {
		s.result = d.r.async.start(s.entry, c)
	} else {
		s.result = *failed
	}
}

// encode makes the payload of the input as it is now. If that fails, no hook can
// judge it.
func (d *dispatch) encode() bool {
	wire, err := hook.Encode(d.in, d.base)
	if err != nil {
		d.giveUp(err)
		return false
	}
	d.facts = nil
	if d.wire = wire; d.asked == nil {
		d.asked = wire
	}
	return true
}

// giveUp ends the dispatch: every hook that was not asked has failed, and what
// can be blocked is.
func (d *dispatch) giveUp(err error) {
	d.unjudged = err
	for i := range d.slots {
		if s := &d.slots[i]; s.run && s.result.Status == "" {
			s.result = hook.Result{Hook: s.hook, Status: hook.StatusFailed, Failure: hook.FailureStart,
				Reason: "the event cannot be judged: " + err.Error(), Err: err}
		}
	}
}

// runTogether runs hooks side by side, the last one here: a single hook costs
// no goroutine, and rules cost none at all.
func (d *dispatch) runTogether(ctx context.Context, slots []*slot) {
	var others []*slot
	for _, s := range slots {
		if s.ruling != nil {
			d.runOne(ctx, s)
		} else {
			others = append(others, s)
		}
	}
	if len(others) == 0 {
		return
	}
	var wg sync.WaitGroup
	for _, s := range others[:len(others)-1] {
		wg.Go(func() { d.runOne(ctx, s) })
	}
	d.runOne(ctx, others[len(others)-1])
	wg.Wait()
}

// runOne runs one hook on the input as it is now.
func (d *dispatch) runOne(ctx context.Context, s *slot) {
	s.judged, s.unused = d.wire, false
	d.tell(Progress{Hook: s.hook, Phase: PhaseStarted})
	result := d.ask(ctx, s)
	result.Turn = d.turn
	s.answer(result)
	d.tell(Progress{Hook: s.hook, Phase: PhaseFinished, Result: &s.result})
}

// ask runs one hook, a rule at once and any other where there is room for it.
func (d *dispatch) ask(ctx context.Context, s *slot) hook.Result {
	if s.ruling != nil {
		return d.judge(s)
	}
	if s.hook.Once {
		return d.askOnce(ctx, s)
	}
	return d.askPlaced(ctx, s)
}

// askOnce runs a hook that runs once a session. It waits for a run of it in
// another dispatch, since that may fail, and takes no place for as long.
func (d *dispatch) askOnce(ctx context.Context, s *slot) hook.Result {
	claim, err := d.r.once.claim(ctx, s.onceKey(d.in.Common().SessionID), true)
	switch {
	case err != nil:
		return gaveUp(s.hook, err)
	case claim == nil:
		return hasRun(s.entry)
	}
	ok := false
	defer func() { claim.settle(ok) }()
	result := d.askPlaced(claim.within(ctx), s)
	ok = consumes(&result)
	return result
}

func gaveUp(h *hook.Hook, err error) hook.Result {
	return hook.Result{Hook: h, Status: hook.StatusCancelled, Reason: "the caller gave up", Err: err}
}

// askPlaced runs a hook where there is room for it.
func (d *dispatch) askPlaced(ctx context.Context, s *slot) hook.Result {
	leave, err := d.place(ctx)
	if err != nil {
		return gaveUp(s.hook, err)
	}
	defer leave()
	c, failed := d.call(s)
	if failed != nil {
		return *failed
	}
	defer d.listen(c, s.hook)()
	return d.r.attempt(ctx, s.entry, c)
}

// answer takes a result. What the hook answered before remains as far as it
// refuses.
func (s *slot) answer(r hook.Result) {
	if s.result.Status != "" {
		before := s.result
		before.Stale, r.Elapsed, r.Earlier = true, r.Elapsed+before.Elapsed, &before
	}
	s.result = r
}

// place waits for a place among the hooks that run side by side. A nested
// dispatch takes none: the hook that waits for it has one.
func (d *dispatch) place(ctx context.Context) (leave func(), err error) {
	if d.nested {
		return func() {}, nil
	}
	select {
	case d.r.parallel <- struct{}{}:
		return func() { <-d.r.parallel }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// call is what the hook's handler gets. It fails where the bytes that were
// approved cannot be had.
func (d *dispatch) call(s *slot) (*hook.Call, *hook.Result) {
	h, err := d.r.sealed(s.entry, s.seal)
	if err != nil {
		return nil, &hook.Result{Hook: s.hook, Status: hook.StatusFailed, Failure: hook.FailureUntrusted,
			Reason: "what was approved cannot be run: " + err.Error(), Err: err}
	}
	c := &hook.Call{Hook: h, Run: d.run, Input: d.in, Payload: d.wire, ProjectDir: d.r.opts.Workspace, Dir: d.base.Cwd, Verify: s.definition.verify()}
	if d.view.from != nil {
		c.Env, c.Umask, c.Within = d.view.from.Env, d.view.from.Umask, d.view.from.Within
	}
	return c, nil
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
