package plugins

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
)

// approval says what of an executable may run: its bytes as they are now, if
// these were approved. Where none may, the process of those that were ends with
// its last call.
func (h *Host) approval(path string) (approval, *Problem) {
	a, p := h.allowed(path)
	if p != nil {
		h.mu.Lock()
		u := h.units[path]
		h.mu.Unlock()
		if u != nil {
			u.withdraw()
		}
	}
	return a, p
}

// approvalWithin is the approval as it is now, of a process that is confined as
// before. A sandbox that the lock file grants is another one where that changed.
func (h *Host) approvalWithin(path string, before approval) (approval, *Problem) {
	now, p := h.approval(path)
	if p != nil {
		return now, p
	}
	return now.confine(&hook.Hook{Sandbox: before.box}, before.project), nil
}

func (h *Host) allowed(path string) (approval, *Problem) {
	lock, p := h.pins.now()
	if p != nil {
		return approval{}, p
	}
	pin, locked := lock.Pin(path)
	wanted := make([]string, 0, 2)
	if locked {
		wanted = append(wanted, pin.SHA256)
	}
	if h.options.Approved != nil {
		if want, ok := h.options.Approved(path); ok {
			wanted = append(wanted, want)
		}
	}
	if len(wanted) == 0 && !h.options.AllowUnlocked { // it is not even read: it may be anything, of any size
		if p := checkAt(path); p != nil {
			return approval{}, p
		}
		return approval{}, &Problem{Code: CodeUnlocked, Path: path, Reason: "it is not approved",
			Hint: "look at where it comes from, then run: tenterhook plugin lock"}
	}
	have, p := h.digests.of(path)
	if p != nil {
		return approval{}, p
	}
	for _, want := range wanted {
		if want != have {
			return approval{}, notApproved(path, have, want)
		}
	}
	return approval{digest: have, env: pin.Env, granted: pin.Sandbox}, nil
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
