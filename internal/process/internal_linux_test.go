package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tenterhook/tenterhook/internal/sandbox"
	"golang.org/x/sys/unix"
)

func TestExitIsSeenWithoutAPidfd(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 0.1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exit, err := watchExit(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(exit)
	poll := []unix.PollFd{{Fd: int32(exit), Events: unix.POLLIN}}
	if n, _ := unix.Poll(poll, 0); n != 0 {
		t.Error("seen before it happened")
	}
	for n, err := 0, error(nil); n == 0; {
		if n, err = unix.Poll(poll, 10_000); err == unix.EINTR {
			n = 0
		} else if n == 0 {
			t.Fatal("not seen")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child had been reaped: %v", err)
	}
}

func TestSpanHasAChild(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 60")
	census := openCensus()
	defer unix.Close(census)
	before := lastPID(census)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	last := lastPID(census)
	if !slices.Contains(span{before, last}.pids(), pid) {
		t.Errorf("%d is not among the pids after %d", pid, before)
	}
	if slices.Contains(span{pid, last}.pids(), pid) {
		t.Error("a process is not younger than itself")
	}
	if got := (span{pid - 1, 0}).pids(); !slices.Contains(got, pid) {
		t.Errorf("without a census got %v, without %d", got, pid)
	}
	// As if the pids had wrapped since: then the low ones are the younger.
	if got := (span{1 << 22, last}).pids(); !slices.Contains(got, pid) || slices.Max(got) > last {
		t.Errorf("got %v, without %d or above %d", got, pid, last)
	}
	if got := (span{pid - 1, 1 << 22}).pids(); !slices.Contains(got, pid) || slices.Min(got) < pid {
		t.Errorf("got %v, without %d or below it", got, pid)
	}
	if name, alive := status(pid); !alive || name != "sh" && name != "sleep" {
		t.Errorf("status of the child: %q, %v", name, alive)
	}
	cmd.Process.Kill()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, alive := status(pid); !alive {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a zombie counts as alive")
		}
	}
	cmd.Wait()
}

func TestGuardThatIsKilledIsMissedByNobody(t *testing.T) {
	group := func() *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", "exec sleep 60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	first, second := group(), group()
	for _, cmd := range []*exec.Cmd{first, second} {
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	var g guard
	if !takes(&g, first.Process.Pid) {
		t.Fatal("no guard")
	}
	lost := g.pid
	unix.Kill(lost, unix.SIGKILL)
	waitFor(t, func() bool { _, alive := status(lost); return !alive })
	if takes(&g, second.Process.Pid) {
		t.Error("a dead guard took a group")
	}
	g.remove(first.Process.Pid)
	if g.pid != 0 || unix.Kill(lost, 0) == nil {
		t.Error("the dead guard is still there")
	}
	if !takes(&g, second.Process.Pid) || g.pid == 0 {
		t.Error("no new guard")
	}
	g.remove(first.Process.Pid) // is of the old one
	if g.pid == 0 {
		t.Error("the new guard ended though it guards a group")
	}
	g.remove(second.Process.Pid)
	if g.pid != 0 {
		t.Error("a guard stayed though there is nothing to guard")
	}
}

// The guard's own part: the pipe breaks, and just the groups that it still has are killed.
func TestGuardKillsWhatItGuards(t *testing.T) {
	var cmds []*exec.Cmd
	var g guard
	for range 4 {
		cmd := exec.Command("/bin/sh", "-c", "sleep 60 & wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		cmds = append(cmds, cmd)
		if !takes(&g, cmd.Process.Pid) {
			t.Fatal("not guarded")
		}
	}
	if group, err := unix.Getpgid(g.pid); group != g.pid || err != nil {
		t.Errorf("a signal to the group of the host ends its guard: %d, %v", group, err)
	}
	g.remove(cmds[1].Process.Pid)
	g.remove(cmds[2].Process.Pid)
	unix.Close(g.pipe) // as the death of the host does
	reap(g.pid)
	for _, i := range []int{0, 3} {
		if err := cmds[i].Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("group %d: %v", i, err)
		}
	}
	for _, i := range []int{1, 2} {
		if _, alive := status(cmds[i].Process.Pid); !alive {
			t.Errorf("group %d was killed though it had been taken out", i)
		}
		unix.Kill(-cmds[i].Process.Pid, unix.SIGKILL)
		cmds[i].Wait()
	}
}

// A leader that SIGKILL does not end is hard to come by; so a leader that was not killed stands in for it.
func TestLeaderThatDoesNotDieIsASurvivor(t *testing.T) {
	s, err := Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "sleep 60"}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	c := newChild(&s, newToken(), time.Time{})
	err = errors.Join(c.wait.open(), c.begin())
	defer runtime.UnlockOSThread()
	if err != nil {
		t.Fatal(err)
	}
	c.abandon()
	c.closeAll()
	if diff := cmp.Diff([]Process{{c.pid, "/bin/sh"}}, c.res.Survivors); diff != "" || len(c.res.Warnings) != 1 {
		t.Errorf("survivors (-want +got):\n%s\nwarnings %q", diff, c.res.Warnings)
	}
	unix.Kill(-c.pid, unix.SIGKILL)
	waitFor(t, func() bool { return unix.Kill(c.pid, 0) == unix.ESRCH }) // reaped, once it can be
}

func TestDescriptorsAreClosedOnExecOneByOne(t *testing.T) {
	open := func(at int) int {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	fds := []int{open(3), open(60), open(110)}
	closeOnExecEach()
	for _, fd := range append(fds, 0) {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || (flags&unix.FD_CLOEXEC != 0) != (fd > 2) {
			t.Errorf("descriptor %d: flags %d, %v", fd, flags, err)
		}
	}
}

// A host that waits for any child may take an exit code away.
func TestExitCodeThatTheHostTookIsSaidToBeGone(t *testing.T) {
	s, err := Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "exit 3"}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := newChild(&s, newToken(), time.Time{})
	if err := errors.Join(c.wait.open(), c.begin(), c.attend()); err != nil {
		t.Fatal(err)
	}
	if status, err := reap(c.pid); err != nil || status.ExitStatus() != 3 {
		t.Fatal(status, err)
	}
	c.accompany(t.Context())
	if c.res.ExitCode != -1 || len(c.res.Warnings) != 1 || !strings.Contains(c.res.Warnings[0], "was taken by another part of the host") || len(c.res.Survivors) > 0 {
		t.Errorf("%+v", c.res)
	}
}

// A guard that does not listen is as good as none, and is replaced.
func TestGuardThatDoesNotListenIsReplaced(t *testing.T) {
	var g guard
	if !takes(&g, 1<<30) { // no one's
		t.Fatal("no guard")
	}
	defer func() {
		if g.pid != 0 {
			g.end()
		}
	}()
	deaf := g.pid
	unix.Kill(deaf, unix.SIGSTOP)
	group := 1 << 29
	for takes(&g, group) {
		if group++; group > 1<<29+100_000 {
			t.Fatal("it takes everything")
		}
	}
	if g.pid != deaf || len(g.groups) != group-1<<29+1 {
		t.Errorf("guard %d with %d groups", g.pid, len(g.groups))
	}
	g.remove(1 << 29)
	if g.pid != 0 || unix.Kill(deaf, 0) != unix.ESRCH {
		t.Error("a guard that could not hear that a group is gone stayed")
	}
	if !takes(&g, 1<<30) || g.pid == deaf {
		t.Error("it was not replaced")
	}
}

func TestSpanOfPidsMayWrap(t *testing.T) {
	for _, tt := range []struct {
		s    span
		pid  int
		want bool
	}{
		{span{10, 20}, 10, false}, {span{10, 20}, 11, true}, {span{10, 20}, 20, true}, {span{10, 20}, 21, false}, {span{10, 20}, 1, false},
		{span{20, 10}, 20, false}, {span{20, 10}, 21, true}, {span{20, 10}, 10, true}, {span{20, 10}, 11, false}, {span{20, 10}, 1, true},
		{span{10, 10}, 10, false}, {span{10, 10}, 11, false},
	} {
		if got := tt.s.has(tt.pid); got != tt.want {
			t.Errorf("%v has %d: %v", tt.s, tt.pid, got)
		}
	}
	if got := (span{10, 13}).pids(); !slices.Equal(got, []int{11, 12, 13}) {
		t.Errorf("%v", got)
	}
	if got := (span{10, 10}).pids(); got != nil {
		t.Errorf("%v", got)
	}
	if got := (span{1 << 22, 1<<22 + 4096}).pids(); len(got) != 4096 {
		t.Errorf("%d pids", len(got))
	}
	if got := (span{1 << 22, 1<<22 + 4097}).pids(); len(got) != 0 { // the ones that there are
		t.Errorf("%d pids", len(got))
	}
}

func TestPathsAreQuotedWhereTheyMustBe(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b.sh": "/a/b.sh", "": `""`, "a b": `"a b"`, "a'b": `"a'b"`, `a"b`: `"a\"b"`, "a\nb": `"a\nb"`, "a\x1bb": `"a\x1bb"`, "größe": "größe", "a\u202eb": `"a\u202eb"`, "\xff": `"\xff"`,
	} {
		if got := quote(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if got := plain(&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission}); got != "permission denied" {
		t.Error(got)
	}
	if got := plain(errors.New("odd")); got != "odd" {
		t.Error(got)
	}
}

// The mask of a child is never that of the host, not even for a moment.
func TestMaskOfAChildIsItsOwn(t *testing.T) {
	able := make(chan [2]bool)
	go sandbox.OnOwnThread(func() { able <- [2]bool{unix.Unshare(unix.CLONE_FS) == nil, ownUmask()} }) // the main thread would keep its directory for good
	switch <-able {
	case [2]bool{false, false}:
		t.Skip("unshare is forbidden here")
	case [2]bool{true, true}:
	default:
		t.Fatal("ownUmask and the system disagree")
	}
	dir := t.TempDir()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			path := filepath.Join(dir, strconv.Itoa(i))
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the host made a file of mode %v, %v", info.Mode(), err)
			}
			_ = f.Close()
			_ = os.Remove(path)
		}
	}()
	mask := 0o777
	for range 20 {
		if _, err := Run(t.Context(), Spec{Path: "/bin/true", Umask: &mask}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
}

func TestStatusIsOfWhoeverLives(t *testing.T) {
	if name, alive := status(unix.Getpid()); !alive || name == "" {
		t.Errorf("%q %v", name, alive)
	}
	if name, alive := status(1 << 30); alive || name != "" {
		t.Errorf("nobody: %q %v", name, alive)
	}
	if got := lastPID(-1); got != 0 {
		t.Errorf("without a census: %d", got)
	}
	var set pidSet
	set.note(7)
	if !set.has(7) || set.has(7+len(set)) || set.has(8) {
		t.Error("a set of pids mixes them up")
	}
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
