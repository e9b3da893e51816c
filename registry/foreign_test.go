package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// evilError is an error whose methods are hostile.
type evilError struct{ do func() }

func (e *evilError) Error() string { e.do(); return "evil" }

// misbehaviours are the ways in which a function of a host can be wrong.
func misbehaviours(release <-chan struct{}) map[string]func() (*hook.Output, error) {
	var nilError *evilError
	var nilHookError *hook.Error
	return map[string]func() (*hook.Output, error){
		"panics":                          func() (*hook.Output, error) { panic("boom") },
		"panics with nil":                 func() (*hook.Output, error) { panic(nil) },
		"panics with a hostile value":     func() (*hook.Output, error) { panic(&evilError{func() { panic("again") }}) },
		"exits its goroutine":             func() (*hook.Output, error) { runtime.Goexit(); return nil, nil },
		"hangs":                           func() (*hook.Output, error) { <-release; return nil, nil },
		"returns a nil error of its type": func() (*hook.Output, error) { return nil, nilError },
		"returns a nil hook error":        func() (*hook.Output, error) { return nil, nilHookError },
		"returns an error that panics":    func() (*hook.Output, error) { return nil, &evilError{func() { panic("in Error") }} },
		"returns an error that exits":     func() (*hook.Output, error) { return nil, &evilError{runtime.Goexit} },
		"returns an error that hangs":     func() (*hook.Output, error) { return nil, &evilError{func() { <-release }} },
		"returns a verdict that is none":  func() (*hook.Output, error) { return &hook.Output{Verdict: 99}, nil },
	}
}

var declares = map[hook.Kind]string{
	hook.KindCommand: `command = "true"`,
	hook.KindHTTP:    `url = "https://example.com/"`,
	hook.KindMCP:     "server = \"s\"\ntool = \"t\"",
	hook.KindPrompt:  `prompt = "p"`,
	hook.KindAgent:   `prompt = "p"`,
	hook.KindPlugin:  `plugin = "p"`,
}

// misbehaving runs a test for each way in which a function can be wrong, on a
// clock of its own. What hangs is released when the test is over.
func misbehaving(t *testing.T, test func(t *testing.T, name string, misbehave func() (*hook.Output, error))) {
	for name := range misbehaviours(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer synctest.Wait()
				defer close(release)
				test(t, name, misbehaviours(release)[name])
			})
		})
	}
}

func TestForeignHandlerOfEveryKindFailsInItsResultAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for what hangs")
	}
	for kind, declared := range declares {
		t.Run(string(kind), func(t *testing.T) {
			misbehaving(t, func(t *testing.T, name string, misbehave func() (*hook.Output, error)) {
				dir := tree(t, fmt.Sprintf("-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = %q\n%s\ntimeout = 0.05\non_failure = \"block\"\n+++\n", kind, declared))
				opts := only(dir)
				opts.Handlers = map[hook.Kind]hook.Handler{kind: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return misbehave() })}
				reg := open(t, opts)
				out := dispatch(t, reg, bash("ls"))
				if len(out.Results) != 1 || out.Results[0].Status != hook.StatusFailed || out.Verdict != hook.Deny || out.Results[0].Reason == "" {
					t.Fatalf("%v: %+v", out.Verdict, out.Results)
				}
				if r := out.Results[0]; strings.Contains(name, "hangs") != (r.Failure == hook.FailureTimeout) {
					t.Errorf("failure %s: %s", r.Failure, r.Reason)
				}
				_ = fmt.Sprint(out.Results[0].Err) // its methods were called in their goroutine
			})
		})
	}
}

// A handler whose Check hangs costs one limit, however many hooks it has, and
// is asked again once it returned.
func TestCheckThatHangsHoldsNoList(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "-- h%02d/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n", i)
	}
	dir := tree(t, text.String())
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		opts := only(dir)
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: &checkHangs{release: release}}
		reg := open(t, opts)
		start := time.Now()
		list := reg.List()
		if took := time.Since(start); took > 20*time.Second || len(list) != 50 {
			t.Errorf("%d hooks in %s", len(list), took)
		}
		for _, l := range list {
			if l.State != hook.StateIneligible || !strings.Contains(l.Why, "did not return in time") {
				t.Errorf("%s: %s, %s", l.Hook.ID, l.State, l.Why)
			}
		}
		if selected := reg.Select(bash("ls")).Selected; len(selected) > 0 {
			t.Errorf("%d hooks selected", len(selected))
		}
		close(release)
		synctest.Wait()
		if selected := reg.Select(bash("ls")).Selected; len(selected) != 50 {
			t.Errorf("%d hooks selected after it returned", len(selected))
		}
	})
}

