package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/selection"
)

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
		if d.author == nil || !d.anyDue() { // after a rewrite that cannot be encoded no hook is due
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
	case !s.Run:
		return false
	case s.judged == nil:
		return true
	case !s.Concerned || hook.Info(d.in.Event()).Fields.Has(hook.FieldToolOutput):
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
		if !d.r.opts.Serial && !s.Hook.Rewrites || s.result.Turn > before || !d.due(s) {
			continue
		}
		if selection.Background(s.Hook) {
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
		case selection.Background(s.Hook):
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
		s.result = d.r.Async.start(s.Entry, c)
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
		if s := &d.slots[i]; s.Run && s.result.Status == "" {
			s.result = hook.Result{Hook: s.Hook, Status: hook.StatusFailed, Failure: hook.FailureStart,
				Reason: "the event cannot be judged: " + err.Error(), Err: err}
		}
	}
}

// runTogether runs hooks side by side, the last one here: a single hook costs
// no goroutine, and rules cost none at all.
func (d *dispatch) runTogether(ctx context.Context, slots []*slot) {
	var others []*slot
	for _, s := range slots {
		if s.Ruling != nil {
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
		wg.Go(func() {
			contain.Roomy[[12 << 10]byte](0)
			d.runOne(ctx, s)
		})
	}
	d.runOne(ctx, others[len(others)-1])
	wg.Wait()
}

// runOne runs one hook on the input as it is now.
func (d *dispatch) runOne(ctx context.Context, s *slot) {
	s.judged, s.unused = d.wire, false
	d.tell(hook.Progress{Hook: s.Hook, Phase: hook.PhaseStarted})
	result := d.ask(ctx, s)
	result.Turn = d.turn
	s.answer(result)
	d.tell(hook.Progress{Hook: s.Hook, Phase: hook.PhaseFinished, Result: &s.result})
}
