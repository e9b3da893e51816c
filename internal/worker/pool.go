package worker

import (
	"github.com/tenterhook/tenterhook/internal/sandbox"

	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/process"
)

// Options configure a Pool. The zero value is usable.
type Options struct {
	Processes int           // for each command; 0 = 1
	MaxCalls  int           // after so many a process is replaced; 0 = 10,000
	Commands  int           // that are kept, the least recently asked is stopped first; 0 = 32
	Idle      time.Duration // after so long without a call it is stopped; 0 = 10 minutes
	Grace     time.Duration // from SIGTERM to SIGKILL; 0 = 500 ms
}

// Command is how a worker is started.
type Command struct {
	Path string // absolute
	Argv []string
	Dir  string
	Env  []string
	// Umask is the process's file mode creation mask; nil = the host's.
	Umask *int
	// Sandbox says what the process may do; nil = everything.
	Sandbox *sandbox.Policy
	// Files are looked at before each call: when one of them has changed, the worker is started again.
	Files []string
}

// Reply is what a call leaves behind. Stderr and Notes count also if it failed.
type Reply struct {
	Line   []byte   // the answer, without its line end: an object, or empty
	Stderr string   // what the worker wrote there since the last call, the end of it
	Notes  []string // for people: what was untidy
}

// ErrClosed is the error of a call after Close, or during it.
var ErrClosed = errors.New("the workers were stopped")

// Pool keeps workers. It is safe for concurrent use, and has no goroutine but those of its processes.
type Pool struct {
	options Options
	closing chan struct{}

	mu     sync.Mutex
	closed bool
	queues map[string]*queue
	live   map[*process.Service]struct{}
	timer  *time.Timer    // runs while there are queues: see tidy
	active sync.WaitGroup // calls, and stops in the background
}

// NewPool returns a Pool without any process.
func NewPool(o Options) *Pool {
	if o.Processes <= 0 {
		o.Processes = 1
	}
	if o.Commands <= 0 {
		o.Commands = 32
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 10_000
	}
	if o.Idle <= 0 {
		o.Idle = 10 * time.Minute
	}
	if o.Grace == 0 {
		o.Grace = 500 * time.Millisecond
	}
	return &Pool{options: o, closing: make(chan struct{}), queues: map[string]*queue{}, live: map[*process.Service]struct{}{}}
}

// Call sends a request, which is JSON, to the worker that the key names, and returns its answer. If that
// has no process yet, plan says how it is started.
//
// The error is the cause of ctx, plan's error, that of a request that is no JSON, a [*process.StartError], an [*ExitError], an
// [*AnswerError], or [ErrClosed].
func (p *Pool) Call(ctx context.Context, key string, plan func() (Command, error), request []byte) (Reply, error) {
	request, err := flatten(request)
	if err != nil {
		return Reply{}, err
	}
	if ctx.Err() != nil {
		return Reply{}, context.Cause(ctx)
	}
	q, err := p.enter(key)
	if err != nil {
		return Reply{}, err
	}
	defer p.leave(q)
	s, err := q.take(ctx, p.closing)
	if err != nil {
		return Reply{}, err
	}
	c := call{ctx: ctx, pool: p, slot: s, plan: plan}
	err = c.run(request)
	if s.worker != nil && s.worker.spent {
		p.retire(q, s)
	} else {
		q.put(s)
	}
	if err != nil && p.isClosed() {
		err = ErrClosed
	}
	return c.reply, err
}

// Close stops all workers and fails the calls under way. It returns by the grace + 250 ms; a start that
// hangs in the system, or waits for a program that is being written, may take longer.
func (p *Pool) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.closing)
		if p.timer != nil {
			p.timer.Stop()
		}
		for v := range p.live {
			p.active.Go(v.Stop)
		}
	}
	p.mu.Unlock()
	p.active.Wait()
	return nil
}

func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// enter returns the queue of a key, as a used one.
func (p *Pool) enter(key string) (*queue, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	q := p.queues[key]
	if q == nil {
		p.makeRoom()
		q = newQueue(p.options.Processes)
		p.queues[key] = q
		if p.timer == nil {
			p.timer = time.AfterFunc(p.options.Idle, p.tidy)
		}
	}
	q.users++
	p.active.Add(1)
	return q, nil
}

// makeRoom stops the processes of commands that no call uses, the ones that were
// asked least recently first, if there are too many. The caller holds mu. Commands
// that are being asked stay, so that there may be more for a while.
func (p *Pool) makeRoom() {
	for len(p.queues) >= p.options.Commands {
		oldest := ""
		for key, q := range p.queues {
			if q.users == 0 && (oldest == "" || q.left.Before(p.queues[oldest].left)) {
				oldest = key
			}
		}
		if oldest == "" {
			return
		}
		q := p.queues[oldest]
		delete(p.queues, oldest)
		q.users++
		p.active.Add(1)
		go p.cool(q)
	}
}

func (p *Pool) leave(q *queue) {
	p.mu.Lock()
	q.users--
	q.left = time.Now()
	p.mu.Unlock()
	p.active.Done()
}

// started notes a running process, for Close.
func (p *Pool) started(v *process.Service) error {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.live[v] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		v.Stop()
		return ErrClosed
	}
	return nil
}

// stop ends the process of a slot that the caller holds.
func (p *Pool) stop(s *slot) {
	v := s.worker.service
	v.Stop()
	p.mu.Lock()
	delete(p.live, v)
	p.mu.Unlock()
	s.worker = nil
}

// retire stops a slot's process in the background. No call gets the slot before that is done, so that
// there are never two.
func (p *Pool) retire(q *queue, s *slot) {
	p.mu.Lock()
	q.users++
	p.active.Add(1)
	p.mu.Unlock()
	go func() {
		defer p.leave(q)
		p.stop(s)
		q.put(s)
	}()
}

// tidy stops the processes of queues that were idle for long, and forgets queues that have none.
func (p *Pool) tidy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	next := p.options.Idle
	for key, q := range p.queues {
		idle := time.Since(q.left)
		switch {
		case q.users > 0:
		case idle < p.options.Idle:
			next = min(next, p.options.Idle-idle)
		case len(q.warm) == 0:
			delete(p.queues, key)
		default:
			q.users++
			p.active.Add(1)
			go p.cool(q)
		}
	}
	if len(p.queues) == 0 {
		p.timer = nil
		return
	}
	p.timer.Reset(next)
}

// cool stops the processes of a queue, but for a slot that a call has taken up again.
func (p *Pool) cool(q *queue) {
	defer p.leave(q)
	for range p.options.Processes {
		select {
		case s := <-q.warm:
			p.stop(s)
			q.put(s)
		default:
			return
		}
	}
}