// checkHangs hangs in Check until it is released.
type checkHangs struct{ release chan struct{} }

func (*checkHangs) Handle(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }
func (c *checkHangs) Check(*hook.Call) []hook.Diagnostic                     { <-c.release; return nil }

// A command handler that is not the registry's own may be anything.
func TestCommandHandlerOfTheHostIsContained(t *testing.T) {
	dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	for name, h := range map[string]hook.Handler{"nil": (*command.Handler)(nil), "zero": &command.Handler{}, "wrapped": struct{ *command.Handler }{}} {
		opts := only(dir)
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: h}
		reg := open(t, opts)
		if out := dispatch(t, reg, bash("ls")); out.Results[0].Status == "" {
			t.Errorf("%s: %+v", name, out.Results[0])
		}
	}
}

func TestRegisteredHookOfEveryKindIsContained(t *testing.T) {
	reg := open(t, only())
	for _, kind := range append(hook.Kinds(), hook.KindCallback, hook.KindFunction) {
		err := reg.Register(&hook.Hook{Name: string(kind), Kind: kind, Event: hook.EventPreToolUse,
			Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { panic("boom") })})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range dispatch(t, reg, bash("ls")).Results {
		if r.Failure != hook.FailurePanic || r.Reason != "its handler panicked: boom" {
			t.Errorf("%s: %s %q", r.Hook.ID, r.Failure, r.Reason)
		}
	}
}

// A function that hangs costs a bounded number of goroutines, whatever its
// breaker.
func TestHandlerThatHangsLeavesABoundedNumberOfGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		release := make(chan struct{})
		defer func() { close(release); time.Sleep(time.Hour) }()
		var calls atomic.Int32
		on(t, reg, "hangs", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			calls.Add(1)
			<-release
			return nil, nil
		}, func(h *hook.Hook) { h.Breaker.Failures, h.Timeout = -1, time.Millisecond })
		for range 100 {
			dispatch(t, reg, bash("ls"))
		}
		if r := dispatch(t, reg, bash("ls")).Results[0]; calls.Load() != 64 || !strings.Contains(r.Reason, "64 earlier calls hang") {
			t.Errorf("%d calls, %q", calls.Load(), r.Reason)
		}
	})
}

func TestHandoffThatMisbehavesIsAResultAndBlocksNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for what hangs")
	}
	misbehaving(t, func(t *testing.T, _ string, misbehave func() (*hook.Output, error)) {
		opts := only()
		opts.DrainTimeout = 100 * time.Millisecond
		reg := open(t, opts)
		results := reg.Async()
		on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			return &hook.Output{Handoff: &hook.Handoff{Timeout: 20 * time.Millisecond, Wait: func(context.Context) (*hook.Output, error) { return misbehave() }}}, nil
		})
		if got := ids(dispatch(t, reg, bash("ls"))); got[0] != "in-process/a async" {
			t.Fatal(got)
		}
		if a := <-results; a.Result.Status != hook.StatusFailed {
			t.Errorf("%+v", a.Result)
		}
		closesSoon(t, reg)
	})
}

// closesSoon closes a registry, whatever error that comes to.
func closesSoon(t *testing.T, reg *registry.Registry) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- reg.Close() }()
	select {
	case err := <-ended:
		t.Logf("closed: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}

// A hook that hands itself off is waited for or ended, exactly once, whatever
// else it answers and whether or not there is a place for it.
func TestHandoffIsAlwaysWaitedForOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		out  hook.Output
		err  error
		full bool
		want hook.Status
	}{
		"success":      {want: hook.StatusAsync},
		"a denial":     {out: hook.Output{Verdict: hook.Deny}, want: hook.StatusBlocked},
		"an error":     {err: errors.New("bad"), want: hook.StatusFailed},
		"no place":     {full: true, want: hook.StatusSkipped},
		"a closed end": {want: hook.StatusAsync},
	} {
		t.Run(name, func(t *testing.T) {
			opts := only()
			opts.MaxAsync = 1
			reg := open(t, opts)
			end := make(chan struct{})
			if tc.full {
				if err := registry.On(reg, "busy", func(context.Context, hook.Stop) (*hook.Output, error) { <-end; return nil, nil }, async); err != nil {
					t.Fatal(err)
				}
				for range 65 {
					dispatch(t, reg, hook.Stop{})
				}
			}
			var waited atomic.Int32
			on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
				out := tc.out
				out.Handoff = &hook.Handoff{Wait: func(context.Context) (*hook.Output, error) { waited.Add(1); return nil, nil }}
				return &out, tc.err
			})
			if got := dispatch(t, reg, bash("ls")).Results[0].Status; got != tc.want {
				t.Errorf("status %s, want %s", got, tc.want)
			}
			close(end)
			if err := reg.Close(); err != nil || waited.Load() != 1 {
				t.Errorf("%v; waited for %d times", err, waited.Load())
			}
		})
	}
}

func TestCloseEndsHandoffsThatWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxAsync, opts.DrainTimeout = 1, time.Second
		reg := open(t, opts)
		var ended atomic.Int32
		on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			return &hook.Output{Handoff: &hook.Handoff{Wait: func(ctx context.Context) (*hook.Output, error) {
				<-ctx.Done()
				ended.Add(1)
				return nil, ctx.Err()
			}}}, nil
		})
		for range 5 {
			dispatch(t, reg, bash("ls"))
		}
		if err := reg.Close(); err == nil || !strings.Contains(err.Error(), "5 background hooks") || ended.Load() != 5 {
			t.Errorf("%v; %d ended", err, ended.Load())
		}
	})
}

func TestCallbacksOfTheHostThatMisbehaveAreDiagnostics(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for what hangs")
	}
	for callback, test := range map[string]func(t *testing.T, wrong func()){
		"OnAsync": func(t *testing.T, wrong func()) {
			opts := only()
			opts.DrainTimeout = 100 * time.Millisecond
			opts.OnAsync = func(registry.AsyncResult) { wrong() }
			reg := open(t, opts)
			results := reg.Async()
			on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }, async)
			dispatch(t, reg, bash("ls"))
			<-results // it is delivered all the same
			if !has(reg.Diagnostics(), "callback_failed", "Options.OnAsync ") {
				t.Errorf("%v", reg.Diagnostics())
			}
			closesSoon(t, reg)
		},
		"ToolSchema": func(t *testing.T, wrong func()) {
			opts := only()
			opts.ToolSchema = func(string) json.RawMessage { wrong(); return nil }
			reg := open(t, opts)
			on(t, reg, "a", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":"true"}`)}))
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.Deny || out.UpdatedInput != nil || !strings.Contains(out.Reason, "Options.ToolSchema ") {
				t.Errorf("%v %q: nobody can say that the rewritten input is right", out.Verdict, out.Reason)
			}
		},
		"Recorder": func(t *testing.T, wrong func()) {
			opts := only()
			opts.DrainTimeout = 100 * time.Millisecond
			opts.Recorder = hostileRecorder{wrong}
			reg := open(t, opts)
			on(t, reg, "a", answer(hook.Denied("no")))
			on(t, reg, "b", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }, async)
			if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !has(reg.Diagnostics(), "callback_failed", "Options.Recorder ") {
				t.Errorf("%v %v", out.Verdict, reg.Diagnostics())
			}
			closesSoon(t, reg)
		},
		"Logger": func(t *testing.T, wrong func()) {
			opts := only()
			opts.Logger = slog.New(hostileLog{wrong})
			reg := open(t, opts)
			on(t, reg, "a", answer(hook.Denied("no")))
			if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !has(out.Diagnostics, "callback_failed", "Options.Logger ") {
				t.Errorf("%v %v", out.Verdict, out.Diagnostics)
			}
		},
	} {
		t.Run(callback, func(t *testing.T) {
			misbehaving(t, func(t *testing.T, name string, misbehave func() (*hook.Output, error)) {
				if !strings.Contains(name, "returns") { // they return nothing
					test(t, func() { _, _ = misbehave() })
				}
			})
		})
	}
}

type hostileRecorder struct{ do func() }

func (r hostileRecorder) Record(hook.Record) { r.do() }

// configuredRecorder does it where it gets the settings.
type configuredRecorder struct{ do func() }

func (configuredRecorder) Record(hook.Record)                             {}
func (r configuredRecorder) Configure(dialect.Settings) []hook.Diagnostic { r.do(); return nil }

