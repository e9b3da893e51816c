package process

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	if !g.add(first.Process.Pid) {
		t.Fatal("no guard")
	}
	lost := g.pid
	unix.Kill(lost, unix.SIGKILL)
	waitFor(t, func() bool { _, alive := status(lost); return !alive })
	if g.add(second.Process.Pid) {
		t.Error("a dead guard took a group")
	}
	g.remove(first.Process.Pid)
	if g.pid != 0 || unix.Kill(lost, 0) == nil {
		t.Error("the dead guard is still there")
	}
	if !g.add(second.Process.Pid) || g.pid == 0 {
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
		if !g.add(cmd.Process.Pid) {
			t.Fatal("not guarded")
		}
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

// A leader that SIGKILL does not end is hard to come by; so one that nobody killed stands in for it.
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

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
