package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tenterhook/tenterhook/trust"
)

// epoch is what idleness is measured from. Its reading of the monotonic clock makes
// a wall clock that is set, or a machine that sleeps, no idle plugin.
var epoch = time.Now()

// unit supervises one plugin: one process for all its hooks and calls, started
// when it is needed, again after it died, and exchanged when other bytes were
// approved.
type unit struct {
	host *Host
	path string // of the executable

	mu      sync.Mutex
	current *instance              // takes calls; nil = none
	all     map[*instance]struct{} // with those that end with their last call
	attempt *attempt               // a start under way
	tries   tries
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

// attempt is a start that all calls wait for that need it.
type attempt struct {
	approval approval
	done     chan struct{}
	problem  *Problem // once done is closed; nil = it runs
}

// The pace of starts after a plugin failed.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 30 * time.Second
)

// tries counts failures in a row and spaces the starts after them. The first
// crash costs no wait: most are the last.
type tries struct {
	of     approval // what failed; other bytes begin again
	failed int
	last   *Problem
	after  time.Time // no start before
	pace   *backoff.ExponentialBackOff
}

func (t *tries) reset() { *t = tries{} }

// crashed notes the death of a process that had started well.
func (t *tries) crashed(of approval, p *Problem) {
	if t.note(of, p); t.failed > 1 {
		t.after = time.Now().Add(t.pace.NextBackOff())
	}
}

// unstarted notes a start that failed, and how long it took: starting takes at
// most half of the time.
func (t *tries) unstarted(of approval, p *Problem, took time.Duration) {
	t.note(of, p)
	t.after = time.Now().Add(max(t.pace.NextBackOff(), took))
}

func (t *tries) note(of approval, p *Problem) {
	if !t.of.equal(of) {
		t.reset()
	}
	if t.pace == nil {
		t.pace = &backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: maxPause, RandomizationFactor: 0.2}
		t.pace.Reset()
	}
	t.failed++
	t.of, t.last = of, p
}

// wait is why there is no start now; nil = there may be one.
func (t *tries) wait(of approval, path string) *Problem {
	left := time.Until(t.after)
	if t.failed == 0 || left <= 0 || !t.of.equal(of) {
		return nil
	}
	return &Problem{Code: CodeBackoff, Path: path, Err: t.last,
		Reason: fmt.Sprintf("it failed %d times in a row and is not started for another %v; last: %s", t.failed, left.Round(time.Millisecond), t.last.Reason),
		Hint:   t.last.Hint}
}

// acquire returns a process that takes a call, which release gives back. It
// waits for a start, or for a check of a doubtful process, as long as ctx allows,
// and looks again then at what is approved.
func (u *unit) acquire(ctx context.Context, want approval) (*instance, error) {
	for {
		in, wait, p := u.next(want)
		switch {
		case p != nil:
			return nil, p.failure()
		case in != nil:
			return in, nil
		}
		select {
		case <-wait.done:
			if wait.problem != nil {
				return nil, wait.problem.failure()
			}
		case <-ctx.Done():
			return nil, ended(ctx)
		}
		if want, p = u.host.approvalWithin(u.path, want); p != nil {
			return nil, p.failure()
		}
	}
}

// next returns a process, or what to wait for, or why there is neither.
func (u *unit) next(want approval) (*instance, *attempt, *Problem) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current != nil && u.current.dead() {
		u.bury(u.current)
	}
	if in := u.current; in != nil && in.equal(want) {
		if time.Since(epoch)-time.Duration(in.answered.Load()) > u.host.options.IdleCheck {
			u.check(in)
		}
		if in.probe != nil {
			return nil, &attempt{done: in.probe}, nil
		}
		in.calls++
		return in, nil, nil
	}
	if u.attempt != nil {
		if u.attempt.approval.equal(want) {
			return nil, u.attempt, nil
		}
		return nil, &attempt{done: u.attempt.done}, nil // one at a time
	}
	if p := u.tries.wait(want, u.path); p != nil {
		return nil, nil, p
	}
	a := &attempt{approval: want, done: make(chan struct{})}
	if !u.host.spawn(func() { u.begin(a) }) {
		return nil, nil, closedProblem()
	}
	u.attempt = a
	return nil, a, nil
}

