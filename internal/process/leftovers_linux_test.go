package process

import (
	"errors"
	"os"
	"os/exec"
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

// A thread with a working directory of its own must not come back to the host: it would not see where the host goes.
func TestRunWithAMaskLeavesTheCallersThreadAlone(t *testing.T) {
	mask, to := 0o077, t.TempDir()
	moved := make(chan string)
	go func() {
		runtime.LockOSThread() // and ends with it, should it be a thread that nobody may use
		if _, err := Run(t.Context(), Spec{Path: "/bin/true", Umask: &mask}); err != nil {
			t.Error(err)
		}
		was, err := os.Getwd()
		if err == nil {
			err = unix.Chdir(to)
		}
		if err != nil {
			t.Error(err)
		}
		moved <- was
		<-moved
	}()
	was := <-moved
	defer func() { _ = unix.Chdir(was); close(moved) }()
	var buf [4096]byte
	n, err := unix.Getcwd(buf[:])
	if got := string(buf[:max(n-1, 0)]); err != nil || got != to {
		t.Errorf("the host is in %q, %v; its thread went to %s", got, err, to)
	}
}

func TestProgramThatIsBeingWrittenIsWaitedForWithinTheTimeThatThereIs(t *testing.T) {
	for has, want := range map[time.Duration]time.Duration{0: busyFor, 1: 1, busyFor - 1: busyFor - 1, busyFor + 1: busyFor, time.Hour: busyFor} {
		if got := patience(has); got != want {
			t.Errorf("with %v: %v, want %v", has, got, want)
		}
	}
}

// A guard may be killed before it has a group.
func TestGuardThatDiesAtItsStartIsReplaced(t *testing.T) {
	var g guard
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	dead := g.pid
	unix.Kill(dead, unix.SIGKILL)
	waitFor(t, func() bool { _, alive := status(dead); return !alive })
	if takes(&g, 1<<30) { // no one's
		t.Error("a dead guard took a group")
	}
	if !takes(&g, 1<<30) {
		t.Error("it was not replaced")
	}
	g.remove(1 << 30)
}

func TestChildrenOfAProcessAreSeen(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := os.Stat(procFile(cmd.Process.Pid, "task/"+strconv.Itoa(cmd.Process.Pid)+"/children")); err != nil {
		t.Skip("this kernel does not name children:", err)
	}
	if mayHaveChildren(cmd.Process.Pid) {
		t.Error("sleep has children")
	}
	parent := exec.Command("/bin/sh", "-c", "sleep 600 & echo started; wait")
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(-parent.Process.Pid, unix.SIGKILL); _ = parent.Wait() }()
	if _, err := out.Read(make([]byte, 8)); err != nil || !mayHaveChildren(parent.Process.Pid) {
		t.Errorf("a shell that waits for its child has none, %v", err)
	}
}

// A service may run for so long that the pids of its children are lower than its own.
func TestChildOfAServiceIsFoundWhateverItsPID(t *testing.T) {
	token := newToken()
	older := exec.Command("/bin/sleep", "600")
	older.Env, older.SysProcAttr = []string{token}, &syscall.SysProcAttr{Setpgid: true}
	if err := older.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = older.Process.Kill(); _ = older.Wait() }()
	waitFor(t, func() bool { return (&child{token: token}).marked(older.Process.Pid) })
	census := openCensus()
	defer unix.Close(census)
	younger := exec.Command("/bin/true")
	if err := younger.Run(); err != nil {
		t.Fatal(err)
	}
	c := &child{pid: younger.Process.Pid, token: token, census: census}
	finds := func() bool {
		found := c.strays()
		for _, s := range found {
			unix.Close(s.pidfd)
		}
		return slices.ContainsFunc(found, func(s stray) bool { return s.PID == older.Process.Pid })
	}
	if finds() {
		t.Error("a run asks a process that is older than its leader")
	}
	if c.stays = new(stderrLines); !finds() {
		t.Error("a service overlooks a child with a pid below its own")
	}
}

// An output that nothing of the run holds was held by another child of the host, which closes it as it starts.
func TestOutputThatNoProcessOfTheRunHoldsIsAwaitedOnceMore(t *testing.T) {
	s, err := Spec{Path: "/bin/true"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := newChild(&s, newToken(), time.Time{})
	if err := errors.Join(c.wait.open(), c.begin(), c.attend()); err != nil {
		t.Fatal(err)
	}
	c.converse()
	c.held = true // as if it had been
	c.finish()
	c.closeAll()
	if len(c.res.Warnings) > 0 || !c.res.OK() {
		t.Errorf("%+v", c.res)
	}
}

func TestWhatCannotBeKilledIsASurvivor(t *testing.T) {
	var c child
	c.tell([]leftover{{Process{7, "stuck"}, true}, {Process{8, "gone"}, false}})
	if diff := cmp.Diff([]Process{{7, "stuck"}}, c.res.Survivors); diff != "" || len(c.res.Warnings) != 2 ||
		!strings.Contains(c.res.Warnings[0], "could not be killed") || !strings.Contains(c.res.Warnings[1], "which was killed") {
		t.Errorf("%s %q", diff, c.res.Warnings)
	}
}

func TestRefusalOfTheSandboxIsItsOwnCause(t *testing.T) {
	known := &StartError{Diagnosis: Diagnosis{CauseSpace, "/a b", "a space", "quotes"}}
	if got := diagnose(&Spec{Path: "/bin/true"}, known); got != known.Diagnosis {
		t.Errorf("what is diagnosed already: %+v", got)
	}
	refused := &sandbox.Error{Err: unix.EPERM}
	if got := diagnose(&Spec{Path: "/bin/true"}, refused); got.Cause != CauseSandbox || got.Reason != refused.Error() || got.Remedy != refused.Remedy() {
		t.Errorf("%+v", got)
	}
}
