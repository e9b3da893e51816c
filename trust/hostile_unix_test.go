//go:build unix

package trust_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/trust"
)

// soon fails the test if do does not return.
func soon(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs")
	}
}

func TestF1SpecialFilesAreRefusedAtOnce(t *testing.T) {
	fifo := func(w *workspace, path string) { must(w.t, syscall.Mkfifo(path, 0o644)) }
	tests := []struct {
		name string
		make func(w *workspace, s *trust.Subject)
		code string
	}{
		{"pipe", func(w *workspace, s *trust.Subject) { fifo(w, w.path("x")) }, trust.CodeNotAFile},
		{"socket", func(w *workspace, s *trust.Subject) {
			w.t.(*testing.T).Chdir(w.dir) // the path may be too long for a socket
			l, err := net.Listen("unix", "x")
			must(w.t, err)
			w.t.(*testing.T).Cleanup(func() { l.Close() })
		}, trust.CodeNotAFile},
		{"device", func(w *workspace, s *trust.Subject) {
			if err := syscall.Mknod(w.path("x"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil { // /dev/zero
				w.t.Skip("no devices here:", err)
			}
		}, trust.CodeNotAFile},
		{"pipe behind a link", func(w *workspace, s *trust.Subject) {
			fifo(w, w.path("/pipe"))
			w.link("../../../pipe", "x")
		}, trust.CodeEscapes},
		{"pipe for a folder", func(w *workspace, s *trust.Subject) {
			fifo(w, w.path("/pipe"))
			s.Dir = w.path("/pipe")
		}, trust.CodeUnreadable},
		{"pipe by name", func(w *workspace, s *trust.Subject) {
			fifo(w, w.path("/pipe"))
			s.Files = []string{w.path("/pipe")}
		}, trust.CodeNotAFile},
		{"device by name", func(w *workspace, s *trust.Subject) { s.Files = []string{"/dev/zero"} }, trust.CodeNotAFile},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkspace(t)
			s := w.subject()
			test.make(w, &s)
			soon(t, func() {
				if _, err := s.Seal(); code(t, err) != test.code {
					t.Errorf("%v, want code %s", err, test.code)
				}
			})
		})
	}
}

func TestWhatIsNoFileIsNamed(t *testing.T) {
	w := newWorkspace(t)
	must(t, syscall.Mkfifo(w.path("/pipe"), 0o644))
	for path, want := range map[string]string{w.path("/pipe"): "is a pipe,", "/dev/null": "is a device,"} {
		s := w.subject()
		s.Files = []string{path}
		if _, err := s.Seal(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAFileIsExecutableIfAnyoneMayExecuteIt(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{0o644: false, 0o666: false, 0o744: true, 0o654: true, 0o645: true} {
		w := newWorkspace(t)
		w.write("x", "", 0o644)
		must(t, os.Chmod(w.path("x"), mode))
		for _, f := range w.seal().Approval().Folder {
			if f.Name == "x" && f.Exec != want {
				t.Errorf("%04o: executable %v", mode, f.Exec)
			}
		}
	}
}

func TestF1PipeSwappedInNeverHangs(t *testing.T) {
	w := newWorkspace(t)
	must(t, syscall.Mkfifo(w.path("/pipe"), 0o644))
	w.write("/file", "x", 0o644)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, from := range []string{"/pipe", "/file"} {
				_ = os.Link(w.path(from), w.path("/next"))
				_ = os.Rename(w.path("/next"), w.path("run.sh"))
				_ = os.Remove(w.path("/next"))
			}
		}
	}()
	soon(t, func() {
		s := w.subject()
		s.Files = []string{w.path("run.sh")}
		for range 200 {
			_, _ = s.Seal()
		}
	})
	close(stop)
	<-done
}
