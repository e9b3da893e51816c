//go:build unix

package safefile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safefile.Open(path); !errors.Is(err, safefile.ErrNotRegular) {
		t.Error(err)
	}
}
