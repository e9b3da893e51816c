package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Events of one tool call wait for each other also if they come one by one, and
// one that gives up frees its place. Other sessions and calls wait for nothing.
func TestEventsOfOneToolCallWaitInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		var now, most atomic.Int32
		on(t, reg, "slow", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return nil, nil
		})
		start := time.Now()
		var all sync.WaitGroup
		call := func(after time.Duration, session, id string, limit, want time.Duration) {
			all.Go(func() {
				time.Sleep(after)
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				in := inSession(session)
				in.ToolUseID = id
				_, err := reg.Dispatch(ctx, in)
				if gaveUp := limit < time.Hour; gaveUp != errors.Is(err, context.DeadlineExceeded) || !gaveUp && err != nil || time.Since(start) != want {
					t.Errorf("%s %s after %s: %v at %s, want the end at %s", session, id, after, err, time.Since(start), want)
				}
			})
		}
		const ms = time.Millisecond
		call(0, "s", "a", time.Hour, time.Second)
		call(100*ms, "s", "a", 200*ms, 300*ms) // waits in vain
		call(400*ms, "s", "a", time.Hour, 2*time.Second)
		call(1500*ms, "s", "a", time.Hour, 3*time.Second) // when the first one is over, and the next runs
		call(2500*ms, "s", "a", time.Hour, 4*time.Second)
		all.Wait()
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
		start = time.Now()
		for _, free := range [][2]string{{"s", "a"}, {"other", "a"}, {"s", "b"}, {"s", ""}, {"s", ""}} {
			call(0, free[0], free[1], time.Hour, time.Second)
		}
		all.Wait()
		if most.Load() != 5 {
			t.Errorf("%d of five at once", most.Load())
		}
	})
}

// Where no place is free, a hook waits no longer than its caller does.
func TestHookThatWaitsForAPlaceLeavesWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxParallel = 1
		reg := open(t, opts)
		var ran atomic.Int32
		for _, name := range []string{"a", "b"} { // one of them has the place
			on(t, reg, name, func(context.Context, hook.PreToolUse) (*hook.Output, error) {
				if ran.Add(1) == 1 {
					time.Sleep(time.Minute)
				}
				return nil, nil
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := reg.Dispatch(ctx, bash("ls")); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if ran.Load() != 1 {
			t.Errorf("%d hooks ran", ran.Load())
		}
		time.Sleep(time.Hour)
		if out := dispatch(t, reg, hook.PreToolUse{ToolName: "Bash"}); len(out.Results) != 2 {
			t.Errorf("the place is not free any more: %v", ids(out))
		}
	})
}

// Functions of the host that hang delay Close by a few seconds in all, also those
// that a dispatch calls when its hooks have ended.
func TestCloseLeavesADispatchBehindThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer synctest.Wait()
		defer close(release)
		opts := only()
		opts.Recorder = hostileRecorder{func() { <-release }}
		reg := open(t, opts)
		on(t, reg, "hangs", func(context.Context, hook.PreToolUse) (*hook.Output, error) { <-release; return nil, nil })
		go func() { _, _ = reg.Dispatch(t.Context(), evilInput{bash("ls"), func() {}}) }()
		synctest.Wait()
		start := time.Now()
		if err := reg.Close(); err != nil || time.Since(start) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// A matcher that takes too long to tell is about what a hook can block, and about
// nothing that it cannot. Nothing of it is remembered.
func TestMatcherThatCannotTellCountsForWhatCanBlock(t *testing.T) {
	const slow = `(?=a)b`
	subject := strings.Repeat("a", 1<<16) // longer than what an expression with a look-ahead is asked about
	for _, session := range []bool{false, true} {
		reg := open(t, only())
		h := func(event hook.Event) *hook.Hook {
			return &hook.Hook{Name: "a", Event: event, Matcher: slow,
				Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })}
		}
		for _, event := range []hook.Event{hook.EventPreToolUse, hook.EventNotification} {
			register := reg.Register
			if session {
				register = func(h *hook.Hook) error { return reg.RegisterSession("s", h) }
			}
			if err := register(h(event)); err != nil {
				t.Fatal(err)
			}
		}
		base := hook.Base{SessionID: "s"}
		for range 2 {
			if out := dispatch(t, reg, hook.PreToolUse{Base: base, ToolName: subject}); len(out.Results) != 1 || out.Results[0].Status != hook.StatusSuccess {
				t.Errorf("session %v: before a tool: %v", session, ids(out))
			}
			if out := dispatch(t, reg, hook.Notification{Base: base, NotificationType: subject}); len(out.Results) != 0 {
				t.Errorf("session %v: a notification: %v", session, ids(out))
			}
		}
	}
}

// A matcher that cannot be used leaves a result for each event, whoever
// registered the hook. One that no regular expression can have shows at once, one
// that is too long when it is first used.
func TestMatcherThatCannotBeUsedLeavesAResult(t *testing.T) {
	for _, pattern := range []string{"Ba(sh", "(?=" + strings.Repeat("a", 5000) + ")"} {
		for _, event := range []hook.Event{hook.EventPreToolUse, hook.EventNotification} {
			reg := open(t, only(tree(t, fmt.Sprintf("-- f/HOOK.md --\n+++\nevent = %q\nmatcher = %q\ncommand = \"true\"\n+++\n", event, pattern))))
			h := hook.Hook{Name: "g", Event: event, Matcher: pattern, Handler: hook.HandlerFunc(nil)}
			if err := errors.Join(reg.Register(&h), reg.RegisterSession("s", &h)); err != nil {
				t.Fatal(err)
			}
			var in hook.Input = inSession("s")
			if event == hook.EventNotification {
				in = hook.Notification{Base: hook.Base{SessionID: "s"}, NotificationType: "x"}
			}
			want := []string{"dir/f skipped invalid", "session/g skipped invalid", "in-process/g skipped invalid"}
			if diff := cmp.Diff(want, ids(dispatch(t, reg, in))); diff != "" {
				t.Errorf("%.9s: %s", pattern, diff)
			}
			if out := dispatch(t, reg, hook.Stop{Base: hook.Base{SessionID: "s"}}); len(out.Results) != 0 {
				t.Errorf("another event: %v", ids(out))
			}
			for _, l := range reg.List() {
				if l.State != hook.StateInvalid {
					t.Errorf("%s is listed as %s", l.Hook.ID, l.State)
				}
			}
		}
	}
}

// Hooks of a session are selected as all others are, and come in their order.
func TestMatchersOfSessionHooksSelect(t *testing.T) {
	reg := open(t, only())
	for i, matcher := range []string{"Bash", "Write", "", "Bash|Edit", "B.*", "W.*"} {
		if err := registry.OnSession(reg, "s", fmt.Sprint(i), answer(nil), func(h *hook.Hook) { h.Matcher = matcher }); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"session/0 success", "session/2 success", "session/3 success", "session/4 success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, inSession("s")))); diff != "" {
		t.Error(diff)
	}
}
