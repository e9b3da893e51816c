package mcptool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// offeredVersion is the revision of the protocol that is offered first. The
// newest one begins with a request that older servers do not know, which some
// of them leave unanswered; and it has no ping.
const offeredVersion = "2025-11-25"

var client = &mcp.Implementation{Name: "tenterhook", Version: "1"}

// open starts the server and its session. The error's reason does not name the
// server.
func (v *server) open() (*session, *hook.Error) {
	ctx, cancel := context.WithTimeout(v.handler.ctx, v.handler.startTimeout)
	defer cancel()
	newest := v.newest.Load()
	s, err := v.handshake(ctx, newest)
	if err != nil && !newest && refusalOf(err) != nil {
		if s, again := v.handshake(ctx, true); again == nil {
			v.newest.Store(true)
			return s, nil
		}
	}
	return s, err
}

// handshake opens a link and agrees on a session.
func (v *server) handshake(ctx context.Context, newest bool) (*session, *hook.Error) {
	l, err := v.dial(ctx)
	if err != nil {
		return nil, asStart(err)
	}
	s := &session{server: v, link: l, gone: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	c := mcp.NewClient(client, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // no roots, no model, no person to ask
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: s.progress,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.tools.Store(nil) },
	})
	opts := &mcp.ClientSessionOptions{ProtocolVersion: offeredVersion}
	if newest {
		opts = nil
	}
	ex := &exchange{}
	connected := make(chan error, 1)
	go func() {
		var err error
		s.mcp, err = c.Connect(context.WithValue(ctx, exchangeKey{}, ex), opened{l.conn}, opts)
		connected <- err
	}()
	select {
	case err = <-connected:
	case <-ctx.Done():
		_ = l.conn.Close() // Connect may be waiting for a write that respects no context
		if err = <-connected; err == nil {
			_ = s.mcp.Close()
			err = ctx.Err()
		}
	}
	if err != nil {
		late := ctx.Err() != nil
		_ = l.conn.Close()
		l.stop()
		s.cancel()
		return nil, v.refused(l, ex, err, late)
	}
	if !v.handler.spawn(s.watch) {
		s.end(errClosed)
		_ = s.mcp.Close()
		l.stop()
		s.cancel()
		return nil, errClosed
	}
	return s, nil
}

// refused says why there is no session.
func (v *server) refused(l *link, ex *exchange, err error, late bool) *hook.Error {
	failed := &hook.Error{Failure: hook.FailureStart, Err: err, Hint: "run its command by hand, and see what it says"}
	refusal := refusalOf(err)
	fault := l.fault.Load()
	if fault == nil {
		fault = ex.fault.Load()
	}
	switch {
	case v.handler.ctx.Err() != nil:
		return errClosed
	case fault != nil:
		failed.Reason, failed.Hint = "in the handshake "+fault.Reason, fault.Hint
	case late:
		failed.Reason = fmt.Sprintf("it did not answer the handshake within %s", v.handler.startTimeout)
	case ex.status != 0 || refusal == nil && v.isRemote():
		failed.Reason, failed.Hint = "in the handshake "+v.trouble(ex, err), httpHint(ex.status)
	case refusal != nil:
		failed.Reason = "it refused the handshake: " + v.clean(refusal.Message)
	default:
		failed.Reason = "in the handshake " + l.describe()
	}
	failed.Reason += lastLines(l.stderr())
	return failed
}

// dial opens the link to the server.
func (v *server) dial(ctx context.Context) (l *link, err error) {
	switch {
	case v.def.connect != nil:
		return dialHost(ctx, v.def.connect)
	case v.isRemote():
		return openURL(ctx, v.def.spec, v.headers)
	}
	return v.startProgram()
}

// dialHost opens a link that the host has. Its code must not take the process
// down.
func dialHost(ctx context.Context, connect Connector) (l *link, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &hook.Error{Failure: hook.FailurePanic, Reason: fmt.Sprintf("its connector panicked: %v", p), Err: fmt.Errorf("%v\n%s", p, debug.Stack())}
		}
	}()
	c, err := connect(ctx)
	if err != nil {
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "it cannot be reached: " + phrase.First(err.Error(), lineLength), Err: err}
	}
	l = &link{ending: func() string { return "" }, stderr: func() string { return "" }}
	w := newWire(c, c, c.Close, l.blame)
	l.conn, l.stop = newTap(w), func() { _ = w.Close() }
	return l, nil
}

// describe says how the link ended, as the rest of a sentence about the server.
func (l *link) describe() string {
	if f := l.fault.Load(); f != nil {
		return f.Reason
	}
	if how := l.ending(); how != "" {
		return "it ended: " + how
	}
	return "it closed the connection"
}

func (v *server) isRemote() bool { return v.def.connect == nil && v.def.spec.URL != "" }

// refusalOf is the error that the server answered with, nil for all others. The
// SDK marks a request that was not taken with an error of the same type.
func refusalOf(err error) *jsonrpc.Error {
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) && (refusal.Code != rejected.Code || refusal.Message != rejected.Message) {
		return refusal
	}
	return nil
}

var rejected = jsonrpc.Error{Code: -32005, Message: "rejected by transport"}

// clean makes one line of what a server says.
func (v *server) clean(s string) string { return phrase.First(redact(s, v.secrets), lineLength) }

// asStart makes a failed start of an error.
func asStart(err error) *hook.Error {
	var failed *hook.Error
	if errors.As(err, &failed) {
		return failed
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: phrase.First(err.Error(), lineLength), Err: err}
}
