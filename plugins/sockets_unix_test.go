//go:build !windows

package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shortDir is a folder whose path leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "thktest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestSweepLeavesWhatIsNoHostsAlone(t *testing.T) {
	base := shortDir(t)
	for _, name := range []string{"thk-notes", "thk-new-ideas", "thk-1-2-3", "thk-12-345", "thk-new-678"} {
		dir := filepath.Join(base, name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	sweepSockets(base)
	for name, want := range map[string]bool{"thk-notes": true, "thk-new-ideas": true, "thk-1-2-3": true, "thk-12-345": false, "thk-new-678": false} {
		if _, err := os.Stat(filepath.Join(base, name, "file")); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSocketsAreNotPutWhereOthersCouldReplaceThem(t *testing.T) {
	base := shortDir(t)
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	s := &sockets{base: base}
	t.Cleanup(s.close)
	if dir, p := s.open(); p == nil || p.Code != CodeState {
		t.Errorf("got %s, %v", dir, p)
	}
	for _, temp := range []string{base, "here"} {
		t.Setenv("TMPDIR", temp)
		if got := (&sockets{}).where(); got != "/tmp" {
			t.Errorf("with TMPDIR=%s sockets are in %s", temp, got)
		}
	}
	mine := shortDir(t)
	for temp, want := range map[string]string{mine: mine, filepath.Join(mine, "gone"): "/tmp"} {
		t.Setenv("TMPDIR", temp)
		if got := (&sockets{}).where(); got != want {
			t.Errorf("with TMPDIR=%s sockets are in %s", temp, got)
		}
	}
	if err := os.Chmod(base, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, p := s.open(); p != nil {
		t.Errorf("in a folder like /tmp: %v", p)
	}
}

func TestFolderOfSocketsThatWasCleanedAwayIsMadeAnew(t *testing.T) {
	base := shortDir(t)
	b := newBench(t, func(o *Options) { o.SocketDir = base }).good()
	b.mustCall(do{Do: "version"})
	pid := b.pid()
	if err := os.RemoveAll(b.host.sockets.dir); err != nil {
		t.Fatal(err)
	}
	b.mustCall(do{Do: "version"}) // the connection stands
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "its end", func() bool { return b.pid() != pid })
	b.mustCall(do{Do: "version"})
	if dir := b.host.sockets.dir; !lives(dir) {
		t.Errorf("other hosts take %s for abandoned", dir)
	}
	b.host.Close()
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestStatusOfAnotherHostIsTakenWithCare(t *testing.T) {
	base := shortDir(t)
	host := &sockets{base: base} // of the other one
	t.Cleanup(host.close)
	if _, p := host.open(); p != nil {
		t.Fatal(p)
	}
	host.keep(statusName, func() ([]byte, error) {
		return []byte(`{"/p":{"pid":1,"host":1,"state":"trusted"},"/q":{"pid":2,"host":1,"state":"running"}}`), nil
	})
	b := newBench(t, func(o *Options) { o.SocketDir = base })
	all := b.host.standing()
	if len(all["/p"]) != 0 || len(all["/q"]) != 1 {
		t.Errorf("got %+v", all)
	}
}

func TestStateFolderThatOthersCanWriteRunsNothing(t *testing.T) {
	b := newBench(t).good()
	if err := os.Chmod(b.state, 0o777); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.call(do{Do: "version"})
	if p := expectCode(t, err, CodeApprovals); p != nil && p.Path != b.state {
		t.Errorf("it names %s", p.Path)
	}
}

func TestSocketsLieWhereTheirPathsAreShortEnough(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 200))
	must(t, os.MkdirAll(long, 0o700))
	t.Setenv("TMPDIR", long)
	state := t.TempDir()
	if got := (&sockets{state: state}).where(); got == long || len(got) > longestBase || !filepath.IsAbs(got) {
		t.Errorf("they lie in %q", got)
	}
	if got := (&sockets{base: long, state: state}).where(); got != long {
		t.Errorf("the host's own place is not taken: %q", got)
	}
}

// A host that looks at a folder of another one holds nothing of it afterwards: the
// folder is as free, or as taken, as it was.
func TestLookAtAFolderOfSocketsLeavesItsLockAlone(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, socketsLock)
	must(t, os.WriteFile(path, nil, 0o600))
	if !abandoned(dir) || lives(dir) {
		t.Error("nobody holds it, and it is taken for one of a host that lives")
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list the open files:", err)
	}
	for _, fd := range open {
		if name, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); name == path {
			t.Errorf("descriptor %s is left open", fd.Name())
		}
	}
}
