//go:build !windows

package trust

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f if it is free. It goes with the process.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK || err == unix.EINTR {
		return false, nil
	}
	return err == nil, err
}
