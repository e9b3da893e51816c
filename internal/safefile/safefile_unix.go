//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Flags to open a file with, and what the file system knows.
const (
	NonBlock = syscall.O_NONBLOCK // opening a pipe returns at once
	NoFollow = syscall.O_NOFOLLOW // opening a link fails
	HasModes = true               // a mode says whether a file can be executed
)

// syncFolder writes a rename to the disk, where the file system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
