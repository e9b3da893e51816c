package registry_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
)

func async(h *hook.Hook) { h.Async = true }

func TestB4BackgroundHooksAreBoundedAndDropsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxAsync = 4
		var delivered atomic.Int32
		opts.OnAsync = func(registry.AsyncResult) { delivered.Add(1) }
		reg := open(t, opts)
		var now, most atomic.Int32
		on(t, reg, "audit", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			n := now.Add(1)
			most.Store(max(most.Load(), n))
			time.Sleep(time.Second)
			now.Add(-1)
			return hook.Denied("its decision does not count"), nil
		}, async)
		var dropped int
		for range 10000 {
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.NoOpinion {
				t.Fatalf("an async hook decided %v", out.Verdict)
			}
			if out.Results[0].Status == hook.StatusSkipped {
				dropped++
			}
		}
		if dropped != 10000-4*65 || reg.Dropped() != dropped {
			t.Errorf("%d dropped, %d counted", dropped, reg.Dropped())
		}
		time.Sleep(time.Hour)
		if most.Load() != 4 || delivered.Load() != 4*65 {
			t.Errorf("%d at once, %d delivered", most.Load(), delivered.Load())
		}
	})
}

func TestCloseDrainsWithinItsLimitAndSaysWhatItDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxAsync, opts.DrainTimeout = 1, 3*time.Second
		reg := open(t, opts)
		on(t, reg, "slow", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
			select {
			case <-time.After(2 * time.Second):
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		}, async)
		for range 3 {
			dispatch(t, reg, bash("ls"))
		}
		start := time.Now()
		err := reg.Close()
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("it took %s", d)
		}
		if err == nil || !strings.Contains(err.Error(), "2 background hooks") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAsyncResultsComeOverTheChannelAndRewake(t *testing.T) {
	dir := tree(t, `
-- wakes/HOOK.md --
+++
event = "PostToolUse"
command = "echo look >&2; exit 2"
asyncRewake = true
+++
`)
	reg := open(t, only(dir))
	results := reg.Async()
	out := dispatch(t, reg, hook.PostToolUse{Base: hook.Base{SessionID: "s"}, ToolName: "Bash"})
	if out.Results[0].Status != hook.StatusAsync {
		t.Fatalf("got %v", ids(out))
	}
	a := <-results
	if !a.Rewake || !strings.Contains(a.Message, "look") || a.SessionID != "s" || a.Result.Status != hook.StatusBlocked {
		t.Errorf("got %+v", a)
	}
	if err := reg.Close(); err != nil {
		t.Error(err)
	}
	if _, open := <-results; open {
		t.Error("the channel is not closed with the registry")
	}
}

func TestHookThatHandsItselfOffAnswersLater(t *testing.T) {
	dir := tree(t, `
-- goes-on/HOOK.md --
+++
event = "PostToolUse"
command = '''echo '{"async":true,"asyncTimeout":20000}'; sleep 0.3; echo '{"systemMessage":"later"}' '''
+++
-- ends-at-once/HOOK.md --
+++
event = "PostToolUse"
command = '''echo '{"async":true}'; echo '{"systemMessage":"at once"}' '''
+++
-- hangs/HOOK.md --
+++
event = "PostToolUse"
command = '''echo '{"async":true,"asyncTimeout":200}'; sleep 60 '''
+++
`)
	reg := open(t, only(dir))
	results := reg.Async()
	start := time.Now()
	out := dispatch(t, reg, hook.PostToolUse{ToolName: "Bash"})
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("the dispatch waited %s", d)
	}
	want := []string{"dir/ends-at-once async", "dir/goes-on async", "dir/hangs async"}
	if diff := cmp.Diff(want, ids(out)); diff != "" {
		t.Error(diff)
	}
	got := make(map[string]string)
	for range 3 {
		a := <-results
		got[a.Result.Hook.Name] = string(a.Result.Failure)
		if a.Result.Output != nil {
			got[a.Result.Hook.Name] += a.Result.Output.SystemMessage
		}
	}
	if diff := cmp.Diff(map[string]string{"ends-at-once": "at once", "goes-on": "later", "hangs": "timeout"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCloseEndsAHookThatHandedItselfOff(t *testing.T) {
	dir := tree(t, `
-- a/HOOK.md --
+++
event = "Stop"
command = '''echo '{"async":true,"asyncTimeout":600000}'; sleep 600'''
timeout = 30
+++
`)
	opts := only(dir)
	opts.DrainTimeout = 100 * time.Millisecond
	reg := open(t, opts)
	if got := ids(dispatch(t, reg, hook.Stop{})); got[0] != "dir/a async" {
		t.Fatalf("got %v", got)
	}
	start := time.Now()
	if err := reg.Close(); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestCloseEndsHooksInTheBackgroundByTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.DrainTimeout = time.Second
		reg := open(t, opts)
		on(t, reg, "slow", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) { <-ctx.Done(); return nil, nil },
			func(h *hook.Hook) { h.Async, h.Timeout = true, time.Hour })
		dispatch(t, reg, bash("ls"))
		began := time.Now()
		err := reg.Close()
		if err == nil || !strings.Contains(err.Error(), "1 background hooks were not done after 1s") || strings.Contains(err.Error(), "still run") || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestReloadChangesHowManyRunInTheBackground(t *testing.T) {
	dir := t.TempDir()
	settings := filepath.Join(dir, "settings.toml")
	write(t, settings, "max_async = 1\n")
	reg := open(t, only(dir))
	var running atomic.Int32
	end := make(chan struct{})
	on(t, reg, "slow", func(ctx context.Context, _ hook.PreToolUse) (*hook.Output, error) {
		running.Add(1)
		defer running.Add(-1)
		select {
		case <-end:
		case <-ctx.Done():
		}
		return nil, nil
	}, async)
	for range 6 {
		dispatch(t, reg, bash("ls"))
	}
	await := func(want int32) {
		t.Helper()
		for start := time.Now(); running.Load() != want; time.Sleep(time.Millisecond) {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("%d run, want %d", running.Load(), want)
			}
		}
		time.Sleep(20 * time.Millisecond)
		if now := running.Load(); now != want {
			t.Fatalf("%d run, want %d", now, want)
		}
	}
	await(1)
	write(t, settings, "max_async = 3\n")
	reload(t, reg)
	await(3)
	write(t, settings, "max_async = 2\n")
	reload(t, reg)
	await(3) // none is ended for that
	end <- struct{}{}
	await(2)
	end <- struct{}{}
	await(2)
	close(end)
	await(0)
}

// Results wait for a reader of Async; what is over is dropped and counted.
func TestResultsThatNobodyReadsAreDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		opts.MaxAsync = 300
		reg := open(t, opts)
		on(t, reg, "a", answer(nil), async)
		dispatch(t, reg, bash("ls"))
		synctest.Wait()
		results := reg.Async() // from now on
		for range 300 {
			dispatch(t, reg, bash("ls"))
		}
		synctest.Wait()
		if reg.Dropped() != 300-256 {
			t.Errorf("%d dropped", reg.Dropped())
		}
		if err := reg.Close(); err != nil {
			t.Error(err)
		}
		n := 0
		for range results {
			n++
		}
		if n != 256 {
			t.Errorf("%d waited", n)
		}
		if _, open := <-reg.Async(); open {
			t.Error("a closed registry has results")
		}
	})
}

