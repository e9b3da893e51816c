//go:build linux || darwin

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ownFile are flags to open a file that must be one: no link is followed, and
// an open does not wait for the other end of a pipe.
const ownFile = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockState waits for the lock of a state file, or for the end of ctx. A disk
// that takes no file more has none to wait for.
func lockState(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return func() {}, nil
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return func() {}, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another call of the session holds %s: %w", path, context.Cause(ctx))
		}
	}
}
