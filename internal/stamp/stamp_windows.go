package stamp

import (
	"io/fs"
	"os"
)

// Stamp is what tells that a file changed: less than elsewhere, a program can
// set both back.
type Stamp struct {
	size, mtime, ctime int64 // times in nanoseconds; ctime is the same as mtime
	mode               fs.FileMode
}

func from(info fs.FileInfo) Stamp {
	at := info.ModTime().UnixNano()
	s := Stamp{size: info.Size(), mtime: at, ctime: at, mode: info.Mode()}
	if info.IsDir() {
		s.size = 0
	}
	return s
}

func Of(path string, follow bool) (Stamp, error) {
	stat := os.Lstat
	if follow {
		stat = os.Stat
	}
	info, err := stat(path)
	if err != nil {
		return Stamp{}, err
	}
	return from(info), nil
}

// OfFile is the stamp of an open file.
func OfFile(f *os.File) (Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return from(info), nil
}
