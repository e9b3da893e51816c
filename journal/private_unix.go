//go:build unix

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// private makes a folder that its owner alone can use, and fails for a folder that
// another user could have put there, or could put another in the place of.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if uid := ownerOf(info); uid != os.Geteuid() {
		return foreign(dir, uid)
	}
	open := info.Mode().Perm()&0o077 != 0
	above := filepath.Dir(dir)
	if info, err = os.Stat(above); err != nil {
		return err
	}
	if uid := ownerOf(info); uid != os.Geteuid() && uid != 0 {
		return foreign(above, uid)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("%w to %s", ErrExposed, above)
	}
	if open {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func ownerOf(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

func foreign(path string, uid int) error {
	return fmt.Errorf("%s belongs to another user (uid %d): set XDG_STATE_HOME to a folder of your own", path, uid)
}
