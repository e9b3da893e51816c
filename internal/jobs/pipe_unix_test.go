//go:build unix

package jobs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// A hook's call and the agent of the fleet wait for the spool.
func TestAPipeInTheSpoolIsNotWaitedFor(t *testing.T) {
	state := t.TempDir()
	s, id := jobs.In(state), job(1).Job.ID
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for folder, read := range map[string]func() error{
			"new":  func() error { _, err := s.New(); return err },
			"sent": func() error { _, err := s.Sent(); return err },
			"done": func() error {
				if r, _, ok := s.Take(id); !ok || r.Failure != hook.FailureOutput {
					t.Errorf("%+v", r)
				}
				return nil
			},
		} {
			path := filepath.Join(state, "fleet", "jobs", folder, id+".json")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Error(err)
			}
			if err := read(); folder != "done" && (!errors.Is(err, safefile.ErrNotRegular) || !strings.HasPrefix(err.Error(), path) || !strings.HasSuffix(err.Error(), "; remove it")) {
				t.Error(folder, err)
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it is waited for")
	}
}
