//go:build !unix

package match

import "os"

// isLink reports whether a path is a link.
func isLink(name string) bool {
	_, err := os.Readlink(native(name))
	return err == nil
}
