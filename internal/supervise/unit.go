package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Process is a running process, or a session with a server.
type Process interface {
	// Done is closed when it has ended.
	Done() <-chan struct{}
	// Stop ends it, and returns when nothing of it is left. It is bounded, may be
	// called any number of times and by several at once.
	Stop()
}

// Kind is how the processes of a unit are run. W is what one is started from. Died,
// Fell, Same and Spawn are called under the unit's lock: they must not call the unit,
// and must not wait.
type Kind[P Process, W any] struct {
	Start func(W) (P, error)      // bounded by itself
	Same  func(have, want W) bool // whether a process started from have serves a call that wants want; nil = always
	Check func(P) error           // whether it works; bounded by itself; nil = it is never asked
	Died  func(P) error           // why it ended; it has, or failed its check
	Fell  func(P, error)          // it is stopped for an error of Check, or with the unit; nil = nothing
	Spawn func(func()) bool       // runs a goroutine that the user's own Close waits for; false = that was called
	Told  func()                  // the state changed; nil = nothing
	Idle  time.Duration           // without an answer for so long it is checked before a call; 0 = never
	Hold  bool                    // calls wait while it is checked
	Spacing
}

// ErrClosed is the error of a call when Spawn starts nothing any more.
var ErrClosed = errors.New("it is closed")

// StartError is the error of a call that waited for a start that failed.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the error of Start.
func (e *StartError) Unwrap() error { return e.Err }

// PauseError is the error of a call that comes between two starts.
type PauseError struct {
	Last   error         // why it is not running
	Failed int           // how often in a row
	Wait   time.Duration // until the next start
}

func (e *PauseError) Error() string {
	return fmt.Sprintf("it failed %d times in a row and is not started for another %v: %v", e.Failed, e.Wait, e.Last)
}

// Unwrap returns the last failure.
func (e *PauseError) Unwrap() error { return e.Last }

// Unit supervises one process: it is started when a call needs it, again after it
// died, and exchanged when calls want another one. It is safe for concurrent use.
type Unit[P Process, W any] struct {
	Kind[P, W]

	mu      sync.Mutex
	current *Held[P, W]              // takes calls; nil = none
	all     map[*Held[P, W]]struct{} // with processes that end with their last call
	attempt *attempt[W]              // a start under way
	pace    Pace
	of      W // what failed; another one begins again
	last    error
}

// Held is a process that serves a call, or several.
type Held[P Process, W any] struct {
	Process P
	From    W

	answered atomic.Int64 // when it last answered, as a time.Duration since epoch

	// Under the unit's mutex.
	calls   int
	retired bool          // no call comes any more
	worked  bool          // it answered a call
	probe   chan struct{} // closed when it was asked for its health; nil = it is not being asked
}

// attempt is a start that all calls wait for that need it.
type attempt[W any] struct {
	from W
	done chan struct{}
	err  error // once done is closed; nil = it runs, or is wanted no more
}

// epoch is what idleness is measured from. Its reading of the monotonic clock makes
// a wall clock that is set, or a machine that sleeps, no idle process.
var epoch = time.Now()

// New returns a unit without a process.
func New[P Process, W any](k Kind[P, W]) *Unit[P, W] {
	return &Unit[P, W]{Kind: k, all: make(map[*Held[P, W]]struct{})}
}

// Acquire returns a process that takes a call, which Release gives back. It waits
// for a start, or for a check, as long as ctx allows, and asks then what is wanted by
// now. Its error is that of again, the cause of ctx, a [*StartError], a [*PauseError]
// or [ErrClosed].
func (u *Unit[P, W]) Acquire(ctx context.Context, from W, again func(W) (W, error)) (*Held[P, W], error) {
	for {
		h, wait, err := u.next(from, again)
		if h != nil || err != nil {
			return h, err
		}
		select {
		case <-wait.done:
			if wait.err != nil {
				return nil, wait.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if from, err = again(from); err != nil {
			return nil, err
		}
	}
}

// next returns a process, or what to wait for, or why there is neither.
func (u *Unit[P, W]) next(from W, again func(W) (W, error)) (*Held[P, W], *attempt[W], error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current != nil && dead(u.current.Process) {
		u.bury(u.current)
	}
	if h := u.current; h != nil && u.same(h.From, from) {
		if u.Idle > 0 && time.Since(epoch)-time.Duration(h.answered.Load()) > u.Idle {
			u.check(h)
		}
		if h.probe != nil && u.Hold {
			return nil, &attempt[W]{done: h.probe}, nil
		}
		h.calls++
		return h, nil, nil
	}
	if a := u.attempt; a != nil {
		if u.same(a.from, from) {
			return nil, a, nil
		}
		return nil, &attempt[W]{done: a.done}, nil // one at a time
	}
	if err := u.paused(from); err != nil {
		return nil, nil, err
	}
	a := &attempt[W]{from: from, done: make(chan struct{})}
	if !u.Spawn(func() { u.begin(a, again) }) {
		return nil, nil, ErrClosed
	}
	u.attempt = a
	return nil, a, nil
}
