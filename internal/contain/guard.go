package contain

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// MaxHung is how many calls of one [Guard] may hang at once. Further calls fail
// at once, so that a function that never returns costs a bounded number of
// goroutines.
const MaxHung = 64

// Errors of a call that did not return. A panic is a [*PanicError].
var (
	// ErrGoexit is a function that ended its goroutine.
	ErrGoexit = errors.New("ended its goroutine (runtime.Goexit)")
	// ErrHung is a function that did not return in time. It still runs: the
	// caller must not read what the function writes.
	ErrHung = errors.New("did not return in time")
	// ErrStuck is a function that was not called, because MaxHung earlier calls
	// still hang.
	ErrStuck = fmt.Errorf("was not called: %d earlier calls hang", MaxHung)
)

// PanicError is a panic of the function.
type PanicError struct {
	Text  string // the panic's value as text
	Stack []byte
}

// Error returns "panicked: " and the panic's value.
func (e *PanicError) Error() string { return "panicked: " + e.Text }

// Guard calls one function, or the functions of one origin, and counts the
// calls that hang. The zero value is ready. It is safe for concurrent use.
type Guard struct{ hung atomic.Int32 }

// The states of a call.
const (
	running int32 = iota
	returned
	abandoned
)

// Hangs reports whether a call that did not return in time still runs.
func (g *Guard) Hangs() bool { return g.hung.Load() > 0 }

// Call calls fn in a goroutine of its own. It waits for fn, and after the end of
// ctx for at most grace longer. It returns nil if fn returned, whatever ctx did.
func (g *Guard) Call(ctx context.Context, grace time.Duration, fn func()) error {
	if g.hung.Load() >= MaxHung {
		return ErrStuck
	}
	var state atomic.Int32
	done := make(chan error, 1)
	go func() {
		err := ErrGoexit
		defer func() {
			done <- err
			if !state.CompareAndSwap(running, returned) {
				g.hung.Add(-1)
			}
		}()
		err = Run(fn)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	g.hung.Add(1)
	if state.CompareAndSwap(running, abandoned) {
		return ErrHung
	}
	g.hung.Add(-1)
	return <-done
}

// Run calls fn and returns its panic as an error. The error's text is made here,
// since a panic's value has methods of its own. Run cannot stop a
// [runtime.Goexit]: use [Guard.Call] for that.
func Run(fn func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Text: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	fn()
	return nil
}
