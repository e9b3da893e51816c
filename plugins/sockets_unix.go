//go:build !windows

package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockFileIn makes a lock that the system frees when this process ends, however
// it ends. A process id could be another's by then, or of another container.
func lockFileIn(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, socketsLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// claim locks the folder before it gets the name by which others see it: another process that finds the lock free takes the
// folder for stale.
func claim(making, dir string) (*os.File, error) {
	lock, err := lockFileIn(making)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(making, dir); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// abandoned reports whether the host of a folder is gone.
func abandoned(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, socketsLock), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// lives reports whether the host of a folder is there.
func lives(dir string) bool { return !abandoned(dir) }
