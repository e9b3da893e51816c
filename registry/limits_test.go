package registry_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// The limits that Options documents hold where the host says nothing.
func TestHostThatSaysNothingHasTheDocumentedLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		var now, most atomic.Int32
		parallel := max(32, 4*runtime.GOMAXPROCS(0))
		for i := range parallel + 5 {
			on(t, reg, fmt.Sprint(i), func(context.Context, hook.PreToolUse) (*hook.Output, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(time.Second)
				return nil, nil
			})
		}
		dispatch(t, reg, bash("ls"))
		if most.Load() != int32(parallel) {
			t.Errorf("%d hooks run side by side, want %d", most.Load(), parallel)
		}
		reg = open(t, only())
		on(t, reg, "a", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, async, within(time.Hour))
		for range 16*65 + 3 {
			dispatch(t, reg, bash("ls"))
		}
		if reg.Dropped() != 3 {
			t.Errorf("%d are dropped, want those above 16 that run and 64 times that wait", reg.Dropped())
		}
		start := time.Now()
		if err := reg.Close(); err == nil || time.Since(start) != 5*time.Second || !strings.Contains(err.Error(), "1040 background hooks were not done after 5s") {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// A function of the host has 5 s, and 1.5 s to return after them.
func TestFunctionOfTheHostHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer synctest.Wait()
		defer close(release)
		for took, fn := range map[time.Duration]func(){
			6500 * time.Millisecond: func() { <-release },
			4 * time.Second:         func() { time.Sleep(4 * time.Second) },
			6 * time.Second:         func() { time.Sleep(6 * time.Second) },
		} {
			opts := only()
			opts.OnAsync = func(registry.AsyncResult) { fn() }
			reg := open(t, opts)
			results := reg.Async()
			on(t, reg, "a", answer(nil), async)
			start := time.Now()
			dispatch(t, reg, bash("ls"))
			<-results
			if time.Since(start) != took || has(reg.Diagnostics(), "callback_failed", "") != (took == 6500*time.Millisecond) {
				t.Errorf("a function that takes %s is waited for %s: %v", took, time.Since(start), reg.Diagnostics())
			}
		}
	})
}

// Something is remembered of 4096 sessions; the one that was not used for longest
// is forgotten first.
func TestSessionsAreForgottenInTheirOrder(t *testing.T) {
	limit := 1
	opts := only()
	opts.StopLimit = &limit
	reg := open(t, opts)
	on(t, reg, "once", answer(nil), once)
	if err := registry.On(reg, "keeps", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Denied("go on"), nil }); err != nil {
		t.Fatal(err)
	}
	use := func(session string) (ran, kept bool) {
		ran = len(dispatch(t, reg, inSession(session)).Results) == 1
		return ran, dispatch(t, reg, hook.Stop{Base: hook.Base{SessionID: session}}).Verdict == hook.Deny
	}
	for i := range 4096 {
		if ran, kept := use(fmt.Sprint(i)); !ran || !kept {
			t.Fatalf("session %d: %v %v", i, ran, kept)
		}
	}
	if len(reg.State().Once) != 4096 || len(reg.State().Stops) != 4096 {
		t.Errorf("%d and %d sessions are known", len(reg.State().Once), len(reg.State().Stops))
	}
	use("new")
	if s := reg.State(); len(s.Once) != 4096 || len(s.Stops) != 4096 {
		t.Errorf("%d and %d sessions are known", len(s.Once), len(s.Stops))
	}
	if ran, kept := use("0"); !ran || !kept {
		t.Errorf("the first is remembered: %v %v", ran, kept)
	}
	if ran, kept := use("4095"); ran || kept {
		t.Errorf("the last is forgotten: %v %v", ran, kept)
	}
}
