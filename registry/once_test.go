package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func once(h *hook.Hook) { h.Once = true }

func toolUse(id string) hook.PreToolUse {
	in := bash("ls")
	in.SessionID, in.ToolUseID = "s", id
	return in
}

func TestOnceRunsOnceUnderConcurrentDispatches(t *testing.T) {
	for name, configure := range map[string]func(*hook.Hook){
		"decides":    once,
		"background": func(h *hook.Hook) { h.Once, h.Async = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reg := open(t, only())
				var ran atomic.Int32
				on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
					ran.Add(1)
					time.Sleep(time.Second)
					return nil, nil
				}, configure)
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() { dispatch(t, reg, inSession("s")) })
				}
				all.Wait()
				time.Sleep(time.Minute)
				if ran.Load() != 1 {
					t.Errorf("it ran %d times", ran.Load())
				}
				dispatch(t, reg, inSession("other"))
				time.Sleep(time.Minute)
				if ran.Load() != 2 {
					t.Errorf("it ran %d times, with another session", ran.Load())
				}
			})
		})
	}
}

// A caller that waits for a run that failed, or that denied, is judged itself.
func TestOnceThatDoesNotSucceedIsGivenBack(t *testing.T) {
	for name, tc := range map[string]struct {
		first  func() (*hook.Output, error)
		status hook.Status
	}{
		"fails":  {func() (*hook.Output, error) { return nil, errors.New("bad") }, hook.StatusFailed},
		"panics": {func() (*hook.Output, error) { panic("boom") }, hook.StatusFailed},
		"denies": {func() (*hook.Output, error) { return hook.Denied("no"), nil }, hook.StatusBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reg := open(t, only())
				var ran atomic.Int32
				on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
					n := ran.Add(1)
					time.Sleep(time.Second)
					if n < 3 {
						return tc.first()
					}
					return nil, nil
				}, once)
				counts := make(map[hook.Status]int)
				var mu sync.Mutex
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() {
						out := dispatch(t, reg, inSession("s"))
						mu.Lock()
						defer mu.Unlock()
						counts[out.Results[0].Status]++
					})
				}
				all.Wait()
				if diff := cmp.Diff(map[hook.Status]int{tc.status: 2, hook.StatusSuccess: 1, hook.StatusSkipped: 2}, counts); diff != "" || ran.Load() != 3 {
					t.Errorf("%d runs %s", ran.Load(), diff)
				}
				if got := ids(dispatch(t, reg, inSession("s"))); len(got) != 0 {
					t.Errorf("after its success: %v", got)
				}
			})
		})
	}
}

func TestOnceIsGivenBackByABackgroundRunThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxAsync = 1
		reg := open(t, opts)
		var ran atomic.Int32
		on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			if ran.Add(1) < 2 {
				return nil, errors.New("bad")
			}
			return nil, nil
		}, once, async)
		for range 4 {
			dispatch(t, reg, inSession("s"))
			time.Sleep(time.Second)
		}
		if ran.Load() != 2 {
			t.Errorf("it ran %d times", ran.Load())
		}
		busy := make(chan struct{})
		defer close(busy)
		on(t, reg, "busy", func(context.Context, hook.PreToolUse) (*hook.Output, error) { <-busy; return nil, nil }, async)
		for range 65 {
			dispatch(t, reg, inSession("s"))
		}
		if err := registry.On(reg, "late", func(context.Context, hook.Stop) (*hook.Output, error) { return nil, nil }, once, async); err != nil {
			t.Fatal(err)
		}
		for range 2 { // no place is no run
			if got := dispatch(t, reg, hook.Stop{Base: hook.Base{SessionID: "s"}}).Results[0]; got.Reason != "dropped: 1 background hooks run and 64 wait" {
				t.Errorf("%s %q", got.Status, got.Reason)
			}
		}
	})
}

// A hook that waits for a run in another dispatch gives up with its caller.
func TestOnceDoesNotOutwaitItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		on(t, reg, "slow", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}, once)
		go func() { _, _ = reg.Dispatch(t.Context(), inSession("s")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := reg.Dispatch(ctx, inSession("s")); err == nil || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		time.Sleep(time.Hour)
	})
}

func TestNestedDispatchDoesNotWaitForItself(t *testing.T) {
	for name, configure := range map[string]func(*hook.Hook){
		"plain": func(*hook.Hook) {}, "once": once, "background": async,
		"once in the background": func(h *hook.Hook) { h.Once, h.Async = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := only()
				opts.MaxParallel, opts.MaxAsync = 1, 1
				reg := open(t, opts)
				var inner []string
				depth := 0
				on(t, reg, "outer", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
					if depth++; depth > 1 {
						return nil, nil
					}
					out, err := reg.Dispatch(ctx, in) // the same tool_use_id, the only place
					if err == nil {
						inner = ids(out)
					}
					return nil, err
				}, configure)
				on(t, reg, "second", answer(nil))
				start := time.Now()
				dispatch(t, reg, toolUse("t1"))
				synctest.Wait()
				if d := time.Since(start); d != 0 || len(inner) == 0 || inner[len(inner)-1] != "in-process/second success" {
					t.Errorf("after %s: %v", d, inner)
				}
			})
		})
	}
}

