package registry

import (
	"context"
	"iter"

	"github.com/tenterhook/tenterhook/hook"
)

// Phase is where a hook is in its run.
type Phase string

const (
	PhaseStarted  Phase = "started"
	PhaseProgress Phase = "progress"
	PhaseFinished Phase = "finished"
	PhaseDone     Phase = "done" // all hooks have finished
)

// Progress is a step of a dispatch, as it happens.
type Progress struct {
	Phase   Phase
	Hook    *hook.Hook    // nil when done
	Line    string        // of a progress step
	Result  *hook.Result  // of a finished hook
	Outcome *hook.Outcome // when done: the same that Dispatch returns
	Err     error         // when done: why nothing could be decided
}

// Stream is Dispatch for a host that shows what happens. It yields steps in
// the order in which they happen, the outcome last. Breaking off the loop
// cancels the hooks that still run and waits for them.
func (r *Registry) Stream(ctx context.Context, in hook.Input) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		steps := make(chan Progress)
		go func() {
			defer close(steps)
			out, err := r.dispatch(ctx, in, func(p Progress) { steps <- p })
			steps <- Progress{Phase: PhaseDone, Outcome: out, Err: err}
		}()
		more := true
		for p := range steps {
			if more && !yield(p) {
				more = false
				cancel()
			}
		}
	}
}

// tell reports a step to whoever watches.
func (d *dispatch) tell(p Progress) {
	if d.observe != nil {
		d.observe(p)
	}
}
