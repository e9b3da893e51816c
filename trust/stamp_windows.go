package trust

import (
	"io/fs"
	"os"
)

// nonblock is nothing here: the file system holds no pipes.
const nonblock = 0

// stamp is what tells that a file changed: less than elsewhere, a program can
// set both back.
type stamp struct {
	size, mtime, ctime int64 // times in nanoseconds; ctime is the same as mtime
	mode               fs.FileMode
}

func newStamp(info fs.FileInfo) stamp {
	at := info.ModTime().UnixNano()
	s := stamp{size: info.Size(), mtime: at, ctime: at, mode: info.Mode()}
	if info.IsDir() {
		s.size = 0
	}
	return s
}

func stampOf(path string, follow bool) (stamp, error) {
	stat := os.Lstat
	if follow {
		stat = os.Stat
	}
	info, err := stat(path)
	if err != nil {
		return stamp{}, err
	}
	return newStamp(info), nil
}

func stampOfFile(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return newStamp(info), nil
}
