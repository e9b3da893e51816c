package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// Handle runs the hook in its plugin, which it starts if need be. It returns by
// the end of ctx, also if the plugin does not.
func (h *Host) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	u, want, p := h.approved(c.Hook, c.ProjectDir)
	if p != nil {
		return nil, p.failure()
	}
	if warning, _ := enforced(want.box); warning != "" {
		c.Warn("sandbox", warning, "see docs/containment.md")
	}
	payload, err := dialect.Payload(c.Hook.Protocol, c.Input, c.Payload)
	if err != nil {
		return nil, hook.Errorf(hook.FailureStart, "it cannot be told of the event: %w", err)
	}
	held, err := u.acquire(ctx, want)
	if err != nil {
		return nil, err
	}
	in := held.Process
	r := &proto.HandleRequest{Hook: nameOf(c.Hook), Event: string(c.Input.Event()), Input: payload, ProjectDir: c.ProjectDir}
	wire.Grease(r)
	answer, err := in.client.Handle(ctx, r)
	if err == nil {
		u.Answered(held)
		u.Release(held, false)
		return wire.Read(h.reader, c, answer)
	}
	failure := h.failed(ctx, in, c, r, err)
	u.Release(held, doubtful(failure))
	return nil, failure
}

// doubtful reports whether a plugin that failed so may work no more.
func doubtful(failure error) bool {
	var failed *hook.Error
	return errors.Is(failure, hook.ErrTimeout) || errors.Is(failure, context.DeadlineExceeded) ||
		errors.As(failure, &failed) && failed.Failure == hook.FailureTransport
}

// failed says how a call ended that has no answer. It is asked before the
// process is given back, so that the process can still say how it ended.
func (h *Host) failed(ctx context.Context, in *instance, c *hook.Call, r *proto.HandleRequest, err error) error {
	code := status.Code(err)
	if overdue(ctx, code) || ctx.Err() != nil && (code == codes.DeadlineExceeded || code == codes.Canceled) {
		return ended(ctx)
	}
	message := wire.FirstLine(status.Convert(err).Message())
	switch code {
	case codes.ResourceExhausted:
		// Both sides say it alike; the size tells whose message it was.
		if sent := protobuf.Size(r); strings.Contains(message, fmt.Sprintf("(%d vs. ", sent)) {
			return &hook.Error{Failure: hook.FailureTransport, Reason: fmt.Sprintf("it does not take the event, of %d bytes: %s", sent, message),
				Hint: "raise the limit of what the plugin receives", Err: err}
		}
		if strings.HasSuffix(message, fmt.Sprintf("vs. %d)", h.options.MaxReply)) {
			return &hook.Error{Failure: hook.FailureOverflow, Reason: fmt.Sprintf("it answered with more than %d bytes", h.options.MaxReply),
				Hint: "answer with little", Err: err}
		}
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return h.lost(ctx, in, c, message, err)
	case codes.Unimplemented:
		return &hook.Error{Failure: hook.FailureTransport, Reason: "it does not serve Handle: " + message,
			Hint: "is it a plugin of tenterhook? see plugins/proto/hook.proto", Err: err}
	case codes.NotFound:
		return &hook.Error{Failure: hook.FailureStart, Reason: "it has no such hook: " + message,
			Hint: `correct the hook's key "hook", or approve the plugin again with: tenterhook trust`, Err: err}
	}
	if in.dead() {
		return h.lost(ctx, in, c, message, err)
	}
	return &hook.Error{Failure: hook.FailureExit, Reason: "it failed: " + message, Err: err}
}

// overdue reports whether the time of ctx is up. The plugin's clock of the call
// may run out a moment before ours.
func overdue(ctx context.Context, code codes.Code) bool {
	at, limited := ctx.Deadline()
	if code != codes.DeadlineExceeded || !limited || time.Until(at) > 50*time.Millisecond {
		return false
	}
	<-ctx.Done()
	return true
}

// lost is a call that the plugin's end, or the loss of its connection, cut off.
func (h *Host) lost(ctx context.Context, in *instance, c *hook.Call, message string, err error) error {
	if p := in.felled.Load(); p != nil {
		return &hook.Error{Failure: hook.FailureTransport, Reason: "the plugin was stopped in mid-call: " + p.Reason, Hint: p.Hint, Err: p}
	}
	if !in.gone(ctx) {
		return &hook.Error{Failure: hook.FailureTransport, Reason: "the way to the plugin broke: " + message,
			Hint: "the plugin's log may tell why", Err: err}
	}
	result := in.service.Result()
	c.Report.Stderr = wire.Text(in.service.StderrTail())
	if result.ExitCode >= 0 {
		c.Report.ExitCode = &result.ExitCode
	}
	failure := &hook.Error{Failure: hook.FailureExit, Reason: "the plugin ended in mid-call: " + result.Describe(),
		Hint: "a hook returns its answer and leaves the process alone", Err: in.died("")}
	if line, said := panicLine(c.Report.Stderr); said && (result.ExitCode == 2 || result.Signal == "SIGABRT") {
		failure.Failure, failure.Reason, failure.Hint = hook.FailurePanic, "the plugin crashed in mid-call: "+line, "the stack is in the plugin's stderr"
	}
	return failure
}

// panicLine finds the words with which a Go program crashes, with status 2 or
// by SIGABRT.
func panicLine(stderr string) (string, bool) {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return wire.FirstLine(line), true
		}
	}
	return "", false
}
