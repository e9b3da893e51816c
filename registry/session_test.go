package registry_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func inSession(id string) hook.PreToolUse {
	in := bash("ls")
	in.SessionID = id
	return in
}

func TestSessionHooksLeaveWithTheirSession(t *testing.T) {
	reg := open(t, only())
	add := func(session, name string) error {
		return registry.OnSession(reg, session, name, func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			return hook.Denied(name), nil
		})
	}
	for _, err := range []error{add("s", "mine"), add("other", "mine")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if add("s", "mine") == nil {
		t.Error("a name was taken twice in one session")
	}
	on(t, reg, "last", answer(nil))
	if got := ids(dispatch(t, reg, inSession("s"))); !slices.Equal(got, []string{"session/mine blocked", "in-process/last success"}) {
		t.Errorf("got %v", got)
	}
	if got := ids(dispatch(t, reg, inSession(""))); len(got) != 1 {
		t.Errorf("without a session: %v", got)
	}
	dispatch(t, reg, hook.SessionEnd{Base: hook.Base{SessionID: "s"}})
	if got := ids(dispatch(t, reg, inSession("s"))); len(got) != 1 {
		t.Errorf("after the session's end: %v", got)
	}
	if got := ids(dispatch(t, reg, inSession("other"))); len(got) != 2 {
		t.Errorf("the other session: %v", got)
	}
}

func TestOnceRunsOnceInEachSession(t *testing.T) {
	reg := open(t, only())
	runs, fail := 0, true
	on(t, reg, "once", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
		runs++
		if fail {
			return nil, fmt.Errorf("not yet")
		}
		return nil, nil
	}, func(h *hook.Hook) { h.Once = true })
	dispatch(t, reg, inSession("s"))
	fail = false
	for range 3 {
		dispatch(t, reg, inSession("s"))
	}
	dispatch(t, reg, inSession("other"))
	if runs != 3 { // a failure, a success, another session
		t.Errorf("it ran %d times", runs)
	}
}

// A reload that changes other hooks does not let a hook run again that has run.
func TestOnceOfASessionOutlivesAReload(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.UserDir, "hooks"), "-- it/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\nonce = true\n+++\n")
	reg := open(t, opts)
	if got := statuses(dispatch(t, reg, inSession("s"))); !slices.Equal(got, []string{"user/it success"}) {
		t.Fatal(got)
	}
	put(t, filepath.Join(opts.UserDir, "hooks"), "-- another/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	if changed := reload(t, reg); summary(changed) != "+user/another" {
		t.Fatal(summary(changed))
	}
	if got := statuses(dispatch(t, reg, inSession("s"))); !slices.Equal(got, []string{"user/another success"}) {
		t.Errorf("it runs again: %v", got)
	}
}

func TestStopGuardOverridesTheNinthContinuationInARow(t *testing.T) {
	three, off := 3, 0
	for name, tt := range map[string]struct {
		limit *int
		want  int // blocks before it is overridden
	}{"by default": {nil, 8}, "set": {&three, 3}, "off": {&off, 20}} {
		opts := only()
		opts.StopLimit = tt.limit
		reg := open(t, opts)
		if err := registry.On(reg, "never", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Denied("work on"), nil }); err != nil {
			t.Fatal(err)
		}
		stop := hook.Stop{Base: hook.Base{SessionID: "s"}}
		blocks := 0
		for range 20 {
			out := dispatch(t, reg, stop)
			if out.Verdict != hook.Deny {
				if len(out.Diagnostics) != 1 || out.Diagnostics[0].Code != "stop_overridden" {
					t.Errorf("%s: it was not said: %v", name, out.Diagnostics)
				}
				break
			}
			blocks++
			other := stop
			other.SessionID = "other"
			if blocks == 1 {
				dispatch(t, reg, other) // counted apart
			}
		}
		if blocks != tt.want {
			t.Errorf("%s: %d continuations", name, blocks)
		}
	}
}

