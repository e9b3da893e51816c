package source

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange puts one folder into the place of another at once: there is no moment
// in which a guard is not there.
func exchange(made, dir string) error {
	err := unix.Renameat2(unix.AT_FDCWD, made, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return swap(made, dir)
	}
	return err
}
