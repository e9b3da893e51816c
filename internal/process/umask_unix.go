//go:build linux || darwin

package process

import (
	"sync"
	"syscall"

	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/unix"
)

// umasks orders the starts of children with masks of their own where the mask
// belongs to the whole process.
var umasks sync.Mutex

// fork starts the child with its mask. Where a thread can have a mask of its own
// (Linux, unless a sandbox forbids unshare), nothing else of the host sees it:
// the calling goroutine is locked to its thread. Elsewhere the whole host has the
// child's mask for the moment of the fork.
func (c *child) fork(attr *syscall.ProcAttr) (pid, exit int, err error) {
	if c.spec.Umask != nil {
		if !ownUmask() {
			umasks.Lock()
			defer umasks.Unlock()
		}
		defer syscall.Umask(syscall.Umask(*c.spec.Umask & 0o777))
	}
	return c.forkLimited(attr)
}

// forkLimited starts the child, with the limits that its sandbox sets.
func (c *child) forkLimited(attr *syscall.ProcAttr) (pid, exit int, err error) {
	limited := c.inside != nil && c.inside.Limited()
	if pid, exit, err = fork(c.spec.Path, c.spec.Argv, attr, limited); err != nil || !limited {
		return pid, exit, err
	}
	if err = c.inside.Release(pid); err != nil {
		unix.Kill(pid, unix.SIGKILL)
		reap(pid)
		unix.Close(exit)
		return pid, closed, &sandbox.Error{Err: err}
	}
	return pid, exit, nil
}