func TestRecorderThatCannotBeConfiguredIsADiagnostic(t *testing.T) {
	for name, do := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			opts := only()
			opts.Recorder = configuredRecorder{do}
			reg := open(t, opts)
			if !has(reg.Diagnostics(), "handler_failed", "Options.Recorder: its Configure ") {
				t.Errorf("%v", reg.Diagnostics())
			}
		})
	}
}

type hostileLog struct{ do func() }

func (hostileLog) Enabled(context.Context, slog.Level) bool    { return true }
func (l hostileLog) Handle(context.Context, slog.Record) error { l.do(); return nil }
func (l hostileLog) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l hostileLog) WithGroup(string) slog.Handler             { return l }

// hostileHandler does the same in each of its methods.
type hostileHandler struct{ do func() }

func (h hostileHandler) Handle(context.Context, *hook.Call) (*hook.Output, error) {
	h.do()
	return nil, nil
}
func (h hostileHandler) Configure(dialect.Settings) []hook.Diagnostic { h.do(); return nil }
func (h hostileHandler) Describe(string, string) ([]trust.Plugin, []hook.Diagnostic) {
	h.do()
	return nil, nil
}
func (h hostileHandler) Check(*hook.Call) []hook.Diagnostic        { h.do(); return nil }
func (h hostileHandler) Prewarm(context.Context, *hook.Call) error { h.do(); return nil }
func (h hostileHandler) Close() error                              { h.do(); return nil }

func TestEveryMethodOfAHandlerIsContained(t *testing.T) {
	for name, do := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			opts := machine(t, "")
			opts.DrainTimeout = 100 * time.Millisecond
			write(t, opts.UserDir+"/hooks/a/HOOK.md", "+++\nevent = \"PreToolUse\"\ntype = \"plugin\"\nplugin = \"p\"\n+++\n")
			write(t, opts.PluginsDir+"/pack/binary", "")
			opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: hostileHandler{do}}
			reg, err := registry.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"Configure", "Describe"} {
				if !has(reg.Diagnostics(), "handler_failed", "its "+method) {
					t.Errorf("%s: %v", method, reg.Diagnostics())
				}
			}
			if err := reg.Prewarm(t.Context()); err == nil {
				t.Error("Prewarm is well")
			}
			if err := reg.Close(); err == nil || !strings.Contains(err.Error(), "close the handler") {
				t.Errorf("Close: %v", err)
			}
			report, err := registry.Check(t.Context(), opts)
			if err == nil && !has(report.Diagnostics, "handler_failed", "its Check") {
				t.Errorf("%v", report.Diagnostics)
			}
		})
	}
}

// hangingCloser hangs in Close until it is released.
type hangingCloser struct {
	hook.HandlerFunc
	closed  atomic.Int32
	release chan struct{}
}

func (c *hangingCloser) Close() error { c.closed.Add(1); <-c.release; return nil }

func TestCloseLeavesAHandlerBehindThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.DrainTimeout = time.Second
		c := &hangingCloser{release: make(chan struct{})}
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPrompt: c, hook.KindAgent: c}
		reg := open(t, opts)
		start := time.Now()
		err := reg.Close()
		if d := time.Since(start); err == nil || !strings.Contains(err.Error(), "did not return in time") || d > 3*time.Second {
			t.Errorf("%v after %s", err, d)
		}
		if c.closed.Load() != 1 {
			t.Errorf("one handler of two kinds was closed %d times", c.closed.Load())
		}
		close(c.release)
	})
}

func TestCloseWithinAHookEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	reg := open(t, only())
	closed := make(chan error, 1)
	on(t, reg, "closes", func(context.Context, hook.PreToolUse) (*hook.Output, error) { closed <- reg.Close(); return nil, nil })
	if _, err := reg.Dispatch(t.Context(), bash("ls")); err == nil {
		t.Error("the dispatch of a closed registry decided something")
	}
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}

func TestStreamOutlivesItsBody(t *testing.T) {
	for name, body := range map[string]func(){
		"panics": func() { panic("body") },
		"exits":  runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			reg := open(t, only())
			for i := range 20 {
				on(t, reg, fmt.Sprintf("h%02d", i), answer(nil))
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { _ = recover() }()
				for range reg.Stream(t.Context(), bash("ls")) {
					body()
				}
			})
			wg.Wait()
			closesSoon(t, reg)
		})
	}
}

