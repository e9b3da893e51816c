package breaker_test

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/breaker"
)

// times reports results on as many calls of a breaker.
func times(b *breaker.Breaker, n int, r breaker.Result) {
	for range n {
		if p, ok := b.Allow(); ok {
			p.Done(r)
		}
	}
}

// Another process continues where this one was: each state is the same there.
func TestMemoriesMakeTheSameBreakersElsewhere(t *testing.T) {
	settings := breaker.Settings{Failures: 3, Cooldown: time.Minute, ProbeTimeout: 5 * time.Minute}
	for name, bring := range map[string]func(b *breaker.Breaker){
		"closed, two failures": func(b *breaker.Breaker) { times(b, 2, breaker.Failure) },
		"just opened":          func(b *breaker.Breaker) { times(b, 3, breaker.Failure) },
		"open for a while":     func(b *breaker.Breaker) { times(b, 3, breaker.Failure); time.Sleep(59 * time.Second) },
		"a probe is due":       func(b *breaker.Breaker) { times(b, 3, breaker.Failure); time.Sleep(time.Minute) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var here, there breaker.Set
			b := here.Get("a", settings)
			here.Get("never failed", settings)
			bring(b)
			memories := here.Memories()
			if got := slices.Collect(maps.Keys(memories)); len(got) != 1 || got[0] != "a" {
				t.Errorf("%s: memories of %q", name, got)
			}
			other := there.Get("a", settings)
			before, _ := other.Allow()
			there.Remember("a", memories["a"])
			before.Done(breaker.Failure) // does not count any more
			for range 3 {
				if diff := cmp.Diff(b.Snapshot(), other.Snapshot()); diff != "" {
					t.Errorf("%s (-here +there):\n%s", name, diff)
				}
				for _, one := range []*breaker.Breaker{b, other} {
					if p, ok := one.Allow(); ok {
						p.Done(breaker.Failure)
					}
				}
				time.Sleep(30 * time.Second)
			}
		})
	}
}

