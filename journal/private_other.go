//go:build !unix

package journal

import "os"

// private makes a folder. Who may use it, the system's own permissions say.
func private(dir string) error { return os.MkdirAll(dir, 0o700) }
