//go:build linux || darwin

package process

import (
	"sync"
	"syscall"
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
	return fork(c.spec.Path, c.spec.Argv, attr)
}
