package daemon

import (
	"path/filepath"

	"github.com/tenterhook/tenterhook/discovery"
)

// inside reports whether a path is in a directory, links followed.
func inside(path, dir string) bool {
	for _, p := range []*string{&path, &dir} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// projectRoot is the root of the project that a directory is in.
func projectRoot(dir, home string) string {
	if !filepath.IsAbs(dir) {
		return home // an entry without a working directory
	}
	return discovery.ProjectRoot(dir, home, nil)
}
