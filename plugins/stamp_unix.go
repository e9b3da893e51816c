//go:build !windows

package plugins

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stamp is a file's identity: a write, a rename, a change of mode or owner each
// make it another one, and no program can set ctime back. Times are in
// nanoseconds.
type stamp struct {
	Dev   uint64      `json:"dev"`
	Inode uint64      `json:"inode"`
	Size  int64       `json:"size"`
	Mtime int64       `json:"mtime"`
	Ctime int64       `json:"ctime"`
	Mode  fs.FileMode `json:"mode"`
}

// stampOf returns the identity of what lies at path itself, no link followed.
func stampOf(path string) (stamp, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, nil, err
	}
	return newStamp(info), info, nil
}

func newStamp(info fs.FileInfo) stamp {
	st := info.Sys().(*syscall.Stat_t)
	return stamp{Dev: uint64(st.Dev), Inode: st.Ino, Size: st.Size, Mtime: info.ModTime().UnixNano(),
		Ctime: changed(st), Mode: info.Mode()}
}

// openFile opens without following a link, and without waiting for a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// foreign says who else could change a file, "" if nobody.
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

// young reports whether a file may change once more without another stamp: its
// times are as coarse as the clock of the system or of the file system.
func (s stamp) young(now time.Time) bool {
	newest := max(s.Mtime, s.Ctime)
	coarse := 100 * time.Millisecond
	if newest%int64(time.Second) == 0 {
		coarse = 2 * time.Second
	}
	return now.Sub(time.Unix(0, newest)) < coarse
}
