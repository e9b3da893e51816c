//go:build unix

package oci

import "io/fs"

// executable reports whether a file can be executed.
func executable(info fs.FileInfo, _ []byte) bool { return info.Mode()&0o111 != 0 }
