//go:build !windows

package plugins

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFile opens without following a link, and without waiting for a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// foreign says which other users could change a file, "" if none.
func foreign(info fs.FileInfo) string {
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Perm()&0o022 != 0 && !(info.IsDir() && info.Mode()&fs.ModeSticky != 0):
		return "others can write it"
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return "it belongs to another user"
	}
	return ""
}
