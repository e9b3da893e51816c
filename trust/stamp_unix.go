//go:build !windows

package trust

import (
	"os"

	"golang.org/x/sys/unix"
)

// nonblock makes opening a pipe return at once.
const nonblock = unix.O_NONBLOCK

// stamp is a file's identity. A write, a rename, a change of mode or owner each
// make it another one; no program can set ctime back.
type stamp struct {
	dev, ino           uint64
	size, mtime, ctime int64 // times in nanoseconds
	mode               uint32
}

func newStamp(st *unix.Stat_t) stamp {
	return stamp{dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), mode: uint32(st.Mode)}
}

// stampOf is the stamp of what path leads to, or of a link itself. Its error is
// bare: it is on the way of every dispatch.
func stampOf(path string, follow bool) (stamp, error) {
	var st unix.Stat_t
	stat := unix.Lstat
	if follow {
		stat = unix.Stat
	}
	err := stat(path, &st)
	for err == unix.EINTR {
		err = stat(path, &st)
	}
	if err != nil {
		return stamp{}, err
	}
	return newStamp(&st), nil
}

func stampOfFile(f *os.File) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return newStamp(&st), nil
}
