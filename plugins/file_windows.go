package plugins

import (
	"io/fs"
	"os"
)

func openFile(path string) (*os.File, error) { return os.Open(path) }

// foreign is nothing here: access lists are not read.
func foreign(fs.FileInfo) string { return "" }
