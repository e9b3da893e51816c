package daemon

import (
	"path/filepath"

	"github.com/tenterhook/tenterhook/discovery"
)

// projectRoot is the root of the project that a directory lies in.
func projectRoot(dir, home string) string {
	if !filepath.IsAbs(dir) {
		return home // an entry without a working directory
	}
	return discovery.ProjectRoot(dir, home, nil)
}
