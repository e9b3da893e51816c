//go:build !windows

package stamp

import (
	"os"

	"golang.org/x/sys/unix"
)

// Stamp is a file's identity. A write, a rename, a change of mode or owner each
// make it another one; no program can set ctime back.
type Stamp struct {
	dev, ino           uint64
	size, mtime, ctime int64 // times in nanoseconds
	mode               uint32
}

func from(st *unix.Stat_t) Stamp {
	return Stamp{dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), mode: uint32(st.Mode)}
}

// Of is the stamp of what path leads to, or of a link itself. Its error is
// bare: it is on the way of every dispatch.
func Of(path string, follow bool) (Stamp, error) {
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
		return Stamp{}, err
	}
	return from(&st), nil
}

// OfFile is the stamp of an open file.
func OfFile(f *os.File) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stamp{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return from(&st), nil
}
