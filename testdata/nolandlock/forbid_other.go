//go:build !linux

package nolandlock

// Forbid has nothing to forbid here.
func Forbid() error { return nil }