// begin starts a process and puts it in the place of the current one, which
// ends with its last call. It starts nothing that is approved no more: who waits
// for it looks again.
func (u *unit) begin(a *attempt) {
	if now, p := u.host.approvalWithin(u.path, a.approval); p != nil || !now.equal(a.approval) {
		u.mu.Lock()
		u.attempt = nil
		u.mu.Unlock()
		close(a.done)
		return
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(u.host.ctx, u.host.options.StartTimeout)
	in, p := u.host.launch(ctx, u.path, a.approval)
	cancel()
	if p != nil && p.Path == "" {
		p.Path = u.path
	}
	u.mu.Lock()
	old := u.current
	u.current, u.attempt, a.problem = in, nil, p
	if p != nil && p.Code != CodeClosed {
		u.tries.unstarted(a.approval, p, time.Since(began))
	}
	if in != nil {
		u.all[in] = struct{}{}
	}
	end := old != nil && old.retire()
	u.mu.Unlock()
	u.host.post()
	close(a.done)
	if end {
		old.stop()
	}
	if in != nil && !u.host.spawn(func() { u.watch(in) }) {
		u.close()
	}
}

// watch waits for the end of a process, and cleans up behind it.
func (u *unit) watch(in *instance) {
	<-in.service.Done()
	u.mu.Lock()
	u.bury(in)
	u.mu.Unlock()
	u.host.post()
	in.stop()
	u.mu.Lock()
	delete(u.all, in)
	u.mu.Unlock()
}

// bury notes that a process died, unless it was on its way out. The caller holds
// u.mu.
func (u *unit) bury(in *instance) {
	if u.current == in {
		u.current = nil
	}
	if !in.retired {
		u.tries.crashed(in.approval, in.died(u.path))
	}
	in.retired = true
}

// check asks a process for its health, once at a time, and ends one that does
// not answer. The caller holds u.mu.
func (u *unit) check(in *instance) {
	if in.probe != nil || in.retired {
		return
	}
	done := make(chan struct{})
	if !u.host.spawn(func() {
		ctx, cancel := context.WithTimeout(u.host.ctx, u.host.options.HealthTimeout)
		p := in.health(ctx)
		cancel()
		u.mu.Lock()
		in.probe = nil
		if p != nil {
			p.Path = u.path
			if p.Code != CodeExited { // that one ended by itself
				in.felled.CompareAndSwap(nil, p)
			}
			u.bury(in)
		}
		u.mu.Unlock()
		close(done)
		if p != nil {
			in.stop()
		}
	}) {
		return
	}
	in.probe = done
}

// release gives a process back after a call. One in doubt is asked whether it
// works.
func (u *unit) release(in *instance, answered, doubt bool) {
	if answered {
		in.answered.Store(int64(time.Since(epoch)))
	}
	u.mu.Lock()
	in.calls--
	if answered && u.tries.failed > 0 && u.current == in {
		u.tries.reset()
	}
	if doubt {
		u.check(in)
	}
	end := in.retired && in.calls == 0
	u.mu.Unlock()
	if end {
		u.host.spawn(in.stop)
	}
}

// retire takes a process out of service, and reports whether it can end now.
// The caller holds the unit's mutex.
func (in *instance) retire() bool {
	in.retired = true
	return in.calls == 0
}

// withdraw ends the process with its last call: it may run no more.
func (u *unit) withdraw() {
	u.mu.Lock()
	old := u.current
	u.current = nil
	end := old != nil && old.retire()
	u.mu.Unlock()
	if end {
		u.host.spawn(old.stop)
	}
}

// close ends the processes, whatever calls are under way.
func (u *unit) close() {
	u.mu.Lock()
	u.current = nil
	var ends sync.WaitGroup
	for in := range u.all {
		in.retired = true
		in.felled.CompareAndSwap(nil, closedProblem())
		ends.Go(in.stop)
	}
	u.mu.Unlock()
	ends.Wait()
}

// ended is how a call ends whose context did.
func ended(ctx context.Context) error { return context.Cause(ctx) }

// errClosed is the cause of everything that ends with the host.
var errClosed = errors.New("the host of the plugins is closed")

func closedProblem() *Problem {
	return &Problem{Code: CodeClosed, Reason: errClosed.Error(), Hint: "open another one"}
}
