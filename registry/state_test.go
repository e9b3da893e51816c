package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// relayed takes a state through JSON, as another process would get it.
func relayed(t *testing.T, s registry.State) registry.State {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again registry.State
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

// TestStateGoesOnInAnotherRegistry runs a history in one registry, and continues
// in others: what one with the state does differs from what a new one does.
func TestStateGoesOnInAnotherRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only()
		limit := 3
		opts.Workspace, opts.StopLimit = t.TempDir(), &limit
		build := func() *registry.Registry {
			reg := open(t, opts)
			on(t, reg, "greets", answer(nil), once)
			on(t, reg, "later", answer(nil), once, async)
			on(t, reg, "denies", answer(hook.Denied("no")), once)
			on(t, reg, "fails", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, errors.New("bad") },
				func(h *hook.Hook) { h.Breaker.Failures = 2 })
			if err := registry.On(reg, "keeps", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Denied("go on"), nil }); err != nil {
				t.Fatal(err)
			}
			return reg
		}
		stop := hook.Stop{Base: hook.Base{SessionID: "s", AgentID: "a"}}
		seen := func(reg *registry.Registry) (got []string) {
			t.Helper()
			got = append(got, ids(dispatch(t, reg, inSession("s")))...)
			return append(got, dispatch(t, reg, stop).Verdict.String())
		}
		first := build()
		for range 2 {
			seen(first)
		}
		synctest.Wait()
		state := relayed(t, first.State())
		if len(state.Once) != 2 || len(state.Stops) != 1 || len(state.Breakers) != 1 {
			t.Fatalf("%+v", state)
		}
		fresh := []string{"in-process/greets success", "in-process/later async", "in-process/denies blocked", "in-process/fails failed exit", "deny"}
		onwards := []string{"in-process/denies blocked", "in-process/fails failed breaker_open", "deny"}
		second := build()
		if diff := cmp.Diff(fresh, seen(build())); diff != "" {
			t.Errorf("a new one: -want +got:\n%s", diff)
		}
		second.Restore(state)
		if diff := cmp.Diff(state, second.State()); diff != "" {
			t.Errorf("the state of the second: -want +got:\n%s", diff)
		}
		if diff := cmp.Diff(onwards, seen(second)); diff != "" {
			t.Errorf("with the state: -want +got:\n%s", diff)
		}
		if out := dispatch(t, second, stop); out.Verdict == hook.Deny {
			t.Errorf("stops were blocked %d times and once more", limit)
		}
		if out := dispatch(t, second, inSession("other")); len(out.Results) != 4 {
			t.Errorf("another session: %v", ids(out))
		}
		// What is restored replaces what there was.
		second.Restore(registry.State{Once: map[string]bool{"no key": true, `["a"]`: true}, Stops: map[string]int{"no key": 9, `["a"]`: 9}})
		if s := second.State(); len(s.Once)+len(s.Stops) != 0 {
			t.Errorf("%+v", s)
		}
		if got := seen(second); got[0] != fresh[0] || got[len(got)-1] != "deny" {
			t.Errorf("nothing is remembered: %v", got)
		}
	})
}

// A hook that runs now has not run yet.
func TestStateLeavesOutWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		end := make(chan struct{})
		on(t, reg, "first", func(context.Context, hook.PreToolUse) (*hook.Output, error) { <-end; return nil, nil }, once)
		go func() { _, _ = reg.Dispatch(t.Context(), inSession("s")) }()
		synctest.Wait()
		if s := reg.State(); len(s.Once) != 0 {
			t.Errorf("under way: %+v", s)
		}
		close(end)
		synctest.Wait()
		if s := reg.State(); len(s.Once) != 1 {
			t.Errorf("over: %+v", s)
		}
	})
}