func TestAsyncOfAClosedRegistryIsClosed(t *testing.T) {
	reg := open(t, only())
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case _, open := <-reg.Async():
		if open {
			t.Error("a closed registry has results")
		}
	case <-time.After(30 * time.Second):
		t.Error("whoever reads its results waits for ever")
	}
}

// A function of the host that hangs costs results, and Close a few seconds.
func TestOnAsyncThatHangsDropsResultsAndDelaysCloseALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		release := make(chan struct{})
		defer synctest.Wait()
		defer close(release)
		hang := func() { <-release }
		opts.MaxAsync, opts.DrainTimeout = 100, time.Second
		opts.OnAsync = func(registry.AsyncResult) { hang() }
		reg := open(t, opts)
		on(t, reg, "a", answer(nil), async)
		for range 64 {
			dispatch(t, reg, bash("ls"))
		}
		time.Sleep(time.Minute)
		if reg.Dropped() != 0 {
			t.Errorf("%d are dropped: each was handed over", reg.Dropped())
		}
		dispatch(t, reg, bash("ls"))
		synctest.Wait()
		if reg.Dropped() != 1 {
			t.Errorf("%d are dropped, want the one that was not handed over", reg.Dropped())
		}
		opts.Recorder = hostileRecorder{hang}
		reg = open(t, opts)
		on(t, reg, "hangs", func(context.Context, hook.PreToolUse) (*hook.Output, error) { hang(); return nil, nil }, async)
		dispatch(t, reg, bash("ls"))
		time.Sleep(10 * time.Second)
		start := time.Now()
		err := reg.Close()
		if took := time.Since(start); took != 4*time.Second || err == nil ||
			!strings.Contains(err.Error(), "1 background hooks were not done after 1s") || !strings.Contains(err.Error(), "still run 3s after") {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestHandoffWithoutATimeLimitHasThatOfItsProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		results := reg.Async()
		on(t, reg, "a", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			return &hook.Output{Handoff: &hook.Handoff{Wait: func(ctx context.Context) (*hook.Output, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}}, nil
		}, within(time.Second))
		start := time.Now()
		dispatch(t, reg, bash("ls"))
		a := <-results
		if took := time.Since(start); took != dialect.HandoffTimeout || a.Result.Failure != hook.FailureTimeout || a.Result.Elapsed != took {
			t.Errorf("%s after %s: %+v", a.Result.Failure, took, a.Result)
		}
	})
}

func TestAllReadersOfBackgroundResultsShareOneChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		early := reg.Async()
		on(t, reg, "background", answer(nil), async)
		late := reg.Async()
		dispatch(t, reg, bash("ls"))
		synctest.Wait()
		if early != late || len(early) != 1 {
			t.Errorf("one channel: %v; %d results wait for who came first", early == late, len(early))
		}
	})
}
