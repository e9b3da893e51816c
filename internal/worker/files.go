package worker

import "os"

// file is a file of a worker, as it was before the start.
type file struct {
	path string
	info os.FileInfo // nil: it was not there
}

func look(paths []string) []file {
	files := make([]file, len(paths))
	for i, path := range paths {
		files[i].path = path
		files[i].info, _ = os.Stat(path)
	}
	return files
}

// changed tells whether a file is another one, or was written, since the start.
func (w *worker) changed() bool {
	for _, f := range w.files {
		now, err := os.Stat(f.path)
		switch {
		case err != nil || f.info == nil:
			if (err != nil) != (f.info == nil) {
				return true
			}
		case now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()) || now.Mode() != f.info.Mode() || !os.SameFile(now, f.info):
			return true
		}
	}
	return false
}
