package hooktest

import (
	"io/fs"

	"github.com/tenterhook/tenterhook/testdata/conformance"
)

// Cases returns the conformance suite of this module: a folder of NAME.txtar.
func Cases() fs.FS { return conformance.Cases }
