//go:build amd64 || arm64

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// removeAll removes the directory of a run, also what the run made unreadable. Processes that are just
// dying may still write, so it tries more than once, the later times in the background.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	go func() {
		for range 5 {
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if d != nil && d.IsDir() {
					os.Chmod(path, 0o700)
				}
				return nil
			})
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}
