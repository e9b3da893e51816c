package registry

import (
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
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

// Bounds of what waits for the body of a loop over a stream.
const (
	maxLines = 256      // progress lines; more are dropped
	maxLine  = 16 << 10 // bytes of one
)

// Stream is Dispatch for a host that shows what happens. It yields steps in
// the order in which they happen, the outcome last. A body that is slow delays
// no hook; when 256 progress lines wait for it, further lines are dropped.
// Leaving the loop, by break, return, panic or runtime.Goexit, cancels the hooks
// that still run and waits for them.
func (r *Registry) Stream(ctx context.Context, in hook.Input) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		ctx, cancel := context.WithCancel(ctx)
		s := &steps{ready: make(chan struct{}, 1)}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			done := Progress{Phase: PhaseDone, Err: contain.ErrGoexit}
			defer func() { s.end(done) }()
			// The input's methods may be the caller's, and panic here.
			if err := contain.Run(func() { done.Outcome, done.Err = r.dispatch(ctx, in, s.add) }); err != nil {
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
	list   []Progress
	lines  int // progress steps among them
	closed bool
}

func (s *steps) add(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || p.Phase == PhaseProgress && s.lines >= maxLines {
		return
	}
	if p.Phase == PhaseProgress {
		s.lines++
	}
	s.list = append(s.list, p)
	s.wake()
}

// end adds the last step. What is added later is dropped.
func (s *steps) end(p Progress) {
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
func (s *steps) next() (p Progress, ok bool) {
	for {
		s.mu.Lock()
		if len(s.list) > 0 {
			p, s.list = s.list[0], s.list[1:]
			if p.Phase == PhaseProgress {
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
func (d *dispatch) tell(p Progress) {
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
			d.tell(Progress{Hook: h, Phase: PhaseProgress, Line: line})
		}
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		open = false
	}
}
