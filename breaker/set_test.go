package breaker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/breaker"
)

func snapshotNames(s *breaker.Set) []string {
	names := []string{}
	for _, snapshot := range s.Snapshot() {
		names = append(names, snapshot.Name)
	}
	return names
}

func TestSetKeepsABreakerWhoseSettingsResolveToTheSame(t *testing.T) {
	tests := []struct {
		name        string
		first, then breaker.Settings
		kept        bool
	}{
		{"nothing changed", breaker.Settings{Failures: 1}, breaker.Settings{Failures: 1}, true},
		{"defaults spelled out", breaker.Settings{Failures: 1},
			breaker.Settings{Failures: 1, Cooldown: breaker.DefaultCooldown, ProbeTimeout: time.Second}, true},
		{"failures changed", breaker.Settings{Failures: 1}, breaker.Settings{Failures: 2}, false},
		{"cooldown changed", breaker.Settings{Failures: 1}, breaker.Settings{Failures: 1, Cooldown: time.Second}, false},
		{"probe timeout changed", breaker.Settings{Failures: 1}, breaker.Settings{Failures: 1, ProbeTimeout: time.Hour}, false},
		{"disabled", breaker.Settings{Failures: 1}, breaker.Settings{Failures: breaker.Disabled}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var set breaker.Set
			before := set.Get("user/guard", tt.first)
			report(t, before, breaker.Failure)
			wantState(t, before, breaker.Open)

			after := set.Get("user/guard", tt.then)
			if kept := after == before; kept != tt.kept {
				t.Fatalf("kept is %v, want %v", kept, tt.kept)
			}
			want := breaker.Closed
			if tt.kept {
				want = breaker.Open
			}
			wantState(t, after, want)
			if diff := cmp.Diff([]string{"user/guard"}, snapshotNames(&set)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetDisabledIsDisabledWhateverElseIsSet(t *testing.T) {
	var set breaker.Set
	a := set.Get("user/guard", breaker.Settings{Failures: -1, Cooldown: time.Second})
	if b := set.Get("user/guard", breaker.Settings{Failures: -2}); a != b {
		t.Error("settings that both disable made two breakers")
	}
}

func TestSetReplacedBreakerDoesNotTouchTheOther(t *testing.T) {
	var set breaker.Set
	before := set.Get("user/guard", breaker.Settings{Failures: 1})
	permit := allow(t, before)
	after := set.Get("user/guard", breaker.Settings{Failures: 1, Cooldown: time.Second})
	permit.Done(breaker.Failure)
	wantState(t, before, breaker.Open)
	wantState(t, after, breaker.Closed)
}

func TestF10SameNameInTwoScopesSharesNoBreaker(t *testing.T) {
	var set breaker.Set
	report(t, set.Get("project/guard", breaker.Settings{Failures: 1}), breaker.Failure)
	wantState(t, set.Get("project/guard", breaker.Settings{Failures: 1}), breaker.Open)
	wantState(t, set.Get("user/guard", breaker.Settings{Failures: 1}), breaker.Closed)
}

func TestSetSnapshotIsOrderedByName(t *testing.T) {
	var set breaker.Set
	if diff := cmp.Diff([]breaker.Snapshot{}, set.Snapshot()); diff != "" {
		t.Errorf("empty set (-want +got):\n%s", diff)
	}
	for _, name := range []string{"user/b", "project/z", "user/a", "managed/m"} {
		set.Get(name, breaker.Settings{Failures: 3})
	}
	report(t, set.Get("user/a", breaker.Settings{Failures: 3}), breaker.Failure)
	want := []breaker.Snapshot{
		{Name: "managed/m", OpensAt: 3},
		{Name: "project/z", OpensAt: 3},
		{Name: "user/a", OpensAt: 3, Failures: 1},
		{Name: "user/b", OpensAt: 3},
	}
	if diff := cmp.Diff(want, set.Snapshot()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetRetainDropsTheRest(t *testing.T) {
	var set breaker.Set
	set.Retain(func(string) bool { return false }) // an empty set has nothing to drop
	kept := set.Get("user/kept", breaker.Settings{Failures: 1})
	dropped := set.Get("user/dropped", breaker.Settings{Failures: 1})
	report(t, kept, breaker.Failure)
	report(t, dropped, breaker.Failure)

	set.Retain(func(name string) bool { return name == "user/kept" })
	if diff := cmp.Diff([]string{"user/kept"}, snapshotNames(&set)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	wantState(t, set.Get("user/kept", breaker.Settings{Failures: 1}), breaker.Open)
	wantState(t, set.Get("user/dropped", breaker.Settings{Failures: 1}), breaker.Closed)
	refused(t, dropped) // still a breaker to who holds it
}

func TestF11SetIsSharedByRacingCallers(t *testing.T) {
	const callers, names = 16, 50
	var set breaker.Set
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := range names {
				b := set.Get(fmt.Sprintf("user/%02d", i), breaker.Settings{Failures: callers})
				permit, ok := b.Allow()
				if !ok {
					t.Error("a closed breaker refused")
				}
				permit.Done(breaker.Failure)
				set.Snapshot()
				set.Retain(func(string) bool { return true })
			}
		})
	}
	wg.Wait()
	snapshots := set.Snapshot()
	if len(snapshots) != names {
		t.Fatalf("%d breakers, want %d", len(snapshots), names)
	}
	for _, s := range snapshots {
		if s.State != breaker.Open || s.Failures != callers {
			t.Errorf("%s is %v after %d failures, want one breaker that saw all %d", s.Name, s.State, s.Failures, callers)
		}
	}
}