func TestRememberBringsABreakerIntoAnyState(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before int // failures
		memory breaker.Memory
		want   breaker.Snapshot
	}{
		{"closed again", 3, breaker.Memory{}, breaker.Snapshot{State: breaker.Closed}},
		{"closed with failures", 3, breaker.Memory{Failures: 2}, breaker.Snapshot{State: breaker.Closed, Failures: 2}},
		{"opened by several processes", 0, breaker.Memory{Failures: 3}, breaker.Snapshot{State: breaker.Open, Failures: 3, RetryAfter: time.Minute}},
		{"and once more", 3, breaker.Memory{Failures: 4}, breaker.Snapshot{State: breaker.Open, Failures: 4, RetryAfter: time.Minute}},
		{"open", 0, breaker.Memory{Failures: 7, RetryAt: time.Unix(20, 0)}, breaker.Snapshot{State: breaker.Open, Failures: 7, RetryAfter: 20 * time.Second}},
		{"its cooldown is over", 0, breaker.Memory{Failures: 3, RetryAt: time.Unix(-1, 0)}, breaker.Snapshot{State: breaker.HalfOpen, Failures: 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var set breaker.Set
			b := set.Get("a", breaker.Settings{Failures: 3})
			times(b, tt.before, breaker.Failure)
			m := tt.memory
			if !m.RetryAt.IsZero() {
				m.RetryAt = time.Now().Add(time.Duration(m.RetryAt.Unix()) * time.Second) // as seen from now
			}
			tt.want.OpensAt = 3
			if tt.want.State != breaker.Closed {
				tt.want.OpenedAt = time.Now().Add(tt.want.RetryAfter - time.Minute)
			}
			if tt.want.State == breaker.HalfOpen {
				tt.want.OpenedAt = m.RetryAt.Add(-time.Minute)
			}
			set.Remember("a", m)
			if diff := cmp.Diff(tt.want, b.Snapshot()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
}

func TestRememberLeavesOtherBreakersAlone(t *testing.T) {
	var set breaker.Set
	set.Remember("nobody", breaker.Memory{Failures: 9})
	if got := set.Snapshot(); len(got) != 0 {
		t.Errorf("a breaker came into being: %+v", got)
	}
	never := set.Get("never", breaker.Settings{Failures: breaker.Disabled})
	other := set.Get("other", breaker.Settings{})
	set.Remember("never", breaker.Memory{Failures: 9})
	for _, b := range []*breaker.Breaker{never, other} {
		if s := b.Snapshot(); s.State != breaker.Closed || s.Failures != 0 {
			t.Errorf("%+v", s)
		}
	}
	if got := set.Memories(); len(got) != 0 {
		t.Errorf("memories %+v", got)
	}
	set.Remember("other", breaker.Memory{Failures: breaker.DefaultFailures}) // of the default settings
	if other.State() != breaker.Open || never.State() != breaker.Closed {
		t.Errorf("%v, %v", other.State(), never.State())
	}
}

func TestResetClosesTheBreakersThatAreWanted(t *testing.T) {
	var set breaker.Set
	settings := breaker.Settings{Failures: 2}
	breakers := make(map[string]*breaker.Breaker)
	for name, failures := range map[string]int{"open": 2, "failing": 1, "never failed": 0, "open, not wanted": 2} {
		breakers[name] = set.Get(name, settings)
		times(breakers[name], failures, breaker.Failure)
	}
	running, _ := breakers["failing"].Allow()
	got := set.Reset(func(name string) bool { return name != "open, not wanted" })
	slices.Sort(got)
	if diff := cmp.Diff([]string{"failing", "open"}, got); diff != "" {
		t.Error(diff)
	}
	running.Done(breaker.Failure) // does not count any more
	for name, b := range breakers {
		want := breaker.Snapshot{State: breaker.Closed, OpensAt: 2}
		if name == "open, not wanted" {
			if b.State() != breaker.Open {
				t.Errorf("%s is %v", name, b.State())
			}
			continue
		}
		if diff := cmp.Diff(want, b.Snapshot()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		times(b, 1, breaker.Failure)
		if b.State() != breaker.Closed {
			t.Errorf("%s opens after one failure", name)
		}
	}
	if memories := set.Memories(); len(memories) != 4 {
		t.Errorf("memories %v", memories)
	}
}

func TestMemoryTellsTheStateOfItsBreaker(t *testing.T) {
	now := time.Unix(100, 0)
	for _, tt := range []struct {
		m    breaker.Memory
		want breaker.State
	}{
		{breaker.Memory{}, breaker.Closed}, {breaker.Memory{Failures: 2}, breaker.Closed}, {breaker.Memory{RetryAt: now.Add(1)}, breaker.Open},
		{breaker.Memory{RetryAt: now}, breaker.HalfOpen}, {breaker.Memory{RetryAt: now.Add(-1)}, breaker.HalfOpen},
	} {
		if got := tt.m.State(now); got != tt.want {
			t.Errorf("%+v: %v", tt.m, got)
		}
	}
}

// The shortest cooldown and the smallest number are no defaults.
func TestSmallestSettingsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Settings{Failures: 1, Cooldown: time.Nanosecond, ProbeTimeout: 2 * time.Nanosecond})
		times(b, 1, breaker.Failure)
		if s := b.Snapshot(); s.State != breaker.Open || s.OpensAt != 1 || s.RetryAfter != time.Nanosecond {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Nanosecond)
		if _, ok := b.Allow(); !ok || b.Snapshot().RetryAfter != 2*time.Nanosecond {
			t.Errorf("after the cooldown: %+v", b.Snapshot())
		}
	})
}

func TestAClockThatWasSetBackKeepsNoBreakerOpenForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set breaker.Set
		b := set.Get("a", breaker.Settings{Failures: 2, Cooldown: time.Minute, ProbeTimeout: 5 * time.Minute})
		set.Remember("a", breaker.Memory{Failures: 2, RetryAt: time.Now().Add(24 * time.Hour)})
		if got := b.Snapshot().RetryAfter; got != time.Minute {
			t.Errorf("it is open for %v, want a minute", got)
		}
		set.Remember("a", breaker.Memory{Failures: 2, RetryAt: time.Now().Add(4 * time.Minute)}) // of a probe
		if got := b.Snapshot().RetryAfter; got != 4*time.Minute {
			t.Errorf("it waits %v for a probe, want 4 minutes", got)
		}
		set.Remember("a", breaker.Memory{Failures: 2, RetryAt: time.Now().Add(-24 * time.Hour)})
		if _, ok := b.Allow(); !ok {
			t.Error("a clock that was set forward keeps it open")
		}
	})
}
