package registry

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// waiting runs a wait on a clock of its own, while happen makes events until ctx
// ends, and returns how long it took.
func waiting(t *testing.T, again bool, happen func(ctx context.Context, g *gaze)) (took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &gaze{watcher: &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)},
			dirs: map[string]bool{filepath.FromSlash("/hooks"): true}, names: map[string]bool{filepath.FromSlash("/way"): true}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		var happening sync.WaitGroup
		happening.Go(func() { happen(ctx, g) })
		start := time.Now()
		err = g.wait(ctx, again)
		took = time.Since(start)
		cancel()
		happening.Wait()
	})
	return took, err
}

// events happen one after the other, half a settleTime apart.
func events(list ...fsnotify.Event) func(context.Context, *gaze) {
	return func(ctx context.Context, g *gaze) {
		for i, e := range list {
			if i > 0 {
				time.Sleep(settleTime / 2)
			}
			e.Name = filepath.FromSlash(e.Name)
			select {
			case g.watcher.Events <- e:
			case <-ctx.Done():
			}
		}
	}
}

func event(name string, op fsnotify.Op) func(context.Context, *gaze) {
	return events(fsnotify.Event{Name: name, Op: op})
}

// A reload comes when what changed is at rest, and after a while though it is
// not. What nobody asked for, and the end of the context, brings none.
func TestWatchWaitsUntilWhatChangedIsAtRest(t *testing.T) {
	const quiet = time.Hour // until the context ends
	for name, tc := range map[string]struct {
		again  bool
		happen func(context.Context, *gaze)
		want   time.Duration
		fails  string
	}{
		"nothing happens":                  {happen: events(), want: quiet},
		"nothing happens, after a reload":  {again: true, happen: events(), want: settleTime},
		"one event":                        {happen: event("/hooks/a", fsnotify.Write), want: settleTime},
		"the folder itself":                {happen: event("/hooks", fsnotify.Remove), want: settleTime},
		"the way to another":               {happen: event("/way", fsnotify.Create), want: settleTime},
		"something else":                   {happen: event("/elsewhere/a", fsnotify.Write), want: quiet},
		"something beside the way":         {happen: event("/ways", fsnotify.Create), want: quiet},
		"a mode":                           {happen: event("/hooks/a", fsnotify.Chmod), want: settleTime},
		"the mode of a hidden file":        {happen: event("/hooks/.a", fsnotify.Chmod), want: quiet},
		"a hidden file":                    {happen: event("/hooks/.a", fsnotify.Write), want: settleTime},
		"two events":                       {happen: events(fsnotify.Event{Name: "/hooks/a", Op: fsnotify.Write}, fsnotify.Event{Name: "/hooks/b", Op: fsnotify.Write}), want: settleTime * 3 / 2},
		"an event and then something else": {happen: events(fsnotify.Event{Name: "/hooks/a", Op: fsnotify.Write}, fsnotify.Event{Name: "/elsewhere", Op: fsnotify.Write}), want: settleTime},
		"no rest":                          {happen: unrest, want: settleLimit},
		"no rest after a reload":           {again: true, happen: unrest, want: settleLimit},
		"events were lost":                 {happen: func(_ context.Context, g *gaze) { g.watcher.Errors <- fsnotify.ErrEventOverflow }, want: settleTime},
		"it broke":                         {happen: func(_ context.Context, g *gaze) { g.watcher.Errors <- errors.New("no descriptors") }, fails: "watch hooks: no descriptors"},
		"its events ended":                 {happen: func(_ context.Context, g *gaze) { close(g.watcher.Events) }, fails: "the system's watch ended"},
		"its errors ended":                 {happen: func(_ context.Context, g *gaze) { close(g.watcher.Errors) }, fails: "the system's watch ended"},
	} {
		t.Run(name, func(t *testing.T) {
			took, err := waiting(t, tc.again, tc.happen)
			if took != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%v after %s, want %q after %s", err, took, tc.fails, tc.want)
			}
		})
	}
}

// unrest is an event each 50 ms.
func unrest(ctx context.Context, g *gaze) {
	for ctx.Err() == nil {
		event("/hooks/a", fsnotify.Write)(ctx, g)
		time.Sleep(settleTime / 2)
	}
}

// A registry that is asked again and again has the system report changes, where the
// system can, and asks it no more once it is closed.
func TestRefreshAsksTheSystemToReportChanges(t *testing.T) {
	base := t.TempDir()
	r, err := Open(t.Context(), Options{Workspace: t.TempDir(), UserDir: filepath.Join(base, "user"), ManagedDir: filepath.Join(base, "managed"), StateDir: filepath.Join(base, "state"), Env: []string{"HOME=" + base}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.fresh.tried.IsZero() {
		t.Error("it was asked before the first Refresh")
	}
	for range 2 {
		if _, err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if r.fresh.tried.IsZero() || r.fresh.watch != nil && r.fresh.full.IsZero() {
		t.Errorf("%+v", r.fresh)
	}
	if err := r.Close(); err != nil || r.fresh.watch != nil {
		t.Errorf("it is closed, and watches: %v", err)
	}
}
