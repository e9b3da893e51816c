package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tenterhook/tenterhook/internal/process"
)

// A start that fails for want of descriptors closes none of the host's: -1 is no
// descriptor, and 0 is the host's stdin.
func TestStartOutOfDescriptorsLeavesTheHostsAlone(t *testing.T) {
	if os.Getenv("PROCESS_TEST_FULL") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStartOutOfDescriptorsLeavesTheHostsAlone$", "-test.v")
		cmd.Env = append(os.Environ(), "PROCESS_TEST_FULL=1")
		cmd.Stdin = strings.NewReader("stdin")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "tried with every number of descriptors") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	open := func() (list []string) {
		for fd := range 64 {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) == nil {
				list = append(list, fmt.Sprint(fd, " ", st.Ino, " ", st.Dev))
			}
		}
		return list
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	failed := 0
	before := open()
	highest := 0
	_, _ = fmt.Sscan(before[len(before)-1], &highest)
	for most := highest + 1; most < highest+16; most++ {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(most), Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		_, err := process.Run(context.Background(), shell("exit 0"))
		v, serviceErr := process.Start(process.ServiceSpec{Argv: []string{"/bin/cat"}})
		if serviceErr == nil {
			v.Stop()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		if err != nil || serviceErr != nil {
			failed++
		}
		if now := open(); strings.Join(now, ";") != strings.Join(before, ";") {
			t.Fatalf("with %d descriptors: open %q, before %q", most, now, before)
		}
	}
	if failed < 3 {
		t.Fatalf("only %d starts failed", failed)
	}
	fmt.Println("tried with every number of descriptors")
}

// A host may have closed its own stdin, stdout or stderr: their numbers then are
// those of pipes, which are used and closed like all others.
func TestHostWithoutStdinRunsHooksAndLeaksNothing(t *testing.T) {
	if os.Getenv("PROCESS_TEST_CLOSED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHostWithoutStdinRunsHooksAndLeaksNothing$", "-test.v")
		cmd.Env = append(os.Environ(), "PROCESS_TEST_CLOSED=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := unix.Close(0); err != nil {
		t.Fatal(err)
	}
	before := openDescriptors(t)
	for range 3 {
		s := shell("cat; echo err >&2; exit 3")
		s.Stdin = []byte("in")
		if res, err := process.Run(t.Context(), s); err != nil || string(res.Stdout) != "in" || string(res.Stderr) != "err\n" || res.ExitCode != 3 {
			t.Fatalf("%+v %v", res, err)
		}
		v, err := process.Start(process.ServiceSpec{Argv: []string{"/bin/cat"}, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Stdin().Write([]byte("again\n")); err != nil {
			t.Error(err)
		}
		if got := line(t, v); got != "again" {
			t.Errorf("got %q", got)
		}
		v.Stop()
		v, err = process.Start(process.ServiceSpec{Argv: []string{"/bin/cat"}, NoStdin: true})
		if err != nil {
			t.Fatal(err)
		}
		<-v.Done()
		v.Stop()
		if _, err := process.Run(t.Context(), process.Spec{Path: "/no/such/program"}); err == nil {
			t.Error("it started")
		}
		if diff := cmp.Diff(before, openDescriptors(t)); diff != "" {
			t.Fatalf("descriptors (-before +after):\n%s", diff)
		}
	}
}

func TestChildGetsItsThreeDescriptorsAndExtraFilesStillPass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("passed on"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_RDONLY, 0) // as a C library opens it
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	res, err := process.Run(t.Context(), shell("ls /proc/self/fd/ | sort -n | tr '\\n' ' '; readlink /proc/self/fd/* | grep -c "+file))
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(res.Stdout)), "0") {
		t.Errorf("%v: a child has %q", err, res.Stdout)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("docs/embedding.md says that it is close-on-exec now: %d %v", flags, err)
	}
	cmd := exec.Command("/bin/sh", "-c", "cat <&3")
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(must(unix.Dup(fd))), file)}
	defer cmd.ExtraFiles[0].Close()
	if out, err := cmd.Output(); err != nil || string(out) != "passed on" {
		t.Errorf("ExtraFiles: %q %v", out, err)
	}
}

func must(fd int, err error) int {
	if err != nil {
		panic(err)
	}
	return fd
}

// A child with a mask of its own leaves no thread behind that the host's Chdir
// does not reach.
func TestChildWithAMaskLeavesNoThreadInAnotherDirectory(t *testing.T) {
	mask := 0o077
	for range 8 {
		spec := shell("umask")
		spec.Umask = &mask
		if res, err := process.Run(t.Context(), spec); err != nil || strings.TrimSpace(string(res.Stdout)) != "0077" {
			t.Fatalf("%q %v", res.Stdout, err)
		}
		v, err := process.Start(process.ServiceSpec{Argv: []string{"/bin/cat"}, Umask: &mask})
		if err != nil {
			t.Fatal(err)
		}
		v.Stop()
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		elsewhere := ""
		tasks, _ := filepath.Glob("/proc/self/task/*/cwd")
		for _, task := range tasks {
			if at, err := os.Readlink(task); err == nil && at != dir {
				elsewhere = task + " is in " + at
			}
		}
		if elsewhere == "" && len(tasks) > 0 {
			return
		}
		if time.Since(start) > 30*time.Second {
			t.Fatal(elsewhere)
		}
	}
}
