//go:build !unix

package safefile

// The file system has no pipes, no flag for links, and no such modes.
const (
	NonBlock = 0
	NoFollow = 0
	HasModes = false
)

// syncFolder does nothing: a rename is on the disk.
func syncFolder(string) error { return nil }
