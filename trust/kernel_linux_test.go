package trust_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/trust"
)

// Files of the kernel have a size of 0, whatever they hold.
func TestFilesThatHoldMoreThanTheySayAreRefused(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a small address space has a small table of pages")
	}
	for path, want := range map[string]string{"/proc/self/pagemap": trust.CodeTooLarge, "/proc/self/mem": trust.CodeUnreadable} {
		if f, err := os.Open(path); err != nil {
			t.Skip(err)
		} else {
			_ = f.Close()
		}
		s := newWorkspace(t).subject()
		s.Dir, s.Files = "", []string{path}
		if _, err := s.Seal(); code(t, err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	store, err := trust.OpenFile("/proc/self/mem")
	if code(t, err) != trust.CodeUnreadable || store.Judge(newWorkspace(t).seal()).Approved {
		t.Errorf("approvals that cannot be read: %v", err)
	}
}

func TestANamedSocketIsNoFile(t *testing.T) {
	w := newWorkspace(t)
	t.Chdir(w.root) // the path of a socket is short
	l, err := net.Listen("unix", "s")
	must(t, err)
	defer l.Close()
	s := w.subject()
	s.Files = []string{w.path("/s")}
	if _, err := s.Seal(); code(t, err) != trust.CodeNotAFile || !strings.Contains(err.Error(), "is a socket") {
		t.Errorf("%v", err)
	}
}

// A disk that is full is one on which files cannot grow.
func TestNothingIsApprovedOnAFullDisk(t *testing.T) {
	for name, test := range map[string]struct {
		files int // of the workspace, each smaller than what fits
		size  int // of one file
	}{
		"a text that does not fit":          {0, 60 << 10},
		"an approvals file that grows past": {300, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorkspace(t), stateDir(t)
			approve(t, open(t, dir), w.seal())
			before, err := os.ReadFile(approvalsFile(dir))
			must(t, err)
			top := tempDir(t)
			root := filepath.Join(top, "w")
			hook := filepath.Join(root, "hook")
			must(t, os.MkdirAll(hook, 0o755))
			must(t, os.WriteFile(filepath.Join(hook, "large"), []byte(strings.Repeat("a", test.size)), 0o644))
			for i := range test.files {
				must(t, os.Symlink("large", filepath.Join(hook, strings.Repeat("n", 100)+string(rune('a'+i/26))+string(rune('a'+i%26)))))
			}
			cmd := exec.Command("sh", "-c", `ulimit -f 32 && exec "$0" "$1"`, os.Args[0], root)
			cmd.Env = append(os.Environ(), approverEnv+"="+dir)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "cannot be written: ") || !strings.Contains(string(out), "file too large") {
				t.Errorf("%v: %s", err, out)
			}
			after, err := os.ReadFile(approvalsFile(dir))
			must(t, err)
			if string(before) != string(after) {
				t.Error("what was approved is not as it was")
			}
			entries, err := os.ReadDir(dir)
			must(t, err)
			if len(entries) != 3 {
				t.Errorf("left behind: %v", entries)
			}
			approve(t, open(t, dir), w.seal()) // as soon as there is room
		})
	}
}
