package contain

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type spiteful struct{ how func() }

func (s spiteful) Error() string { s.how(); return "text" }

func TestCallTurnsEveryWayNotToReturnIntoAnError(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, tc := range map[string]struct {
		fn   func()
		want string
	}{
		"returns":                         {func() {}, ""},
		"panics":                          {func() { panic("boom") }, "panicked: boom"},
		"panics with nil":                 {func() { panic(nil) }, "panicked: panic called with nil argument"},
		"panics with an error":            {func() { panic(errors.New("bad")) }, "panicked: bad"},
		"panics with a value that panics": {func() { panic(spiteful{func() { panic("again") }}) }, "panicked: "},
		"panics with a value that exits":  {func() { panic(spiteful{runtime.Goexit}) }, "Goexit"},
		"exits":                           {runtime.Goexit, "Goexit"},
		"hangs":                           {func() { <-release }, "did not return"},
		"panics with a value that hangs":  {func() { panic(spiteful{func() { <-release }}) }, "did not return"},
	} {
		t.Run(name, func(t *testing.T) {
			var g Guard
			ctx := t.Context()
			if strings.Contains(name, "hangs") {
				timed, cancel := context.WithTimeout(ctx, time.Millisecond)
				defer cancel()
				ctx = timed
			}
			err := g.Call(ctx, time.Millisecond, tc.fn)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestCallWaitsForTheGraceAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for takes, want := range map[time.Duration]error{2 * time.Second: nil, 4 * time.Second: ErrHung} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			var g Guard
			start := time.Now()
			err := g.Call(ctx, 2*time.Second, func() { time.Sleep(takes) })
			if d := time.Since(start); err != want || d != min(takes, 3*time.Second) {
				t.Errorf("a function of %s: %v after %s", takes, err, d)
			}
			cancel()
		}
		time.Sleep(time.Minute) // until the last one returned
	})
}

func TestCallReturnsAnAnswerThatComesAtTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var g Guard
	if err := g.Call(ctx, time.Hour, cancel); err != nil {
		t.Error(err)
	}
}

func TestCallsThatHangAreBoundedAndCountedOutWhenTheyReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		var g Guard
		var called atomic.Int32
		release := make(chan struct{})
		hang := func() { called.Add(1); <-release }
		for range MaxHung {
			if err := g.Call(ended, time.Millisecond, hang); err != ErrHung {
				t.Fatal(err)
			}
		}
		if err := g.Call(t.Context(), 0, hang); err != ErrStuck || called.Load() != MaxHung {
			t.Errorf("%v after %d calls", err, called.Load())
		}
		close(release)
		synctest.Wait()
		if err := g.Call(t.Context(), 0, hang); err != nil || g.hung.Load() != 0 {
			t.Errorf("once they returned: %v, %d hang", err, g.hung.Load())
		}
	})
}
