// Package output notices that the output of a command is lost.
//
// Stage: the command lines print through it. It imports nothing of this project.
package output

import (
	"cmp"
	"io"
)

// Writer is standard output. It keeps the first error: a command fails if its
// output cannot be written. It is not safe for concurrent use.
type Writer struct {
	io.Writer
	Err error
}

func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.Err = cmp.Or(w.Err, err)
	return n, err
}