func TestPromptStartsTheStopGuardAnew(t *testing.T) {
	two := 2
	opts := only()
	opts.StopLimit = &two
	reg := open(t, opts)
	if err := registry.On(reg, "never", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Denied("work on"), nil }); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		dispatch(t, reg, hook.UserPromptSubmit{})
		for range 2 {
			if out := dispatch(t, reg, hook.Stop{}); out.Verdict != hook.Deny {
				t.Fatalf("got %v", out.Verdict)
			}
		}
	}
}

// Gemini CLI sends what kept it working as a prompt of its own.
func TestPromptWhileTheAgentIsKeptWorkingDoesNotStartTheStopGuardAnew(t *testing.T) {
	two := 2
	opts := only()
	opts.StopLimit = &two
	reg := open(t, opts)
	if err := registry.On(reg, "never", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Denied("work on"), nil }); err != nil {
		t.Fatal(err)
	}
	for turn := range 3 {
		dispatch(t, reg, hook.UserPromptSubmit{Prompt: "go"})
		for blocked := range 3 {
			out := dispatch(t, reg, hook.Stop{StopHookActive: blocked > 0})
			if (out.Verdict == hook.Deny) != (blocked < two) {
				t.Fatalf("turn %d, continuation %d: %v", turn, blocked, out.Verdict)
			}
			dispatch(t, reg, hook.UserPromptSubmit{Prompt: "work on"})
		}
	}
}

func TestStreamTellsStepsAsTheyHappenAndTheSameOutcome(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a", answer(hook.WithContext("A")))
	on(t, reg, "b", answer(hook.Denied("no")))
	steps := make(map[string][]registry.Phase)
	var last registry.Progress
	for p := range reg.Stream(t.Context(), bash("ls")) {
		if p.Hook != nil {
			steps[p.Hook.Name] = append(steps[p.Hook.Name], p.Phase)
		}
		last = p
	}
	for name, got := range steps {
		if !slices.Equal(got, []registry.Phase{registry.PhaseStarted, registry.PhaseFinished}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if last.Phase != registry.PhaseDone || last.Outcome.Verdict != hook.Deny || len(last.Outcome.Results) != 2 || last.Err != nil {
		t.Errorf("last step %+v", last)
	}
}

func TestBreakingOffAStreamCancelsItsHooks(t *testing.T) {
	reg := open(t, only())
	began, cancelled := make(chan struct{}), make(chan struct{})
	on(t, reg, "waits", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
		close(began)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	for range reg.Stream(t.Context(), bash("ls")) {
		<-began // a hook is not called any more once the stream is broken off
		break
	}
	<-cancelled
}

func TestRegisterRefusesWhatCannotRun(t *testing.T) {
	reg := open(t, only())
	for name, h := range map[string]*hook.Hook{
		"no name":    {Event: "Stop", Handler: hook.HandlerFunc(nil)},
		"no event":   {Name: "x", Handler: hook.HandlerFunc(nil)},
		"no handler": {Name: "x", Event: "Stop"},
	} {
		if reg.Register(h) == nil {
			t.Errorf("%s was registered", name)
		}
	}
	on(t, reg, "x", answer(nil))
	if registry.On(reg, "x", answer(nil)) == nil {
		t.Error("a name was taken twice")
	}
}

// A function that fails in one session is not left alone in another.
func TestSessionHooksHaveBreakersOfTheirOwn(t *testing.T) {
	reg := open(t, only())
	for _, session := range []string{"a", "b"} {
		if err := registry.OnSession(reg, session, "fn", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			return nil, fmt.Errorf("fails")
		}, func(h *hook.Hook) { h.Breaker.Failures = 1 }); err != nil {
			t.Fatal(err)
		}
	}
	dispatch(t, reg, inSession("a"))
	for session, want := range map[string]hook.Failure{"a": hook.FailureBreakerOpen, "b": hook.FailureExit} {
		if got := dispatch(t, reg, inSession(session)).Results[0].Failure; got != want {
			t.Errorf("session %s: %s, want %s", session, got, want)
		}
	}
}
