//go:build !windows

package stamp

import (
	"os"

	"golang.org/x/sys/unix"
)

// Stamp is a file's identity. A write, a rename, a change of mode or owner each
// make it another one; no program can set ctime back. Stamps are compared with
// ==, and may be kept as JSON. The zero Stamp is no file's.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"` // in nanoseconds
	Ctime int64  `json:"ctime"` // in nanoseconds
	Mode  uint32 `json:"mode"`  // as the system has it
}

func from(st *unix.Stat_t) Stamp {
	return Stamp{Dev: uint64(st.Dev), Inode: st.Ino, Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Mode: uint32(st.Mode)}
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
