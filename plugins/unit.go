package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/internal/supervise"
	"github.com/tenterhook/tenterhook/trust"
)

// unit supervises one plugin: one process for all its hooks and calls, started
// when it is needed, again after it died, and exchanged when other bytes were
// approved.
type unit struct {
	*supervise.Unit[*instance, approval]
	host *Host
	path string // of the executable
}

// held is a process that takes a call.
type held = supervise.Held[*instance, approval]

// spacing is the pace of starts after a plugin failed. The first crash costs no
// wait: most are the last.
var spacing = supervise.Spacing{First: 100 * time.Millisecond, Max: 30 * time.Second, Jitter: 0.2, Free: 1, Rest: true}

func newUnit(h *Host, path string) *unit {
	u := &unit{host: h, path: path}
	u.Unit = supervise.New(supervise.Kind[*instance, approval]{
		Start: u.start, Same: approval.equal, Check: u.health, Fell: fell, Spawn: h.spawn, Told: h.post, Spacing: spacing,
		Died: func(in *instance) error { return in.died(path) },
		Idle: h.options.IdleCheck, Hold: true,
	})
	return u
}

func (u *unit) start(a approval) (*instance, error) {
	ctx, cancel := context.WithTimeout(u.host.ctx, u.host.options.StartTimeout)
	defer cancel()
	in, p := u.host.launch(ctx, u.path, a)
	if p == nil {
		return in, nil
	}
	if p.Path == "" {
		p.Path = u.path
	}
	return nil, p
}

func (u *unit) health(in *instance) error {
	ctx, cancel := context.WithTimeout(u.host.ctx, u.host.options.HealthTimeout)
	defer cancel()
	if p := in.health(ctx); p != nil {
		p.Path = u.path
		return p
	}
	return nil
}

// fell notes why this host ends a process, unless that ended by itself.
func fell(in *instance, err error) {
	var p *Problem
	if errors.As(err, &p) && p.Code != CodeExited {
		in.felled.CompareAndSwap(nil, p)
	}
}

// approval is what may run: which bytes, with which variables of the host,
// and with what sandbox.
type approval struct {
	digest string
	seal   *trust.Seal // of the executable with that digest
	terms
	confines
}

func (a approval) equal(b approval) bool {
	return a.digest == b.digest && slices.Equal(a.env, b.env) && a.confines.equal(b.confines)
}

// acquire returns a process that takes a call, which Release gives back. It
// waits for a start, or for a check of a doubtful process, as long as ctx allows,
// and looks again then at what is approved.
func (u *unit) acquire(ctx context.Context, want approval) (*held, error) {
	h, err := u.Acquire(ctx, want, func(before approval) (approval, error) {
		now, p := u.host.approvalWithin(u.path, before)
		if p != nil {
			return now, p.failure()
		}
		return now, nil
	})
	if err == nil {
		return h, nil
	}
	if p := u.problem(err); p != nil {
		return nil, p.failure()
	}
	return nil, err
}

// problem is why there is no process; nil = the caller knows.
func (u *unit) problem(err error) *Problem {
	var pause *supervise.PauseError
	var start *supervise.StartError
	var p *Problem
	switch {
	case errors.Is(err, supervise.ErrClosed):
		return closedProblem()
	case errors.As(err, &pause) && errors.As(pause.Last, &p):
		return &Problem{Code: CodeBackoff, Path: u.path, Err: p, Hint: p.Hint,
			Reason: fmt.Sprintf("it failed %d times in a row and is not started for another %v; last: %s", pause.Failed, pause.Wait.Round(time.Millisecond), p.Reason)}
	case errors.As(err, &start) && errors.As(start.Err, &p):
		return p
	}
	return nil
}

// ended is how a call ends whose context did.
func ended(ctx context.Context) error { return context.Cause(ctx) }

// errClosed is the cause of everything that ends with the host.
var errClosed = errors.New("the host of the plugins is closed")

func closedProblem() *Problem {
	return &Problem{Code: CodeClosed, Reason: errClosed.Error(), Hint: "open another one"}
}
