//go:build unix

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// identity tells one file at a path from another.
func identity(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
