package registry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// AsyncResult is what became of a hook that ran in the background. Its verdict
// does not count; Rewake asks the host to wake the agent with its stderr.
type AsyncResult struct {
	Event     hook.Event
	SessionID string
	Result    hook.Result
	Rewake    bool
	Message   string // what to wake the agent with
}

// queueFactor is how many hooks may wait for each that may run.
const queueFactor = 64

// asyncBuffer is how many results wait for a reader of Registry.Async.
const asyncBuffer = 256

// pool runs hooks in the background: so many at once, so many waiting, and
// what is over is dropped and counted. It has no goroutine while it is idle.
type pool struct {
	r      *Registry
	ctx    context.Context // ends when the time to drain is over
	cancel context.CancelFunc

	mu      sync.Mutex // guards all below
	max     int
	running int
	queue   []func(context.Context)
	dropped int
	closed  bool
	idle    chan struct{} // not nil: to be closed when nothing runs any more
	results chan AsyncResult
}

func newPool(r *Registry, most int) *pool {
	ctx, cancel := context.WithCancel(context.Background())
	return &pool{r: r, max: most, ctx: ctx, cancel: cancel}
}

// start hands a hook to the pool. Its result is delivered later.
func (p *pool) start(e *entry, c *hook.Call) hook.Result {
	ok := p.submit(func(ctx context.Context) { p.deliver(e, c, p.r.run(ctx, e, c)) })
	if !ok {
		return p.noPlace(e)
	}
	return hook.Result{Hook: e.hook, Status: hook.StatusAsync, Reason: "it runs in the background"}
}

// follow waits in the pool for the later answer of a hook that handed itself
// off. Where the pool is full the hook is ended.
func (p *pool) follow(e *entry, c *hook.Call, wait func(context.Context) (*hook.Output, error)) hook.Result {
	job := func(ctx context.Context) {
		start := time.Now()
		out, err := wait(ctx)
		result := classify(ctx, ctx, e, start, out, err)
		result.Elapsed, result.Report = time.Since(start), c.Report
		p.deliver(e, c, result)
	}
	if p.submit(job) {
		return hook.Result{Hook: e.hook, Status: hook.StatusAsync, Reason: "it goes on in the background"}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = wait(ended)
	return p.noPlace(e)
}

func (p *pool) noPlace(e *entry) hook.Result {
	p.mu.Lock()
	running, waiting := p.running, len(p.queue)
	p.mu.Unlock()
	return hook.Result{Hook: e.hook, Status: hook.StatusSkipped,
		Reason: fmt.Sprintf("dropped: %d background hooks run and %d wait", running, waiting)}
}

// resize changes how many run at once. Of those that run too many, none is ended.
func (p *pool) resize(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.max = most
	for p.running < p.max && len(p.queue) > 0 {
		p.running++
		go p.work(p.next())
	}
}

// next takes the job that waited longest. The caller holds p.mu.
func (p *pool) next() (job func(context.Context)) {
	job, p.queue = p.queue[0], p.queue[1:]
	return job
}

func (p *pool) submit(job func(context.Context)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed || len(p.queue) >= p.max*queueFactor:
		p.dropped++
		return false
	case p.running < p.max:
		p.running++
		go p.work(job)
	default:
		p.queue = append(p.queue, job)
	}
	return true
}

// work runs jobs until none waits.
func (p *pool) work(job func(context.Context)) {
	for job != nil {
		job(p.ctx)
		p.mu.Lock()
		job = nil
		if len(p.queue) > 0 && p.running <= p.max {
			job = p.next()
		} else if p.running--; p.running == 0 && p.idle != nil {
			close(p.idle)
			p.idle = nil
		}
		p.mu.Unlock()
	}
}

func (p *pool) deliver(e *entry, c *hook.Call, result hook.Result) {
	a := AsyncResult{Event: c.Input.Event(), SessionID: c.Input.Common().SessionID, Result: result}
	if code := result.Report.ExitCode; e.hook.AsyncRewake && code != nil && *code == 2 {
		a.Rewake, a.Message = true, result.Report.Stderr
	}
	p.r.recordBackground(c, &result)
	if p.r.opts.OnAsync != nil {
		p.r.opts.OnAsync(a)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.results == nil || p.closed {
		return
	}
	select {
	case p.results <- a:
	default:
		p.dropped++
	}
}

// Async returns the results of background hooks as they come. It is closed
// with the registry. Results that nobody reads are dropped when 256 wait.
func (r *Registry) Async() <-chan AsyncResult {
	p := r.async
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.results == nil {
		p.results = make(chan AsyncResult, asyncBuffer)
		if p.closed {
			close(p.results)
		}
	}
	return p.results
}

// Dropped counts the background hooks that found no place, and the results
// that nobody read.
func (r *Registry) Dropped() int {
	r.async.mu.Lock()
	defer r.async.mu.Unlock()
	return r.async.dropped
}

// close waits for what runs and waits, ends it when the limit is over, and says
// what was dropped.
func (p *pool) close(limit time.Duration) error {
	p.mu.Lock()
	var idle chan struct{}
	if p.running > 0 {
		idle = make(chan struct{})
		p.idle = idle
	}
	p.mu.Unlock()
	var unfinished int
	if idle != nil {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
			p.mu.Lock()
			unfinished = len(p.queue) + p.running
			p.queue = nil
			p.mu.Unlock()
			p.cancel()
			<-idle
		}
	}
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.results != nil {
		close(p.results)
	}
	if unfinished > 0 {
		return fmt.Errorf("%d background hooks were not done after %s and were ended", unfinished, limit)
	}
	return nil
}
