//go:build unix

package match

import "syscall"

// isLink reports whether a path is a link. It makes nothing of where that leads.
func isLink(name string) bool {
	var first [1]byte
	_, err := syscall.Readlink(name, first[:])
	return err == nil
}
