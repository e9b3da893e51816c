package stamp

import (
	"io/fs"
	"os"
)

// Stamp is what tells that a file changed: less than elsewhere, a program can
// set both back. Stamps are compared with ==, and may be kept as JSON.
// The zero Stamp is no file's.
type Stamp struct {
	Size  int64       `json:"size"`
	Mtime int64       `json:"mtime"` // in nanoseconds
	Ctime int64       `json:"ctime"` // the same as Mtime
	Mode  fs.FileMode `json:"mode"`
}

func from(info fs.FileInfo) Stamp {
	at := info.ModTime().UnixNano()
	s := Stamp{Size: info.Size(), Mtime: at, Ctime: at, Mode: info.Mode()}
	if info.IsDir() {
		s.Size = 0
	}
	return s
}

// Of is the stamp of what path leads to, or of a link itself.
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
