//go:build !windows

package fleetpolicy

import (
	"errors"
	"os"
	"syscall"
)

// openFlags make opening a link fail, and opening a pipe not wait.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncDir writes a rename to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
