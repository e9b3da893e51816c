package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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
// not. What no one asked for, and the end of the context, brings none.
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

// What is no longer asked for is not watched, and a folder that is missing is watched
// through the nearest that exists.
func TestWatchIsOfWhatIsAskedForAndNothingElse(t *testing.T) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	base := t.TempDir()
	here, there, missing := filepath.Join(base, "a", "here"), filepath.Join(base, "b", "there"), filepath.Join(base, "c", "d", "e", "missing")
	for _, dir := range []string{here, there, filepath.Join(base, "c")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := &gaze{watcher: w}
	for _, step := range []struct{ dirs, watched []string }{
		{[]string{here, there, missing}, []string{filepath.Dir(here), here, filepath.Dir(there), there, filepath.Join(base, "c")}},
		{[]string{here}, []string{filepath.Dir(here), here}},
		{nil, nil},
	} {
		if err := g.follow(step.dirs); err != nil {
			t.Fatal(err)
		}
		got := w.WatchList()
		slices.Sort(got)
		if !slices.Equal(got, step.watched) {
			t.Errorf("for %v it watches %v", step.dirs, got)
		}
	}
}
