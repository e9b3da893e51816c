//go:build unix

package agents

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// toWrite makes a file writable.
const toWrite = "chmod u+w"

// owner is who a file belongs to. The zero owner is the user who writes it.
type owner struct {
	known    bool
	uid, gid int
}

func ownerOf(_ string, info fs.FileInfo) owner {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{true, int(st.Uid), int(st.Gid)}
	}
	return owner{}
}

// forNew is who owns a new file beside others of this owner: only root makes
// files for another user.
func (o owner) forNew() owner {
	if os.Geteuid() != 0 {
		return owner{}
	}
	return o
}

// give makes a file that this process wrote the owner's. It fails if it cannot:
// the owner could not change the file any more.
func (o owner) give(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !o.known {
		return err
	}
	now := ownerOf(path, info)
	if now.uid != o.uid {
		if err := os.Lchown(path, o.uid, o.gid); err != nil {
			return fmt.Errorf("the file belongs to another user (uid %d), and would be yours: %w; run the command as that user", o.uid, err)
		}
		return nil
	}
	if now.gid != o.gid {
		_ = os.Lchown(path, -1, o.gid) // a group that the user is not in cannot be kept
	}
	return nil
}

// links is the number of names that a file has.
func links(_ string, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// executable reports whether a file is a program.
func executable(info fs.FileInfo) bool { return !info.IsDir() && info.Mode()&0o111 != 0 }

// endings are what a program's name may end with.
func endings(func(string) string) []string { return []string{""} }

// explain says more of why a file cannot be replaced.
func explain(err error) error { return err }