// Two tool calls whose hooks dispatch each other's do not wait for each other.
func TestNestedDispatchesOfEachOtherDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxParallel = 2
		reg := open(t, opts)
		on(t, reg, "crosses", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
			if in.ToolName != "Bash" {
				return nil, nil
			}
			time.Sleep(time.Second)
			other := map[string]string{"t1": "t2", "t2": "t1"}[in.ToolUseID]
			_, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Edit", ToolUseID: other, Base: in.Base})
			return nil, err
		})
		var both sync.WaitGroup
		start := time.Now()
		for _, id := range []string{"t1", "t2"} {
			both.Go(func() {
				if got := ids(dispatch(t, reg, toolUse(id))); got[0] != "in-process/crosses success" {
					t.Error(got)
				}
			})
		}
		both.Wait()
		if d := time.Since(start); d != time.Second {
			t.Errorf("it took %s", d)
		}
	})
}

// A context that outlives its dispatch makes no nested dispatch any more.
func TestContextOfADispatchThatEndedTakesAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxParallel = 1
		reg := open(t, opts)
		var kept context.Context
		on(t, reg, "keeps", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
			if kept == nil {
				kept = context.WithoutCancel(ctx)
				return nil, nil
			}
			time.Sleep(time.Second)
			return nil, nil
		})
		dispatch(t, reg, toolUse("t1"))
		start := time.Now()
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := reg.Dispatch(kept, toolUse("t2")); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if d := time.Since(start); d != 2*time.Second {
			t.Errorf("they did not wait for each other: %s", d)
		}
	})
}

func TestEndlessNestingIsAnError(t *testing.T) {
	reg := open(t, only())
	var deepest error
	calls := 0
	on(t, reg, "loops", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		calls++
		_, err := reg.Dispatch(ctx, in)
		if err != nil {
			deepest = err
		}
		return nil, nil
	})
	if out := dispatch(t, reg, toolUse("t1")); out.Results[0].Status != hook.StatusSuccess {
		t.Error(ids(out))
	}
	if deepest == nil || calls != 9 {
		t.Errorf("%d calls, %v", calls, deepest)
	}
}

// What is kept of sessions that never end is bounded: the least recently used
// is forgotten first.
func TestSessionsThatNeverEndAreBounded(t *testing.T) {
	reg := open(t, only())
	ran := 0
	on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) { ran++; return nil, nil }, once)
	for i := range 5000 {
		dispatch(t, reg, inSession("kept"))
		dispatch(t, reg, inSession(fmt.Sprint("s", i)))
	}
	if ran != 5001 {
		t.Errorf("it ran %d times", ran)
	}
	dispatch(t, reg, inSession("s4999"))
	dispatch(t, reg, inSession("s0"))
	if ran != 5002 {
		t.Errorf("of the first and the last session %d ran again, want the first", ran-5001)
	}
}

// A dispatch that waits for the run of a hook in another one leaves the places to
// the hooks that run.
func TestOnceThatIsWaitedForTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxParallel = 2
		reg := open(t, opts)
		release := make(chan struct{})
		on(t, reg, "a-once", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			<-release
			return nil, nil
		}, func(h *hook.Hook) { h.Once, h.Matcher, h.Timeout = true, "Bash", time.Hour })
		on(t, reg, "b-guard", answer(hook.Asked("sure?")), func(h *hook.Hook) { h.Matcher = "Write" })
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { dispatch(t, reg, bash("ls")) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Write", ToolInput: []byte("{}")}); err != nil || out.Verdict != hook.Ask {
			t.Errorf("%v %v", out, err)
		}
		close(release)
		wg.Wait()
	})
}

// A caller that watches sees that a hook which waits for a run of itself was given up.
func TestOnceThatIsGivenUpIsReportedAsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		release := make(chan struct{})
		on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) { <-release; return nil, nil }, once, within(time.Hour))
		go func() { _, _ = reg.Dispatch(t.Context(), inSession("s")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		told := 0
		for p := range reg.Stream(ctx, inSession("s")) {
			if p.Phase != registry.PhaseFinished {
				continue
			}
			told++
			if p.Result.Status != hook.StatusCancelled || p.Result.Hook.ID != "in-process/first" || p.Result.Err == nil {
				t.Errorf("%+v", p.Result)
			}
		}
		close(release)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
}

// A run that outlives its session gives back nothing of the next session of that name.
func TestOnceThatFailsAfterItsSessionEndedLeavesTheNextOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		var ran atomic.Int32
		on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			if ran.Add(1) == 1 {
				time.Sleep(time.Second)
				return nil, errors.New("bad")
			}
			return nil, nil
		}, once)
		var all sync.WaitGroup
		all.Go(func() { dispatch(t, reg, toolUse("one")) })
		synctest.Wait()
		reg.EndSession("s")
		dispatch(t, reg, toolUse("two"))
		all.Wait()
		if got := ids(dispatch(t, reg, toolUse("three"))); len(got) != 0 || ran.Load() != 2 {
			t.Errorf("%d runs, the last dispatch asked %v", ran.Load(), got)
		}
	})
}
