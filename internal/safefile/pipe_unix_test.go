//go:build unix

package safefile_test

import (
	"errors"
	"os"
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
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, open := range map[string]func() error{
		"Open":     func() error { _, err := safefile.Open(path); return err },
		"OpenIn":   func() error { _, err := safefile.OpenIn(root, "pipe"); return err },
		"ReadJSON": func() error { var v any; return safefile.ReadJSON(path, &v) },
	} {
		if err := open(); !errors.Is(err, safefile.ErrNotRegular) {
			t.Error(name, err)
		}
	}
	lock := safefile.Lock(path)
	_, _ = lock.TryLock() // it returns; not every system locks a pipe
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
