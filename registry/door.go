package registry

import (
	"context"
	"iter"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dispatch"
)

// ErrClosed is returned by a registry that was closed.
var ErrClosed = dispatch.ErrClosed

// ErrNotInForce is returned by [Registry.RunPacked] for a pack that the settings do not
// name, or a hook that it does not have.
var ErrNotInForce = dispatch.ErrNotInForce

// NewRun names a dispatch, or what else a [hook.Recorder] gets: names sort by time, to
// the second, and two of the same second differ in 48 random bits.
func NewRun(at time.Time) string { return dispatch.NewRun(at) }

// Dispatch asks every hook that an input concerns, and merges their answers.
// A denial is an Outcome. The error is not nil only if nothing could be
// decided: the registry is closed or ctx ended. Many dispatches may run at
// once; each sees one set of hooks from beginning to end.
func (r *Registry) Dispatch(ctx context.Context, in hook.Input) (*hook.Outcome, error) {
	return r.dispatcher.Dispatch(ctx, in, nil)
}

// Phase is where a hook is in its run.
type Phase = hook.Phase

// The phases of a [Progress].
const (
	PhaseStarted  = hook.PhaseStarted
	PhaseProgress = hook.PhaseProgress
	PhaseFinished = hook.PhaseFinished
	PhaseDone     = hook.PhaseDone
)

// Progress is a step of a dispatch, as it happens.
type Progress = hook.Progress

// Stream is Dispatch for a host that shows what happens. It yields steps in
// the order in which they happen, the outcome last. A body that is slow delays
// no hook; when 256 progress lines wait for it, further lines are dropped.
// Leaving the loop, by break, return, panic or runtime.Goexit, cancels the hooks
// that still run and waits for them.
func (r *Registry) Stream(ctx context.Context, in hook.Input) iter.Seq[Progress] {
	return r.dispatcher.Stream(ctx, in)
}

// AsyncResult is what became of a hook that ran in the background.
type AsyncResult = hook.AsyncResult

// Async returns the results of background hooks as they come. It is closed
// with the registry. Results that are not read are dropped when 256 wait.
func (r *Registry) Async() <-chan AsyncResult { return r.dispatcher.Async.Channel() }

// Dropped counts the background hooks that found no place, and the results
// that were not read.
func (r *Registry) Dropped() int { return r.dispatcher.Async.Lost() }

// RunPacked runs one hook of a pack, that of a manifest in the pack, on an input that
// another machine handed over, and waits for it though it is one of the background.
// The settings must name the pack, by its digest, and everything that keeps
// a hook from running does: a hook that does not run is a skipped result.
func (r *Registry) RunPacked(ctx context.Context, digest, manifest string, in hook.Input) (hook.Result, error) {
	return r.dispatcher.RunPacked(ctx, digest, manifest, in)
}
