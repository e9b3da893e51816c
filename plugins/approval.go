package plugins

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/stamp"
)

// approval says what of an executable may run: its bytes as they are now, if
// these were approved.
func (h *Host) approval(path string) (approval, *Problem) {
	have, p := h.digests.of(path)
	if p != nil {
		return approval{}, p
	}
	lock, p := h.pins.now()
	if p != nil {
		return approval{}, p
	}
	pin, locked := lock.Pin(path)
	if locked && pin.SHA256 != have {
		return approval{}, notApproved(path, have, pin.SHA256)
	}
	if h.options.Approved != nil {
		want, ok := h.options.Approved(path)
		if ok && want != have {
			return approval{}, notApproved(path, have, want)
		}
		locked = locked || ok
	}
	if !locked && !h.options.AllowUnlocked {
		return approval{}, &Problem{Code: CodeUnlocked, Path: path, Reason: "nobody approved it",
			Hint: "look at where it comes from, then run: tenterhook plugin lock"}
	}
	return approval{have, pin.Env}, nil
}

// pins is the lock file as it is now, for a stat.
type pins struct {
	path string

	mu    sync.Mutex
	stamp stamp.Stamp
	lock  *Lock
}

var noLock = &Lock{}

// now returns the lock, which must not be changed.
func (p *pins) now() (*Lock, *Problem) {
	s, err := stampOf(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return noLock, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && p.lock != nil && p.stamp == s {
		return p.lock, nil
	}
	read := time.Now()
	lock, problem := readLock(p.path)
	if problem != nil {
		return nil, problem
	}
	if p.lock = nil; !s.Young(read) {
		p.stamp, p.lock = s, lock
	}
	return lock, nil
}
