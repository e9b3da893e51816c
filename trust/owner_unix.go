//go:build !windows

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func owned(owner Owner, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Problem{path, fmt.Sprintf("cannot be examined: %v", err), "make it readable"}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	uid := int(st.Uid)
	if uid != 0 && (owner == OwnerRoot || uid != os.Getuid()) {
		want := "root"
		if owner == OwnerUser {
			want = "you"
		}
		return &Problem{path, fmt.Sprintf("belongs to user %d, not to %s", uid, want), fmt.Sprintf("chown it, or move the hooks to a folder of %s", want)}
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return &Problem{path, fmt.Sprintf("can be written by others (mode %04o)", perm), "chmod go-w " + path}
	}
	return nil
}
