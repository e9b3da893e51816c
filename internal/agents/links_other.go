//go:build !unix

package agents

import "io/fs"

// links is the number of names that a file has, which nobody says here.
func links(fs.FileInfo) uint64 { return 1 }
