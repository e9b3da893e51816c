package breaker_test

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/breaker"
)

// allow takes a permit that the breaker must give.
func allow(t testing.TB, b *breaker.Breaker) *breaker.Permit {
	t.Helper()
	permit, ok := b.Allow()
	if !ok {
		t.Fatalf("Allow refused; breaker: %+v", b.Snapshot())
	}
	return &permit
}

func refused(t testing.TB, b *breaker.Breaker) {
	t.Helper()
	if _, ok := b.Allow(); ok {
		t.Fatalf("Allow gave a permit; breaker: %+v", b.Snapshot())
	}
}

// report makes one call for each result.
func report(t testing.TB, b *breaker.Breaker, results ...breaker.Result) {
	t.Helper()
	for _, r := range results {
		allow(t, b).Done(r)
	}
}

func wantState(t testing.TB, b *breaker.Breaker, want breaker.State) {
	t.Helper()
	if got := b.State(); got != want {
		t.Fatalf("state is %v, want %v; breaker: %+v", got, want, b.Snapshot())
	}
}

func TestDefaultsAreFiveFailuresAndSixtySeconds(t *testing.T) {
	var zero breaker.Breaker
	tests := []struct {
		name string
		b    *breaker.Breaker
	}{
		{"zero breaker", &zero},
		{"zero settings", breaker.New(breaker.Settings{})},
		{"negative durations", breaker.New(breaker.Settings{Cooldown: -1, ProbeTimeout: -1})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 4 {
					report(t, tt.b, breaker.Failure)
				}
				wantState(t, tt.b, breaker.Closed)
				report(t, tt.b, breaker.Failure)
				wantState(t, tt.b, breaker.Open)

				time.Sleep(60*time.Second - time.Nanosecond)
				wantState(t, tt.b, breaker.Open)
				refused(t, tt.b)
				time.Sleep(time.Nanosecond)
				wantState(t, tt.b, breaker.HalfOpen)
				report(t, tt.b, breaker.Success)
				wantState(t, tt.b, breaker.Closed)
			})
		})
	}
}

func TestDisabledBreakerNeverOpens(t *testing.T) {
	for _, failures := range []int{breaker.Disabled, -7, math.MinInt} {
		b := breaker.New(breaker.Settings{Failures: failures})
		for range 1000 {
			report(t, b, breaker.Failure)
		}
		if diff := cmp.Diff(breaker.Snapshot{}, b.Snapshot()); diff != "" {
			t.Errorf("Failures %d (-want +got):\n%s", failures, diff)
		}
	}
}

func TestCooldownOfCenturiesDoesNotOverflow(t *testing.T) {
	b := breaker.New(breaker.Settings{Failures: 1, Cooldown: math.MaxInt64})
	report(t, b, breaker.Failure)
	refused(t, b)
	wantState(t, b, breaker.Open)
	if s := b.Snapshot(); s.RetryAfter < 200*365*24*time.Hour {
		t.Errorf("RetryAfter is %v, want centuries", s.RetryAfter)
	}
}

func TestSnapshotTellsHowItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Settings{Failures: 2, Cooldown: time.Minute, ProbeTimeout: 5 * time.Minute})
		want := func(when string, want breaker.Snapshot) {
			t.Helper()
			if diff := cmp.Diff(want, b.Snapshot()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		want("unused", breaker.Snapshot{OpensAt: 2})
		report(t, b, breaker.Failure)
		want("one failure", breaker.Snapshot{Failures: 1, OpensAt: 2})

		report(t, b, breaker.Failure)
		opened := time.Now()
		time.Sleep(20 * time.Second)
		want("cooling down", breaker.Snapshot{
			State: breaker.Open, Failures: 2, OpensAt: 2, OpenedAt: opened, RetryAfter: 40 * time.Second})
		time.Sleep(time.Hour)
		want("cooled down", breaker.Snapshot{
			State: breaker.HalfOpen, Failures: 2, OpensAt: 2, OpenedAt: opened})

		probe := allow(t, b)
		time.Sleep(time.Minute)
		want("probing", breaker.Snapshot{
			State: breaker.HalfOpen, Failures: 2, OpensAt: 2, OpenedAt: opened, RetryAfter: 4 * time.Minute})
		probe.Done(breaker.Failure)
		want("probe failed", breaker.Snapshot{
			State: breaker.Open, Failures: 3, OpensAt: 2, OpenedAt: opened, RetryAfter: time.Minute})

		time.Sleep(time.Minute)
		report(t, b, breaker.Success)
		want("probe succeeded", breaker.Snapshot{OpensAt: 2})
	})
}

func TestStatesHaveNames(t *testing.T) {
	tests := map[breaker.State]string{
		breaker.Closed: "closed", breaker.Open: "open", breaker.HalfOpen: "half-open", 9: "invalid",
	}
	for state, want := range tests {
		if got := state.String(); got != want {
			t.Errorf("State(%d).String() is %q, want %q", state, got, want)
		}
	}
}

