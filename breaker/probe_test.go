package breaker_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
)

// halfOpen returns a breaker with the default cooldown just behind it. It must be
// called in a bubble.
func halfOpen(t testing.TB) *breaker.Breaker {
	t.Helper()
	b := breaker.New(breaker.Settings{Failures: 1})
	report(t, b, breaker.Failure)
	time.Sleep(breaker.DefaultCooldown)
	wantState(t, b, breaker.HalfOpen)
	return b
}

// storm has 1,000 callers ask at once and returns the permits that were given.
func storm(b *breaker.Breaker) []*breaker.Permit {
	var (
		callers sync.WaitGroup
		start   = make(chan struct{})
		mu      sync.Mutex
		given   []*breaker.Permit
	)
	for range 1000 {
		callers.Go(func() {
			<-start
			if permit, ok := b.Allow(); ok {
				mu.Lock()
				given = append(given, &permit)
				mu.Unlock()
			}
		})
	}
	close(start)
	callers.Wait()
	return given
}

func TestB3ExactlyOneProbeAmong1000Callers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t)
		probe := func(when string) *breaker.Permit {
			t.Helper()
			given := storm(b)
			if len(given) != 1 {
				t.Fatalf("%s: %d probes, want 1", when, len(given))
			}
			return given[0]
		}
		probe("after the cooldown").Release()
		probe("after a neutral probe").Done(breaker.Failure)
		if n := len(storm(b)); n != 0 {
			t.Fatalf("after a failed probe: %d probes, want 0", n)
		}
		time.Sleep(breaker.DefaultCooldown)
		probe("after another cooldown") // hangs
		time.Sleep(breaker.DefaultCooldown)
		probe("after a probe that hung").Done(breaker.Success)
		if n := len(storm(b)); n != 1000 {
			t.Fatalf("closed again: %d calls allowed, want 1000", n)
		}
	})
}

func TestB3ProbesNeverOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t)
		var running, probes atomic.Int32
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() {
				permit, ok := b.Allow()
				if !ok {
					return
				}
				if n := running.Add(1); n != 1 {
					t.Errorf("%d probes at once", n)
				}
				probes.Add(1)
				runtime.Gosched()
				running.Add(-1)
				permit.Release()
			})
		}
		callers.Wait()
		if probes.Load() == 0 {
			t.Error("no caller could probe")
		}
		wantState(t, b, breaker.HalfOpen)
	})
}

func TestB3EndedProbeFreesItsPermit(t *testing.T) {
	tests := []struct {
		name  string
		probe func(*breaker.Permit)
	}{
		{"forgets to report", func(*breaker.Permit) {}},
		{"panics", func(*breaker.Permit) { panic("probe") }},
		{"calls Goexit", func(*breaker.Permit) { runtime.Goexit() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := halfOpen(t)
				var call sync.WaitGroup
				call.Go(func() {
					defer func() { _ = recover() }()
					permit, ok := b.Allow()
					if !ok {
						t.Error("the probe was refused")
					}
					defer permit.Release()
					if _, ok := b.Allow(); ok {
						t.Error("a second probe was allowed")
					}
					tt.probe(&permit)
				})
				call.Wait()
				wantState(t, b, breaker.HalfOpen)
				report(t, b, breaker.Success)
				wantState(t, b, breaker.Closed)
			})
		})
	}
}

func TestB3PanickedProbeCanBeReportedAsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t)
		func() {
			permit := allow(t, b)
			defer permit.Release()
			defer func() {
				if recover() != nil {
					permit.Done(breaker.Failure)
				}
			}()
			panic("probe")
		}()
		wantState(t, b, breaker.Open)
		if s := b.Snapshot(); s.RetryAfter != breaker.DefaultCooldown {
			t.Errorf("RetryAfter is %v, want a full cooldown", s.RetryAfter)
		}
	})
}

func TestB3HungProbeFreesItsPermit(t *testing.T) {
	tests := []struct {
		name                   string
		cooldown, probeTimeout time.Duration
		want                   time.Duration // how long the probe holds its permit
	}{
		{"the cooldown holds by default", time.Minute, 0, time.Minute},
		{"a longer call may take its time", time.Minute, 10 * time.Minute, 10 * time.Minute},
		{"a shorter one does not hasten the next", time.Minute, time.Second, time.Minute},
	}
	for _, tt := range tests {
		for _, late := range []breaker.Result{breaker.Neutral, breaker.Success, breaker.Failure} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := breaker.New(breaker.Settings{Failures: 1, Cooldown: tt.cooldown, ProbeTimeout: tt.probeTimeout})
					report(t, b, breaker.Failure)
					time.Sleep(tt.cooldown)
					hung := allow(t, b)
					time.Sleep(tt.want - time.Nanosecond)
					refused(t, b)
					time.Sleep(time.Nanosecond)
					next := allow(t, b)

					hung.Done(late)
					wantState(t, b, breaker.HalfOpen)
					refused(t, b) // the permit is the next probe's, not the late one's to give back
					next.Done(breaker.Success)
					wantState(t, b, breaker.Closed)
				})
			})
		}
	}
}

// A call whose own timeout equals ProbeTimeout reports a moment after its permit
// could have been taken. That must not be lost, or every call would hang in turn.
func TestB3ExpiredProbeCountsUntilAnotherTakesItsPlace(t *testing.T) {
	tests := []struct {
		late breaker.Result
		want breaker.State
	}{
		{breaker.Failure, breaker.Open},
		{breaker.Success, breaker.Closed},
		{breaker.Neutral, breaker.HalfOpen},
	}
	for _, tt := range tests {
		t.Run(tt.want.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := halfOpen(t)
				probe := allow(t, b)
				time.Sleep(breaker.DefaultCooldown + time.Second)
				probe.Done(tt.late)
				wantState(t, b, tt.want)
				if s := b.Snapshot(); tt.late == breaker.Failure && s.RetryAfter != breaker.DefaultCooldown {
					t.Errorf("RetryAfter is %v, want a full cooldown", s.RetryAfter)
				}
			})
		})
	}
}
