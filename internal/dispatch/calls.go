package dispatch

import (
	"context"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// callLocks lets the hooks of one tool call run once at a time: two events of
// the same tool_use_id wait for each other, distinct ones do not.
type callLocks struct {
	mu   sync.Mutex // guards held
	held map[string]*callLock
}

type callLock struct {
	free  chan struct{} // holds a token while the lock is free
	users int
}

// lock waits for the input's tool call, or for the end of ctx. A nested dispatch
// does not wait: what it would wait for may be waiting for it.
func (l *callLocks) lock(ctx context.Context, in hook.Input, nested bool) (unlock func(), err error) {
	call, _ := hook.ToolCallOf(in)
	if call.ToolUseID == "" || nested {
		return func() {}, nil
	}
	key := in.Common().SessionID + "\x00" + call.ToolUseID
	l.mu.Lock()
	c := l.held[key]
	if c == nil {
		c = &callLock{free: make(chan struct{}, 1)}
		c.free <- struct{}{}
		if l.held == nil {
			l.held = make(map[string]*callLock)
		}
		l.held[key] = c
	}
	c.users++
	l.mu.Unlock()
	done := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.users--; c.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-c.free:
		return func() { c.free <- struct{}{}; done() }, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}
