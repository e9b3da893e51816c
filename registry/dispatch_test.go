package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func TestEachWayToFailIsToldApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := tree(t, `
-- good/HOOK.md --
+++
event = "PreToolUse"
command = "./good.sh"
+++
-- good/good.sh --
#!/bin/sh
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}'
-- typo/HOOK.md --
+++
event = "PreToolUes"
command = "true"
+++
-- missing-bin/HOOK.md --
+++
event = "PreToolUse"
command = "no-such-program-here"
[requires]
bins = ["no-such-program-here"]
+++
-- gone/HOOK.md --
+++
event = "PreToolUse"
command = "./gone.sh"
+++
-- hang/HOOK.md --
+++
event = "PreToolUse"
command = "sleep 60; echo"
timeout = 1
+++
-- garbage/HOOK.md --
+++
event = "PreToolUse"
command = "printf '{oops\\n'"
+++
-- broken/HOOK.md --
+++
event = "PreToolUse
+++
`)
	reg := open(t, only(dir))
	start := time.Now()
	out := dispatch(t, reg, bash("ls"))
	if elapsed := time.Since(start); elapsed > 30*time.Second {
		t.Errorf("it took %s", elapsed)
	}
	want := []string{
		"dir/broken skipped invalid",
		"dir/garbage failed output",
		"dir/gone failed start",
		"dir/good success",
		"dir/hang failed timeout",
		"dir/missing-bin skipped ineligible",
		"dir/typo skipped invalid",
	}
	if diff := cmp.Diff(want, ids(out)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if out.Verdict != hook.Allow {
		t.Errorf("verdict %v", out.Verdict)
	}
	for _, r := range out.Results {
		if r.Reason == "" {
			t.Errorf("%s gives no reason", r.Hook.ID)
		}
	}
}

func TestResultsAreInConfigurationOrderNotInThatOfFinishing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		for i := range 20 {
			on(t, reg, fmt.Sprintf("h%02d", i), func(context.Context, hook.PreToolUse) (*hook.Output, error) {
				time.Sleep(time.Duration(20-i) * time.Millisecond)
				return hook.WithContext(fmt.Sprint(i)), nil
			})
		}
		start := time.Now()
		out := dispatch(t, reg, bash("ls"))
		if elapsed := time.Since(start); elapsed != 20*time.Millisecond {
			t.Errorf("side by side they take as long as the slowest, not %s", elapsed)
		}
		for i, c := range out.Contexts {
			if c != fmt.Sprint(i) {
				t.Fatalf("contexts out of order: %v", out.Contexts)
			}
		}
	})
}

func TestP15TwoHundredHooksAreBoundedAndInOrder(t *testing.T) {
	opts := only()
	opts.MaxParallel = 7
	reg := open(t, opts)
	var now, most atomic.Int32
	for i := range 200 {
		on(t, reg, fmt.Sprintf("h%03d", i), func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			runtime.Gosched()
			now.Add(-1)
			return nil, nil
		})
	}
	out := dispatch(t, reg, bash("ls"))
	if len(out.Results) != 200 || most.Load() > 7 {
		t.Errorf("%d results, %d at once", len(out.Results), most.Load())
	}
	for i, r := range out.Results {
		if r.Hook.ID != fmt.Sprintf("in-process/h%03d", i) || r.Status != hook.StatusSuccess {
			t.Fatalf("result %d is %s %s", i, r.Hook.ID, r.Status)
		}
	}
}

func TestHandlerThatMisbehavesIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		on(t, reg, "a-panics", func(context.Context, hook.PreToolUse) (*hook.Output, error) { panic("oops") })
		on(t, reg, "b-exits", func(context.Context, hook.PreToolUse) (*hook.Output, error) { runtime.Goexit(); return nil, nil })
		on(t, reg, "c-hangs", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			time.Sleep(time.Hour)
			return hook.Allowed(""), nil
		}, within(time.Second))
		on(t, reg, "d-errs", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, errors.New("no") })
		on(t, reg, "e-works", answer(hook.Asked("sure?")))
		on(t, reg, "f-invents", answer(&hook.Output{Verdict: hook.Deny + 1, Reason: "no"}))
		start := time.Now()
		out := dispatch(t, reg, bash("ls"))
		if elapsed := time.Since(start); elapsed > 3*time.Second {
			t.Errorf("it took %s", elapsed)
		}
		want := []string{"in-process/a-panics failed panic", "in-process/b-exits failed panic", "in-process/c-hangs failed timeout",
			"in-process/d-errs failed exit", "in-process/e-works success", "in-process/f-invents failed output"}
		if diff := cmp.Diff(want, ids(out)); diff != "" || out.Verdict != hook.Ask {
			t.Errorf("%v -want +got:\n%s", out.Verdict, diff)
		}
		time.Sleep(2 * time.Hour) // the one that hung ends
	})
}

func TestB1OpenBreakerOfABlockingHookBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		calls := 0
		on(t, reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			calls++
			return nil, errors.New("broken")
		}, blocking)
		for range 5 {
			if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
				t.Fatalf("a failure of a blocking hook: %v", out.Verdict)
			}
		}
		out := dispatch(t, reg, bash("ls"))
		if calls != 5 || out.Verdict != hook.Deny || out.Results[0].Failure != hook.FailureBreakerOpen {
			t.Errorf("%d calls, %v, %v", calls, out.Verdict, ids(out))
		}
		time.Sleep(61 * time.Second)
		dispatch(t, reg, bash("ls"))
		dispatch(t, reg, bash("ls"))
		if calls != 6 {
			t.Errorf("after the cooldown one call may probe: %d calls", calls)
		}
	})
}

func TestB2DenialsAndCancellationsOpenNoBreaker(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "denies", answer(hook.Denied("no")))
	on(t, reg, "waits", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if in.ToolUseID == "cancel" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, nil
	})
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		in := bash("ls")
		in.ToolUseID = "cancel"
		if out, err := reg.Dispatch(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that gave up: %v, %v", out, err)
		}
		cancel()
	}
	for _, id := range []string{"in-process/denies", "in-process/waits"} {
		if l := state(t, reg, id); l.Breaker.Failures != 0 {
			t.Errorf("%s counts %d failures", id, l.Breaker.Failures)
		}
	}
}

func TestM6InputThatIsNotJSONIsDenied(t *testing.T) {
	reg := open(t, only())
	ran := false
	on(t, reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) { ran = true; return nil, nil })
	out := dispatch(t, reg, hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":`)})
	if ran || out.Verdict != hook.Deny || out.Results[0].Failure != hook.FailureStart {
		t.Errorf("ran %v, %v, %v", ran, out.Verdict, ids(out))
	}
}

func TestDispatchFailsOnlyIfNothingCouldBeDecided(t *testing.T) {
	reg := open(t, only())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reg.Dispatch(ctx, bash("ls")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := reg.Close(); err != nil {
		t.Error(err)
	}
	if _, err := reg.Dispatch(t.Context(), bash("ls")); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := reg.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsDispatchesUnderWay(t *testing.T) {
	reg := open(t, only())
	started := make(chan struct{})
	on(t, reg, "waits", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}, blocking)
	done := make(chan *hook.Outcome)
	go func() {
		out, _ := reg.Dispatch(context.WithoutCancel(t.Context()), bash("ls"))
		done <- out
	}()
	<-started
	if err := reg.Close(); err != nil {
		t.Error(err)
	}
	if out := <-done; out != nil {
		t.Errorf("a registry that closed under it decided %v", out.Verdict)
	}
}

func TestHooksOfOneToolCallDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		var now, most atomic.Int32
		slow := func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil, nil
		}
		on(t, reg, "slow", slow)
		run := func(ids ...string) time.Duration {
			start := time.Now()
			done := make(chan struct{})
			for _, id := range ids {
				go func() {
					in := bash("ls")
					in.ToolUseID = id
					dispatch(t, reg, in)
					done <- struct{}{}
				}()
			}
			for range ids {
				<-done
			}
			return time.Since(start)
		}
		if d := run("a", "a", "a"); d != 3*time.Second || most.Load() != 1 {
			t.Errorf("one tool call: %s, %d at once", d, most.Load())
		}
		if d := run("a", "b", "c"); d != time.Second || most.Load() != 3 {
			t.Errorf("three tool calls: %s, %d at once", d, most.Load())
		}
	})
}

func TestSessionEndHooksShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		sleeps := func(ctx context.Context, _ hook.SessionEnd) (*hook.Output, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		if err := registry.On(reg, "hangs", sleeps); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		out := dispatch(t, reg, hook.SessionEnd{Reason: "other"})
		if d := time.Since(start); d != hook.SessionEndBudget || out.Results[0].Failure != hook.FailureTimeout ||
			!strings.Contains(out.Results[0].Reason, "within 1.5s") {
			t.Errorf("%s, %v, %q", d, ids(out), out.Results[0].Reason)
		}
		if err := registry.On(reg, "asks-for-more", sleeps, within(10*time.Second)); err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		dispatch(t, reg, hook.SessionEnd{Reason: "other"})
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("the largest timeout raises the budget: %s", d)
		}
	})
}

func TestTimeoutBlocksAModelSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		err := registry.On(reg, "hangs", func(ctx context.Context, _ hook.PreModelSwitch) (*hook.Output, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, within(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if out := dispatch(t, reg, hook.PreModelSwitch{ToModel: "m"}); out.Verdict != hook.Deny || !strings.Contains(out.Reason, "timeout") {
			t.Errorf("%v %q", out.Verdict, out.Reason)
		}
	})
}

func TestChangeOfManagedPolicyCannotBeBlocked(t *testing.T) {
	reg := open(t, only())
	if err := registry.On(reg, "guard", func(context.Context, hook.ConfigChange) (*hook.Output, error) {
		return hook.Denied("no"), nil
	}); err != nil {
		t.Fatal(err)
	}
	if out := dispatch(t, reg, hook.ConfigChange{Source: "user_settings"}); out.Verdict != hook.Deny {
		t.Errorf("user settings: %v", out.Verdict)
	}
	out := dispatch(t, reg, hook.ConfigChange{Source: "policy_settings"})
	if out.Verdict != hook.NoOpinion || len(out.Diagnostics) != 1 {
		t.Errorf("policy settings: %v, %v", out.Verdict, out.Diagnostics)
	}
}