// What an open breaker means to the event is the caller's business. The
// breaker's part is to refuse, every time, and not to be talked out of it.
func TestB1OpenBreakerRefusesEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Settings{Failures: 1})
		report(t, b, breaker.Failure)
		for range 59 {
			permit, ok := b.Allow()
			if ok {
				t.Fatal("an open breaker gave a permit")
			}
			permit.Done(breaker.Success)
			permit.Release()
			wantState(t, b, breaker.Open)
			time.Sleep(time.Second)
		}
	})
}

func TestB2NeutralIsNeitherFailureNorSuccess(t *testing.T) {
	const neutral, success, failure = breaker.Neutral, breaker.Success, breaker.Failure
	tests := []struct {
		name    string
		results []breaker.Result
		want    breaker.State
	}{
		{"many neutrals do not open", []breaker.Result{neutral, neutral, neutral, neutral}, breaker.Closed},
		{"a neutral is not one failure more", []breaker.Result{failure, failure, neutral}, breaker.Closed},
		{"a neutral does not end the row", []breaker.Result{failure, neutral, failure, neutral, failure}, breaker.Open},
		{"a success ends the row", []breaker.Result{failure, failure, success, failure, failure}, breaker.Closed},
		{"an unknown result is neutral", []breaker.Result{failure, 3, failure, 255, failure}, breaker.Open},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := breaker.New(breaker.Settings{Failures: 3})
			report(t, b, tt.results...)
			wantState(t, b, tt.want)
		})
	}
}

func TestB2NeutralProbeNeitherClosesNorReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t)
		for range 3 {
			report(t, b, breaker.Neutral)
			wantState(t, b, breaker.HalfOpen)
			if s := b.Snapshot(); s.Failures != 1 || s.RetryAfter != 0 {
				t.Fatalf("after a neutral probe: %+v, want one failure and no wait", s)
			}
		}
		report(t, b, breaker.Failure)
		wantState(t, b, breaker.Open)
	})
}

func TestLateResultOfAnEarlierStateIsIgnored(t *testing.T) {
	for _, late := range []breaker.Result{breaker.Neutral, breaker.Success, breaker.Failure} {
		synctest.Test(t, func(t *testing.T) {
			b := breaker.New(breaker.Settings{Failures: 2})
			var slow []*breaker.Permit
			for range 4 {
				slow = append(slow, allow(t, b))
			}
			unchanged := func(when string, permit *breaker.Permit) {
				t.Helper()
				before := b.Snapshot()
				permit.Done(late)
				if diff := cmp.Diff(before, b.Snapshot()); diff != "" {
					t.Errorf("late result %d, %s (-before +after):\n%s", late, when, diff)
				}
			}
			report(t, b, breaker.Failure, breaker.Failure)
			unchanged("open", slow[0])
			time.Sleep(breaker.DefaultCooldown)
			unchanged("half-open", slow[1])
			probe := allow(t, b)
			unchanged("probing", slow[2])
			probe.Done(breaker.Success)
			report(t, b, breaker.Failure)
			unchanged("closed again", slow[3])
		})
	}
}

func TestPermitTakesOneResult(t *testing.T) {
	b := breaker.New(breaker.Settings{Failures: 2})
	permit := allow(t, b)
	permit.Done(breaker.Failure)
	permit.Done(breaker.Failure)
	permit.Done(breaker.Success)
	permit.Release()
	if got := b.Snapshot().Failures; got != 1 {
		t.Errorf("one call that failed counts as %d failures", got)
	}

	released := allow(t, b)
	released.Release()
	released.Done(breaker.Failure)
	wantState(t, b, breaker.Closed)
}

func TestPermitReportedOnFromManyGoroutinesCountsOnce(t *testing.T) {
	b := breaker.New(breaker.Settings{Failures: 2})
	permit := allow(t, b)
	var reporters sync.WaitGroup
	for range 100 {
		reporters.Go(func() { permit.Done(breaker.Failure) })
	}
	reporters.Wait()
	if got := b.Snapshot().Failures; got != 1 {
		t.Errorf("one call that failed counts as %d failures", got)
	}
}

func TestZeroPermitDoesNothing(t *testing.T) {
	var permit breaker.Permit
	permit.Done(breaker.Failure)
	permit.Release()
}

func TestRacingCallersLoseNoFailure(t *testing.T) {
	const callers, calls = 8, 1000
	b := breaker.New(breaker.Settings{Failures: callers*calls + 1})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls {
				permit, ok := b.Allow()
				if !ok {
					t.Error("a closed breaker refused")
				}
				permit.Done(breaker.Failure)
			}
		})
	}
	wg.Wait()
	if got := b.Snapshot().Failures; got != callers*calls {
		t.Errorf("%d failures counted, want %d", got, callers*calls)
	}
	report(t, b, breaker.Failure)
	wantState(t, b, breaker.Open)
}
