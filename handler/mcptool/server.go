package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/supervise"
)

// spacing is the pace of starts of a server that answered nothing.
var spacing = supervise.Spacing{First: 500 * time.Millisecond, Max: time.Minute, Jitter: 0.2}

// server is one server by its name and definition, and the session with it, if
// there is one.
type server struct {
	handler *Handler
	def     definition
	headers http.Header
	secrets []string    // what no error may hold, the longest first
	invalid *hook.Error // why it can never be started
	unit    *supervise.Unit[*session, same]

	newest  atomic.Bool // it refused the revision that is offered first
	retired atomic.Bool // it was replaced: its session ends with the last call
}

// same is what every session of a server is started from: its definition.
type same struct{}

// held is a session that takes a call.
type held = supervise.Held[*session, same]

func (h *Handler) newServer(def definition) *server {
	v := &server{handler: h, def: def}
	v.unit = supervise.New(supervise.Kind[*session, same]{
		Start: v.start, Check: (*session).ping, Died: (*session).died, Fell: (*session).blame, Spawn: h.spawn, Spacing: spacing,
	})
	if def.connect == nil {
		v.headers, v.secrets, v.invalid = def.prepare(h.env)
	}
	return v
}

// call calls a tool. A request that was not sent, or that a server refused
// because it has lost the session, is sent once more in a new session.
func (v *server) call(ctx context.Context, c *hook.Call, tool string, input json.RawMessage) (answer, error) {
	for again := false; ; again = true {
		h, err := v.acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		s, ex := h.Process, &exchange{}
		result, err := s.call(ctx, c, tool, input, ex)
		if err == nil {
			s.ignored.Store(0)
			s.answered.Store(true)
			v.unit.Answered(h)
		} else if ex.ignored && s.ignored.Add(1) >= maxIgnored {
			v.unit.Replace(h)
		}
		if err != nil && !again && ctx.Err() == nil && s.isLost(ex, err) {
			v.unit.Replace(h)
			v.unit.Release(h, false)
			continue
		}
		var a answer
		if err != nil {
			err = s.explain(ctx, c, tool, input, ex, err)
		} else if a, err = parseAnswer(result); err == nil && a.failed {
			err = s.refusal(ctx, tool, input, a.complaint(v.secrets))
		}
		v.unit.Release(h, ex.ignored) // is the server still there?
		return a, err
	}
}

// acquire returns a session, which the caller releases. It starts the server
// if that does not run. A start outlives a caller that gives up, so that a slow
// server is up some day.
func (v *server) acquire(ctx context.Context) (*held, error) {
	if v.invalid != nil {
		return nil, v.invalid
	}
	h, err := v.unit.Acquire(ctx, same{}, func(s same) (same, error) { return s, nil })
	var pause *supervise.PauseError
	var start *supervise.StartError
	switch {
	case err == nil:
		if v.retired.Load() {
			v.unit.Replace(h)
		}
		return h, nil
	case errors.Is(err, supervise.ErrClosed):
		return nil, errClosed
	case errors.As(err, &pause):
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: v.subject() + " is not running: " + asStart(pause.Last).Reason,
			Hint: fmt.Sprintf("it is started again by a call in %s", pause.Wait.Round(time.Millisecond))}
	case errors.As(err, &start):
		failed := asStart(start.Err)
		failure := hook.FailureStart
		if failed.Failure == hook.FailureSandbox {
			failure = failed.Failure
		}
		return nil, &hook.Error{Failure: failure, Reason: v.subject() + ": " + failed.Reason, Hint: failed.Hint, Err: failed.Err}
	}
	return nil, gaveUp(ctx, v.subject()+" has not answered the handshake yet")
}

// start starts the server and its session.
func (v *server) start(same) (*session, error) {
	s, err := v.open()
	if err != nil {
		return nil, err
	}
	return s, nil
}

var errClosed = &hook.Error{Failure: hook.FailureStart, Reason: "the handler of MCP tools is closed"}

var errReplaced = &hook.Error{Failure: hook.FailureTransport, Reason: "it was replaced"}

// retire is the end of a definition.
func (v *server) retire() {
	v.retired.Store(true)
	v.unit.Withdraw()
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
