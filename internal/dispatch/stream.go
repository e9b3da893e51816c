package dispatch

import (
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
)

// Bounds of what waits for the body of a loop over a stream.
const (
	maxLines = 256      // progress lines; more are dropped
	maxLine  = 16 << 10 // bytes of one
)

// Stream yields the steps of a dispatch, the outcome last.
func (r *Dispatcher) Stream(ctx context.Context, in hook.Input) iter.Seq[hook.Progress] {
	return func(yield func(hook.Progress) bool) {
		ctx, cancel := context.WithCancel(ctx)
		s := &steps{ready: make(chan struct{}, 1)}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			done := hook.Progress{Phase: hook.PhaseDone, Err: contain.ErrGoexit}
			defer func() { s.end(done) }()
			// The input's methods may be the caller's, and panic here.
			if err := contain.Run(func() { done.Outcome, done.Err = r.Dispatch(ctx, in, s.add) }); err != nil {
				done.Err = err
			}
		}()
		defer func() { cancel(); <-ended }()
		for {
			if p, ok := s.next(); !ok || !yield(p) {
				return
			}
		}
	}
}

// steps are what happened and was not yet yielded.
type steps struct {
	ready chan struct{} // holds a token when there may be something to take

	mu     sync.Mutex // guards all below
	list   []hook.Progress
	lines  int // progress steps among them
	closed bool
}

func (s *steps) add(p hook.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || p.Phase == hook.PhaseProgress && s.lines >= maxLines {
		return
	}
	if p.Phase == hook.PhaseProgress {
		s.lines++
	}
	s.list = append(s.list, p)
	s.wake()
}

// end adds the last step. What is added later is dropped.
func (s *steps) end(p hook.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.closed = append(s.list, p), true
	s.wake()
}

func (s *steps) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// next waits for a step. It returns false after the last one.
func (s *steps) next() (p hook.Progress, ok bool) {
	for {
		s.mu.Lock()
		if len(s.list) > 0 {
			p, s.list = s.list[0], s.list[1:]
			if p.Phase == hook.PhaseProgress {
				s.lines--
			}
			s.mu.Unlock()
			return p, true
		}
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return p, false
		}
		<-s.ready
	}
}

// tell reports a step to the watcher, which gets a copy of the result: the
// dispatch may change it later.
func (d *dispatch) tell(p hook.Progress) {
	if d.observe == nil {
		return
	}
	if p.Result != nil {
		result := *p.Result
		p.Result = &result
	}
	d.observe(p)
}

// listen lets a call report progress until the returned function is called:
// lines that come later are dropped.
func (d *dispatch) listen(c *hook.Call, h *hook.Hook) (over func()) {
	if d.observe == nil {
		return func() {}
	}
	var mu sync.Mutex // a line is reported before the end, or never
	open := true
	c.Progress = func(line string) {
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "")
		}
		mu.Lock()
		defer mu.Unlock()
		if open {
			d.tell(hook.Progress{Hook: h, Phase: hook.PhaseProgress, Line: line})
		}
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		open = false
	}
}
