package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
)

// Limits of functions that the host gave.
const (
	callbackLimit = 5 * time.Second // OnAsync, ToolSchema, Recorder, a Logger's handler
	closeGrace    = 2 * HandlerGrace
)

const fixHost = "fix this function of the host"

// maxHostFailures bounds the failures that are kept.
const maxHostFailures = 64

// host calls the functions of Options, and remembers which of them failed.
type host struct {
	onAsync, toolSchema, logger, recorder contain.Guard

	mu     sync.Mutex // guards failed
	failed []hook.Diagnostic
}

// Failures are diagnostics of functions that panicked or hung.
func (h *host) Failures() []hook.Diagnostic {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.failed)
}

// call calls a function of the host. It returns within callbackLimit and HandlerGrace.
// On an error, the function may still run.
func (h *host) call(ctx context.Context, g *contain.Guard, name string, fn func()) error {
	ctx, cancel := context.WithTimeout(ctx, callbackLimit)
	defer cancel()
	err := g.Call(ctx, HandlerGrace, fn)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s %w", name, err)
	d := hook.Diagnostic{Severity: hook.SeverityWarning, Code: "callback_failed", Message: err.Error(), Hint: fixHost}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.failed) < maxHostFailures && !slices.Contains(h.failed, d) {
		h.failed = append(h.failed, d)
	}
	return err
}

// notify hands a result of the background to Options.OnAsync. It reports false
// if that was not called.
func (r *Dispatcher) notify(ctx context.Context, a hook.AsyncResult) bool {
	if r.opts.OnAsync == nil {
		return true
	}
	err := r.Host.call(ctx, &r.Host.onAsync, "Options.OnAsync", func() { r.opts.OnAsync(a) })
	return !errors.Is(err, contain.ErrStuck)
}

// toolSchema asks the host for the schema of a tool's input; nil = none.
func (r *Dispatcher) toolSchema(tool string) (json.RawMessage, error) {
	if r.opts.ToolSchema == nil {
		return nil, nil
	}
	var schema json.RawMessage
	err := r.Host.call(r.Done, &r.Host.toolSchema, "Options.ToolSchema", func() { schema = r.opts.ToolSchema(tool) })
	if err != nil {
		return nil, err // schema may still be written
	}
	return schema, nil
}

// keep gives a record to Options.Recorder.
func (r *Dispatcher) keep(record hook.Record) {
	if p, ok := r.opts.Recorder.(hook.PromptRecorder); ok && p.Prompt() == r.opts.Recorder {
		p.Record(record)
		return
	}
	_ = r.Host.call(r.Done, &r.Host.recorder, "Options.Recorder", func() { r.opts.Recorder.Record(record) })
}

// log writes a record for each result. It keeps nothing of the outcome, which
// is the caller's once Dispatch returns.
func (r *Dispatcher) log(ctx context.Context, out *hook.Outcome) {
	if r.opts.Logger == nil || len(out.Results) == 0 {
		return
	}
	event, results := out.Event, slices.Clone(out.Results)
	err := r.Host.call(r.Done, &r.Host.logger, "Options.Logger", func() {
		for i := range results {
			logResult(ctx, r.opts.Logger, event, &results[i])
		}
	})
	if err != nil {
		out.Diagnostics = append(out.Diagnostics, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "callback_failed", Message: err.Error(), Hint: fixHost})
	}
}

func logResult(ctx context.Context, to *slog.Logger, event hook.Event, res *hook.Result) {
	level := slog.LevelDebug
	if res.Failure != "" {
		level = slog.LevelWarn
	}
	if !to.Enabled(ctx, level) {
		return
	}
	to.LogAttrs(ctx, level, "hook", slog.String("hook", res.Hook.ID), slog.String("event", string(event)),
		slog.String("kind", string(res.Hook.Kind)), slog.String("scope", res.Hook.Scope.String()),
		slog.String("source", res.Hook.Source.Path), slog.String("verdict", res.Verdict().String()),
		slog.String("status", string(res.Status)), slog.String("failure", string(res.Failure)),
		slog.Duration("elapsed", res.Elapsed))
}

// CloseHandlers ends the handlers that hold anything, side by side and each
// once, and waits no longer than Options.DrainTimeout.
func (r *Dispatcher) CloseHandlers() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.opts.DrainTimeout)
	defer cancel()
	var closers []io.Closer
	for _, kind := range hook.Kinds() {
		c, ok := r.hooks.Handlers[kind].(io.Closer)
		if ok && !(reflect.TypeOf(c).Comparable() && slices.Contains(closers, c)) {
			closers = append(closers, c)
		}
	}
	errs := make([]error, len(closers))
	var wg sync.WaitGroup
	for i, c := range closers {
		wg.Go(func() {
			var closed error
			if errs[i] = new(contain.Guard).Call(ctx, HandlerGrace, func() { closed = c.Close() }); errs[i] == nil {
				errs[i] = closed
			} else {
				errs[i] = fmt.Errorf("close the handler %T: it %w", c, errs[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
