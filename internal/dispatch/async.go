package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/selection"
)

// queueFactor is how many hooks may wait for each that may run.
const queueFactor = 64

// asyncBuffer is how many results wait for a reader of Registry.Async.
const asyncBuffer = 256

// pool runs hooks in the background: so many at once, so many waiting, and
// what is over is dropped and counted. It has no goroutine while it is idle.
type pool struct {
	r      *Dispatcher
	ctx    context.Context // ends when the time to drain is over
	cancel context.CancelFunc

	mu      sync.Mutex // guards all below
	max     int
	running int
	queue   []job
	dropped int
	closed  bool
	idle    chan struct{}     // not nil: to be closed when nothing runs any more
	handed  map[string]handed // what workers of the fleet run, by the job's ID
	results chan hook.AsyncResult
	waiting sync.WaitGroup // who looks for results of handed
}

// job is a hook that runs in the background. Exactly one of its functions is
// called.
type job struct {
	run  func(context.Context)
	drop func() // there is no time left for it
}

func newPool(r *Dispatcher, most int) *pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &pool{r: r, max: most, ctx: ctx, cancel: cancel}
}

// start hands a hook to the pool. Its result is delivered later. A hook that
// runs once does not wait here for a run that may fail: its decision does not
// count.
func (p *pool) start(e *selection.Entry, c *hook.Call) hook.Result {
	if e.Hook.Queue != "" {
		return p.hand(e, c)
	}
	job, drop := func(ctx context.Context) { p.deliver(e, c, p.r.attempt(ctx, e, c)) }, func() {}
	if e.Hook.Once {
		claim, _ := p.r.once.claim(p.ctx, onceKeyOf(e, c.Input.Common().SessionID), false)
		if claim == nil {
			return hasRun(e)
		}
		job, drop = func(ctx context.Context) {
			result := p.r.attempt(claim.within(ctx), e, c)
			claim.settle(consumes(&result))
			p.deliver(e, c, result)
		}, func() { claim.settle(false) }
	}
	if !p.submit(job, drop) {
		drop()
		return p.noPlace(e)
	}
	return hook.Result{Hook: e.Hook, Status: hook.StatusAsync, Reason: "it runs in the background"}
}

// follow waits in the pool for the later answer of a hook that handed itself
// off. Where the pool is full the hook is ended.
func (p *pool) follow(e *selection.Entry, a answer) hook.Result {
	c, off := a.call, a.out.Handoff
	end := func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		call(ended, e, c, func() (*hook.Output, error) { return off.Wait(ended) })
	}
	job := func(ctx context.Context) {
		start, limit := time.Now(), off.Timeout
		if limit <= 0 {
			limit = dialect.HandoffTimeout
		}
		timed, cancel := context.WithTimeoutCause(ctx, limit, hook.ErrTimeout)
		defer cancel()
		later := call(timed, e, c, func() (*hook.Output, error) { return off.Wait(timed) })
		result := classify(ctx, timed, e, start, later)
		result.Elapsed, result.Report = time.Since(start), later.report()
		p.deliver(e, c, result)
	}
	if p.submit(job, end) {
		return hook.Result{Hook: e.Hook, Status: hook.StatusAsync, Reason: "it continues in the background"}
	}
	end()
	return p.noPlace(e)
}

func (p *pool) noPlace(e *selection.Entry) hook.Result {
	p.mu.Lock()
	running, waiting := p.running, len(p.queue)
	p.mu.Unlock()
	return hook.Result{Hook: e.Hook, Status: hook.StatusSkipped,
		Reason: fmt.Sprintf("dropped: %d background hooks run and %d wait", running, waiting)}
}

// Resize changes how many run at once. Running hooks over the limit are not ended.
func (p *pool) Resize(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.max = most
	for p.running < p.max && len(p.queue) > 0 {
		p.running++
		go p.work(p.next())
	}
}

// next takes the job that waited longest. The caller holds p.mu.
func (p *pool) next() (j job) {
	j, p.queue = p.queue[0], p.queue[1:]
	return j
}

// submit reports false if there is no place. The caller drops the job then.
func (p *pool) submit(run func(context.Context), drop func()) bool {
	j := job{run, drop}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed || len(p.queue) >= p.max*queueFactor:
		p.dropped++
		return false
	case p.running < p.max:
		p.running++
		go p.work(j)
	default:
		p.queue = append(p.queue, j)
	}
	return true
}

// work runs jobs until none waits.
func (p *pool) work(j job) {
	for j.run != nil {
		j.run(p.ctx)
		p.mu.Lock()
		j = job{}
		if len(p.queue) > 0 && p.running <= p.max {
			j = p.next()
		} else if p.running--; p.running == 0 && p.idle != nil {
			close(p.idle)
			p.idle = nil
		}
		p.mu.Unlock()
	}
}

// deliver hands a result to the host.
func (p *pool) deliver(e *selection.Entry, c *hook.Call, result hook.Result) {
	a := hook.AsyncResult{Event: c.Input.Event(), SessionID: c.Input.Common().SessionID, Result: result}
	if code := result.Report.ExitCode; e.Hook.AsyncRewake && code != nil && *code == 2 {
		a.Rewake, a.Message = true, result.Report.Stderr
	}
	p.r.recordBackground(c, &result)
	called := p.r.notify(p.ctx, a)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !called {
		p.dropped++
	}
	if p.results == nil || p.closed {
		return
	}
	select {
	case p.results <- a:
	default:
		p.dropped++
	}
}

// Channel returns the results as they come.
func (p *pool) Channel() <-chan hook.AsyncResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.results == nil {
		p.results = make(chan hook.AsyncResult, asyncBuffer)
		if p.closed {
			close(p.results)
		}
	}
	return p.results
}

// Lost counts the hooks that found no place, and the results that were not read.
func (p *pool) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// close waits for what runs and waits, ends it when the limit is over, and says
// what was dropped. It waits for closeGrace longer at most.
func (p *pool) close(limit time.Duration) error {
	p.mu.Lock()
	idle := make(chan struct{})
	if p.idle = idle; p.running == 0 {
		p.idle = nil
		close(idle)
	}
	p.mu.Unlock()
	var errs []error
	if !within(idle, limit) {
		p.mu.Lock()
		queue := p.queue
		errs = append(errs, fmt.Errorf("%d background hooks were not done after %s and were ended", len(queue)+p.running, limit))
		p.queue = nil
		p.mu.Unlock()
		p.cancel()
		var drops sync.WaitGroup
		for _, j := range queue {
			drops.Go(j.drop) // side by side: a hook that continues takes time to end
		}
		all := make(chan struct{})
		go func() { drops.Wait(); <-idle; close(all) }()
		if !within(all, closeGrace) {
			errs = append(errs, fmt.Errorf("background hooks still run %s after they were ended", closeGrace))
		}
	}
	p.cancel()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.waiting.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.results != nil {
		close(p.results)
	}
	return errors.Join(errs...)
}

// within reports whether a channel is closed in time.
func within(closed <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
		return false
	}
}
