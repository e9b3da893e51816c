package output_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/output"
)

func Example() {
	out := &output.Writer{Writer: os.Stdout}
	fmt.Fprintln(out, "allow")
	if out.Err != nil {
		os.Exit(1)
	}
	// Output: allow
}

func TestTheFirstErrorIsKept(t *testing.T) {
	read, write := io.Pipe()
	var text strings.Builder
	out := &output.Writer{Writer: &text}
	if n, err := out.Write([]byte("good")); n != 4 || err != nil || out.Err != nil || text.String() != "good" {
		t.Errorf("%d, %v, %v, %q", n, err, out.Err, &text)
	}
	out.Writer = write
	for _, cause := range []error{io.ErrShortWrite, io.ErrNoProgress} {
		_ = read.CloseWithError(cause)
		if _, err := out.Write([]byte("lost")); err == nil {
			t.Error("the error does not reach the command")
		}
	}
	out.Writer = &text
	if _, err := out.Write([]byte("good")); err != nil || out.Err != io.ErrShortWrite {
		t.Errorf("%v, kept is %v", err, out.Err)
	}
}
