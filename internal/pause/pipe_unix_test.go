//go:build unix

package pause_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	for name, want := range map[string]error{"disabled.json": safefile.ErrNotRegular, "disabled.json.lock": nil} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- pause.Open(dir).Set(t.Context(), pause.Pause{Hook: "user/guard"}) }()
		select {
		case err := <-ended:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal(name, "is waited for")
		}
	}
}
