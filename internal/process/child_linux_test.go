package process

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestChildThatCannotBeWaitedForIsKilled(t *testing.T) {
	runtime.LockOSThread() // the child would die with the thread
	defer runtime.UnlockOSThread()
	c := newChild(&Spec{Path: "/bin/sleep", Argv: []string{"sleep", "60"}}, "x;", time.Time{})
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	defer c.closeAll()
	c.wait.epoll = closed
	if err := c.attend(); err == nil {
		t.Error("an epoll that there is not watches a child")
	}
	if err := unix.Kill(c.pid, 0); err != unix.ESRCH {
		t.Errorf("the child is still there, or not reaped: %v", err)
	}
}

func TestLeaderThatSIGKILLDoesNotEndIsGivenUp(t *testing.T) {
	now := time.Now()
	c := newChild(new(Spec), "x;", now)
	c.stage = killed
	if c.tick(now.Add(-1)); c.stage != killed {
		t.Error("too soon")
	}
	if c.tick(now); c.stage != over {
		t.Errorf("stage %d", c.stage)
	}
}

// takes reports whether a guard takes a group.
func takes(g *guard, group int) bool {
	g.add(group)
	_, ok := g.groups[group]
	return ok
}

// What the guard's shell says must not reach an output of the host, nor hold one open.
func TestGuardHoldsNoOutputOfTheHost(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var g guard
	if !takes(&g, cmd.Process.Pid) {
		t.Fatal("no guard")
	}
	defer g.remove(cmd.Process.Pid)
	link := func(fd int) string {
		to, err := os.Readlink(procFile(g.pid, "fd/"+strconv.Itoa(fd)))
		if err != nil {
			t.Error(err)
		}
		return to
	}
	if in, out, errs := link(0), link(1), link(2); out != in || errs != in {
		t.Errorf("stdin is %s, stdout %s, stderr %s", in, out, errs)
	}
}

func TestExitIsWatchedWhereThereIsNoPidfd(t *testing.T) {
	if fd, err := exitOf(1, 7); fd != 7 || err != nil {
		t.Errorf("%d, %v", fd, err)
	}
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := exitOf(cmd.Process.Pid, closed)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if n, err := unix.Read(fd, make([]byte, 1)); n != 0 || err != nil { // until the child has ended
		t.Errorf("%d, %v", n, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child was reaped: %v", err)
	}
}

func TestPausesGrowUpTo50Milliseconds(t *testing.T) {
	for pause, want := range map[time.Duration]time.Duration{1: 2, 10: 20, 25: 50, 26: 50, 50: 50} {
		if got := longer(pause * time.Millisecond); got != want*time.Millisecond {
			t.Errorf("%d ms: %v", pause, got)
		}
	}
}

func TestChildThatHasEndedNeedsNoGuardAndIsNotCancelled(t *testing.T) {
	c := newChild(new(Spec), "x;", time.Time{})
	c.wait.epoll, c.guardAt = closed, time.Now()
	c.pid = 1 << 30 // of nobody
	if c.serve(1<<slotExit|1<<slotWake, nil); !c.exited || !c.guardAt.IsZero() || c.res.Cancelled {
		t.Errorf("exited %v, guard at %v, cancelled %v", c.exited, c.guardAt, c.res.Cancelled)
	}
}