// A body that is slow, closes the registry or dispatches does not hold up hooks.
func TestStreamDoesNotWaitForItsBody(t *testing.T) {
	reg := open(t, only())
	var ran atomic.Int32
	all := make(chan struct{})
	for i := range 20 {
		on(t, reg, fmt.Sprintf("h%02d", i), func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			if ran.Add(1) == 20 {
				close(all)
			}
			return nil, nil
		})
	}
	for range reg.Stream(t.Context(), bash("ls")) {
		select {
		case <-all:
		case <-time.After(30 * time.Second):
			t.Fatal("hooks wait for the body of the loop")
		}
		closesSoon(t, reg)
	}
}

func TestProgressIsToldInItsPlaceAndLateLinesAreDropped(t *testing.T) {
	reg := open(t, only())
	late := make(chan func(string), 1)
	dir := hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
		c.Progress("one")
		c.Progress(strings.Repeat("é", 1<<20))
		late <- c.Progress
		return nil, nil
	})
	if err := reg.Register(&hook.Hook{Name: "a", Event: hook.EventPreToolUse, Handler: dir}); err != nil {
		t.Fatal(err)
	}
	on(t, reg, "b", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil },
		func(h *hook.Hook) { h.Priority = -1 })
	var got []string
	var report func(string)
	for p := range reg.Stream(t.Context(), bash("ls")) {
		if p.Hook != nil && p.Hook.Name == "a" {
			got = append(got, string(p.Phase)+" "+p.Line[:min(len(p.Line), 5)])
			if p.Phase == registry.PhaseFinished {
				report = <-late
				report("late")
			}
			if len(p.Line) > 100 && len(p.Line) != 16<<10 {
				t.Errorf("a line of %d bytes", len(p.Line))
			}
		}
	}
	report("later")
	if diff := cmp.Diff([]string{"started ", "progress one", "progress éé", "finished "}, got[:min(len(got), 4)]); diff != "" && len(got) != 4 {
		t.Errorf("%q %s", got, diff)
	}
	for _, line := range got {
		if strings.Contains(line, "late") {
			t.Errorf("%q", got)
		}
	}
}

func TestProgressThatNobodyReadsIsBounded(t *testing.T) {
	reg := open(t, only())
	done := make(chan struct{})
	chatty := hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
		defer close(done)
		for range 100_000 {
			c.Progress("line")
		}
		return hook.Denied("no"), nil
	})
	if err := reg.Register(&hook.Hook{Name: "a", Event: hook.EventPreToolUse, Handler: chatty}); err != nil {
		t.Fatal(err)
	}
	lines, phases := 0, ""
	for p := range reg.Stream(t.Context(), bash("ls")) {
		<-done
		if p.Phase == registry.PhaseProgress {
			lines++
			continue
		}
		phases += string(p.Phase) + " "
	}
	if lines != 256 || phases != "started finished done " {
		t.Errorf("%d lines, %s", lines, phases)
	}
}

// A reader that keeps up gets every line, however many there are.
func TestProgressThatIsReadIsWhole(t *testing.T) {
	reg := open(t, only())
	read := make(chan struct{})
	chatty := hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
		for range 1000 {
			c.Progress("line")
			<-read
		}
		return nil, nil
	})
	if err := reg.Register(&hook.Hook{Name: "a", Event: hook.EventPreToolUse, Handler: chatty}); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for p := range reg.Stream(t.Context(), bash("ls")) {
		if p.Phase == registry.PhaseProgress {
			lines++
			read <- struct{}{}
		}
	}
	if lines != 1000 {
		t.Errorf("%d lines", lines)
	}
}

// evilInput is an input of a host whose methods misbehave.
type evilInput struct {
	hook.PreToolUse
	do func()
}

func (i evilInput) Common() hook.Base { i.do(); return hook.Base{} }

func TestStreamReportsAnInputThatPanics(t *testing.T) {
	for name, do := range map[string]func(){"panics": func() { panic("in Common") }, "exits": runtime.Goexit} {
		reg := open(t, only())
		on(t, reg, "a", answer(nil))
		var last registry.Progress
		for p := range reg.Stream(t.Context(), evilInput{bash("ls"), do}) {
			last = p
		}
		if last.Phase != registry.PhaseDone || last.Err == nil {
			t.Errorf("%s: %+v", name, last)
		}
		closesSoon(t, reg)
	}
}
