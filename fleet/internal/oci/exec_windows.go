package oci

import (
	"bytes"
	"io/fs"
)

// executable reports whether a file is to be executed elsewhere: there is no mode
// here that says so.
func executable(_ fs.FileInfo, data []byte) bool { return bytes.HasPrefix(data, []byte("#!")) }
