package worker

import (
	"context"
	"time"

	"github.com/tenterhook/tenterhook/internal/supervise"
)

// slot is the place of one process. It belongs to the call that took it out of its queue.
type slot struct {
	worker *worker        // nil: none runs
	pace   supervise.Pace // of processes that ended, or were ended for what they said
}

// spacing is the pace of restarts: after the first failure at once.
var spacing = supervise.Spacing{First: 100 * time.Millisecond, Max: 5 * time.Second, Free: 1}

// queue is where the calls of one command wait for a slot. Channels hand slots out in the order in which
// they were asked for; a slot with a process is preferred to a slot that needs a start.
type queue struct {
	warm, cold chan *slot

	// These belong to the pool's mutex.
	users int       // calls, and stops in the background
	left  time.Time // by the last of them
}

func newQueue(slots int) *queue {
	q := &queue{warm: make(chan *slot, slots), cold: make(chan *slot, slots)}
	for range slots {
		q.cold <- &slot{}
	}
	return q
}

func (q *queue) take(ctx context.Context, closing <-chan struct{}) (*slot, error) {
	select {
	case s := <-q.warm: // then no call waits
		return s, nil
	default:
	}
	select {
	case s := <-q.warm:
		return s, nil
	case s := <-q.cold:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-closing:
		return nil, ErrClosed
	}
}

func (q *queue) put(s *slot) {
	if s.worker != nil {
		q.warm <- s
	} else {
		q.cold <- s
	}
}
