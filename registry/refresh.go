package registry

import (
	"context"
	"time"

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// lookAgain is how often Refresh looks at all files although the system reports no
// change, and how long it waits with another try where the system cannot report.
const lookAgain = time.Minute

// freshness is what Refresh knows of the files that were loaded.
type freshness struct {
	watch *stamp.Watch // nil = the system reports nothing
	tried time.Time    // when it was last asked to report
	full  time.Time    // when all was looked at; zero = never under a watch
}

// Refresh is Reload for a host that asks before each dispatch: it looks at no file
// while the system reports that nothing changed. A change counts for the first
// Refresh after it, and at the latest a minute later if it was written through a
// mapping of a file that is still open.
func (r *Registry) Refresh(ctx context.Context) (*Reloaded, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	if r.unchanged() && !(r.hooks.Pinning() && r.hooks.Guards(r.hooks.Snap.Load().Generation).Moved(r.hooks)) {
		return &Reloaded{}, nil
	}
	again := r.memory != nil // a process of one call needs no watch
	if again {
		r.watchFiles()
	}
	began := time.Now()
	changed, err := r.reload(ctx)
	switch {
	case r.fresh.watch == nil:
	case err != nil, r.places() == nil: // the settings of now name what lies elsewhere
		r.unwatch()
	default:
		r.fresh.full = began
	}
	return changed, err
}

// unchanged reports whether the system would have said so if files had changed. The
// caller holds reloading.
func (r *Registry) unchanged() bool {
	f := &r.fresh
	return f.watch != nil && time.Since(f.full) < lookAgain && f.watch.Quiet()
}

// watchFiles has the system report what happens to files from now on. The caller
// holds reloading, and looks at all of them next.
func (r *Registry) watchFiles() {
	f := &r.fresh
	places := r.places()
	if f.watch == nil && places != nil && (f.tried.IsZero() || time.Since(f.tried) > lookAgain) {
		f.tried = time.Now()
		f.watch, _ = stamp.NewWatch() // without one each Refresh looks
	}
	if f.watch != nil && (places == nil || f.watch.Arm(places...) != nil) {
		r.unwatch()
	}
}

// unwatch ends the watch. The caller holds reloading.
func (r *Registry) unwatch() {
	if r.fresh.watch != nil {
		r.fresh.watch.Close()
		r.fresh.watch, r.fresh.full = nil, time.Time{}
	}
}

// places are what is watched, nil = files may lie anywhere.
func (r *Registry) places() []string { return r.loader.Bounds(r.hooks.Snap.Load().Generation.Loaded) }
