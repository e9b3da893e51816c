//go:build !windows

package plugins

import (
	"io/fs"
	"os"
	"syscall"
)

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
