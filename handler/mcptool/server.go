package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tenterhook/tenterhook/hook"
)

const (
	firstPause = 500 * time.Millisecond // after a server that answered nothing
	longPause  = time.Minute
)

// server is one server by its name and definition, and the session with it, if
// there is one.
type server struct {
	handler *Handler
	def     definition
	headers http.Header
	secrets []string    // what no error may hold, the longest first
	invalid *hook.Error // why it can never be started

	mu       sync.Mutex
	current  *session // nil: none
	starting *start   // nil: none under way
	pauses   *backoff.ExponentialBackOff
	retryAt  time.Time // no start before
	lastEnd  string    // why it is not running
	newest   bool      // it refused the revision that is offered first
	retired  bool      // it was replaced: its session ends with the last call
}

// start is a start under way, and who waits for it.
type start struct {
	ready   chan struct{} // closed when session and err are set
	waiting int
	session *session
	err     error
}

func (h *Handler) newServer(def definition) *server {
	v := &server{handler: h, def: def, pauses: backoff.NewExponentialBackOff()}
	v.pauses.InitialInterval, v.pauses.MaxInterval = firstPause, longPause
	v.pauses.Multiplier, v.pauses.RandomizationFactor = 2, 0.2
	if def.connect == nil {
		v.headers, v.secrets, v.invalid = def.prepare(h.env)
	}
	return v
}

// call calls a tool. A request that was not sent, or that a server refused
// because it has lost the session, is sent once more in a new session.
func (v *server) call(ctx context.Context, c *hook.Call, tool string, input json.RawMessage) (answer, error) {
	for again := false; ; again = true {
		s, err := v.acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		ex := &exchange{}
		result, err := s.call(ctx, c, tool, input, ex)
		if err != nil && !again && ctx.Err() == nil && s.isLost(ex, err) {
			v.replace(s)
			v.release(s)
			continue
		}
		var a answer
		if err != nil {
			err = s.explain(ctx, c, tool, input, ex, err)
		} else if a, err = parseAnswer(result); err == nil && a.failed {
			err = s.refusal(ctx, tool, input, a.complaint(v.secrets))
		}
		v.release(s)
		return a, err
	}
}

// acquire returns the session, which the caller releases. It starts the server
// if that does not run. A start outlives a caller that gives up, so that a slow
// server is up some day.
func (v *server) acquire(ctx context.Context) (*session, error) {
	if v.invalid != nil {
		return nil, v.invalid
	}
	v.mu.Lock()
	if s := v.current; s != nil {
		s.calls++
		v.mu.Unlock()
		return s, nil
	}
	if v.starting == nil {
		if wait := time.Until(v.retryAt); wait > 0 {
			defer v.mu.Unlock()
			return nil, &hook.Error{Failure: hook.FailureStart, Reason: v.subject() + " is not running: " + v.lastEnd,
				Hint: fmt.Sprintf("it is started again by a call in %s", wait.Round(time.Millisecond))}
		}
		st := &start{ready: make(chan struct{})}
		if !v.handler.spawn(func() { v.start(st) }) {
			v.mu.Unlock()
			return nil, errClosed
		}
		v.starting = st
	}
	st := v.starting
	st.waiting++
	v.mu.Unlock()
	select {
	case <-st.ready:
		return st.session, st.err
	case <-ctx.Done():
		v.leave(st)
		return nil, gaveUp(ctx, v.subject()+" has not answered the handshake yet")
	}
}

var errClosed = &hook.Error{Failure: hook.FailureStart, Reason: "the handler of MCP tools is closed"}

// leave is for who waits no longer.
func (v *server) leave(st *start) {
	v.mu.Lock()
	st.waiting--
	s := st.session // set: it was ready after all, and counts on us
	v.mu.Unlock()
	if s != nil {
		v.release(s)
	}
}

// start starts the server and hands the session to all who wait.
func (v *server) start(st *start) {
	s, err := v.open()
	v.mu.Lock()
	v.starting = nil
	st.session = s
	if err != nil {
		v.lastEnd = err.Reason
		v.pause()
		failure := hook.FailureStart
		if err.Failure == hook.FailureSandbox {
			failure = err.Failure
		}
		st.err = &hook.Error{Failure: failure, Reason: v.subject() + ": " + err.Reason, Hint: err.Hint, Err: err.Err}
	} else {
		s.calls = st.waiting
		s.retiring = v.retired
		if !s.over {
			v.current = s
		}
	}
	v.mu.Unlock()
	close(st.ready)
	if s != nil {
		v.settle(s)
	}
}

// pause puts the next start off.
func (v *server) pause() { v.retryAt = time.Now().Add(v.pauses.NextBackOff()) }

// release is the end of a call.
func (v *server) release(s *session) {
	v.mu.Lock()
	s.calls--
	v.mu.Unlock()
	v.settle(s)
}

// settle ends a session that nobody will use again.
func (v *server) settle(s *session) {
	v.mu.Lock()
	idle := s.calls == 0 && s.retiring
	if idle && v.current == s {
		v.current = nil
	}
	v.mu.Unlock()
	if idle {
		s.end(errReplaced)
	}
}

var errReplaced = &hook.Error{Failure: hook.FailureTransport, Reason: "it was replaced"}

// replace makes the next call start a session of its own. Calls under way stay
// on the old one.
func (v *server) replace(s *session) {
	v.mu.Lock()
	s.retiring = true
	if v.current == s {
		v.current = nil
	}
	v.mu.Unlock()
	v.settle(s)
}

// retire is the end of a definition.
func (v *server) retire() {
	v.mu.Lock()
	v.retired = true
	s := v.current
	v.mu.Unlock()
	if s != nil {
		v.replace(s)
	}
}

// ended is told of every session's end. One that answered is started again by
// the next call, one that never did after a pause.
func (v *server) ended(s *session, why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.over = true
	if v.current == s {
		v.current = nil
	}
	if s.retiring {
		return
	}
	v.lastEnd = why
	if s.answered {
		v.pauses.Reset()
		v.retryAt = time.Time{}
		return
	}
	v.pause()
}

func (v *server) subject() string { return "MCP server " + strconv.Quote(v.def.name) }

// gaveUp is the error of a call whose time is up, or whose caller gave up.
func gaveUp(ctx context.Context, reason string) error {
	if errors.Is(context.Cause(ctx), hook.ErrTimeout) {
		return &hook.Error{Failure: hook.FailureTimeout, Reason: reason + " when the hook's time was up",
			Hint: "raise its timeout, or make the server faster", Err: hook.ErrTimeout}
	}
	return context.Cause(ctx)
}