func TestStatesOfTwoProcessesMerge(t *testing.T) {
	at := time.Unix(1, 0)
	failed := func(n int) breaker.Memory { return breaker.Memory{Failures: n} }
	opened := breaker.Memory{Failures: 5, RetryAt: at}
	for name, tc := range map[string]struct{ theirs, before, after, want registry.State }{
		"nothing": {want: registry.State{Once: map[string]bool{}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{}}},
		"what is new is added": {
			theirs: registry.State{Once: map[string]bool{"theirs": true}, Stops: map[string]int{"theirs": 1}},
			after:  registry.State{Once: map[string]bool{"ours": true}, Stops: map[string]int{"ours": 2}, Breakers: map[string]breaker.Memory{"ours": failed(1)}},
			want: registry.State{Once: map[string]bool{"theirs": true, "ours": true}, Stops: map[string]int{"theirs": 1, "ours": 2},
				Breakers: map[string]breaker.Memory{"ours": failed(1)}},
		},
		"what was not changed stays theirs": {
			theirs: registry.State{Stops: map[string]int{"a": 7}, Breakers: map[string]breaker.Memory{"b": failed(4)}},
			before: registry.State{Once: map[string]bool{"o": true}, Stops: map[string]int{"a": 1}, Breakers: map[string]breaker.Memory{"b": failed(2)}},
			after:  registry.State{Once: map[string]bool{"o": true}, Stops: map[string]int{"a": 1}, Breakers: map[string]breaker.Memory{"b": failed(2)}},
			want:   registry.State{Once: map[string]bool{}, Stops: map[string]int{"a": 7}, Breakers: map[string]breaker.Memory{"b": failed(4)}},
		},
		"what went is removed": {
			theirs: registry.State{Once: map[string]bool{"o": true, "other": true}, Stops: map[string]int{"a": 1}, Breakers: map[string]breaker.Memory{"b": failed(2)}},
			before: registry.State{Once: map[string]bool{"o": true}, Stops: map[string]int{"a": 1}, Breakers: map[string]breaker.Memory{"b": failed(2)}},
			want:   registry.State{Once: map[string]bool{"other": true}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{}},
		},
		"all that went is removed": {
			theirs: registry.State{Once: map[string]bool{"o": true, "p": true, "q": true}},
			before: registry.State{Once: map[string]bool{"o": true, "p": true, "q": true}},
			want:   registry.State{Once: map[string]bool{}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{}},
		},
		"all that is new is added": {
			after: registry.State{Once: map[string]bool{"o": true, "p": true, "q": true}},
			want:  registry.State{Once: map[string]bool{"o": true, "p": true, "q": true}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{}},
		},
		"failures of both add up": {
			theirs: registry.State{Breakers: map[string]breaker.Memory{"b": failed(3)}},
			before: registry.State{Breakers: map[string]breaker.Memory{"b": failed(1)}},
			after:  registry.State{Breakers: map[string]breaker.Memory{"b": failed(2)}},
			want:   registry.State{Once: map[string]bool{}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{"b": failed(4)}},
		},
		"theirs began anew, ours failed on": {
			theirs: registry.State{Breakers: map[string]breaker.Memory{"b": {}}},
			before: registry.State{Breakers: map[string]breaker.Memory{"b": failed(2)}},
			after:  registry.State{Breakers: map[string]breaker.Memory{"b": failed(3)}},
			want:   registry.State{Once: map[string]bool{}, Stops: map[string]int{}, Breakers: map[string]breaker.Memory{"b": failed(3)}},
		},
		"ours is fewer: ours counts": {
			theirs: registry.State{Stops: map[string]int{"a": 9}, Breakers: map[string]breaker.Memory{"b": failed(9)}},
			before: registry.State{Stops: map[string]int{"a": 5}, Breakers: map[string]breaker.Memory{"b": opened}},
			after:  registry.State{Stops: map[string]int{"a": 2}, Breakers: map[string]breaker.Memory{"b": failed(5)}},
			want:   registry.State{Once: map[string]bool{}, Stops: map[string]int{"a": 2}, Breakers: map[string]breaker.Memory{"b": failed(5)}},
		},
	} {
		got := tc.theirs
		got.Merge(tc.before, tc.after)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// A person closes breakers of one hook, or of all.
func TestResetClosesTheBreakersOfAHook(t *testing.T) {
	build := func() *registry.Registry {
		reg := open(t, only())
		for _, name := range []string{"b", "a", "good"} {
			on(t, reg, name, func(context.Context, hook.PreToolUse) (*hook.Output, error) {
				if name == "good" {
					return nil, nil
				}
				return nil, errors.New("bad")
			}, func(h *hook.Hook) { h.Breaker.Failures = 1 })
		}
		return reg
	}
	reg := build()
	for _, step := range []struct {
		reset, closed string
		want          []string
	}{
		{"in-process/none", "", []string{"in-process/b failed breaker_open", "in-process/a failed breaker_open", "in-process/good success"}},
		{"in-process/b", "in-process/b", []string{"in-process/b failed exit", "in-process/a failed breaker_open", "in-process/good success"}},
		{"", "in-process/a in-process/b", []string{"in-process/b failed exit", "in-process/a failed exit", "in-process/good success"}},
	} {
		dispatch(t, reg, bash("ls"))
		if got := strings.Join(reg.ResetBreakers(step.reset), " "); got != step.closed {
			t.Errorf("reset %q closed %q, want %q", step.reset, got, step.closed)
		}
		if diff := cmp.Diff(step.want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("after reset %q: -want +got:\n%s", step.reset, diff)
		}
	}
	other := build()
	other.Restore(relayed(t, reg.State()))
	want := []string{"in-process/b failed breaker_open", "in-process/a failed breaker_open", "in-process/good success"}
	if diff := cmp.Diff(want, ids(dispatch(t, other, bash("ls")))); diff != "" {
		t.Errorf("in another process: -want +got:\n%s", diff)
	}
	for key := range reg.State().Breakers {
		if id, path := registry.BreakerHook(key); id != "in-process/a" && id != "in-process/b" || path != "" {
			t.Errorf("%q is of %q in %q", key, id, path)
		}
	}
	if id, path := registry.BreakerHook("user/a\x00/x/HOOK.md"); id != "user/a" || path != "/x/HOOK.md" {
		t.Errorf("%q %q", id, path)
	}
}

// What a later version, or no one, wrote into a state is left out, and the rest
// counts.
func TestKeysOfAStateThatAreNoneAreLeftOut(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "greets", answer(nil), once)
	dispatch(t, reg, inSession("s"))
	good := reg.State()
	bad := relayed(t, good)
	for _, key := range []string{"", "greets", `["a"]`, `["a","b","c","d","e"]`, `{}`, `[1,2,3,4]`} {
		bad.Once[key] = true
		bad.Stops = map[string]int{key: 9}
		reg.Restore(bad)
		if diff := cmp.Diff(good, reg.State()); diff != "" {
			t.Errorf("%q: -want +got:\n%s", key, diff)
		}
	}
}
