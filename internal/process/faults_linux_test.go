package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/tenterhook/tenterhook/internal/process"
)

func TestP1GrandchildHoldsStdout(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, mode := range []string{"nest", "family"} { // the second ignores SIGTERM, leader and child
		t.Run(mode, func(t *testing.T) {
			s := fault(mode, "60s")
			s.Timeout, s.Grace = 300*time.Millisecond, 300*time.Millisecond
			res := survive(t, s)
			if !res.TimedOut || len(res.Survivors) > 0 {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestP2DecisionCountsThoughAChildHoldsStdout(t *testing.T) {
	res := survive(t, fault("hold", "60s"))
	if !res.OK() || !json.Valid(res.Stdout) {
		t.Errorf("got %+v", res)
	}
	if res.Elapsed > 30*time.Second {
		t.Errorf("took %v", res.Elapsed)
	}
	wantWarning(t, res, "held an output open")
	wantWarning(t, res, `"faulthook" (pid`)
}

func TestP2OutputThatFollowsTheLeaderSoonIsTaken(t *testing.T) {
	res := survive(t, fault("tee", "5ms"))
	if !res.OK() || !json.Valid(res.Stdout) {
		t.Errorf("got %+v", res)
	}
}

func TestP2BackgroundChildIsStopped(t *testing.T) {
	for _, mode := range []string{"background", "regroup"} {
		t.Run(mode, func(t *testing.T) {
			res := survive(t, fault(mode, "60s"))
			if !res.OK() || !json.Valid(res.Stdout) || len(res.Survivors) > 0 {
				t.Errorf("got %+v", res)
			}
			wantWarning(t, res, "which was killed")
		})
	}
}

func TestP3DaemonIsFoundAndKilled(t *testing.T) {
	for _, args := range [][]string{{"daemon", "60s"}, {"daemon", "60s", "hold"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			res := survive(t, fault(args...))
			if !res.OK() || !json.Valid(res.Stdout) || len(res.Survivors) > 0 {
				t.Errorf("got %+v", res)
			}
			wantWarning(t, res, "which was killed")
			if n := strings.Count(strings.Join(res.Warnings, "\n"), "left behind a process"); n != 1 { // with threads, that are none
				t.Errorf("%d processes: %q", n, res.Warnings)
			}
		})
	}
}

func TestP3DaemonOfAStoppedHookIsFoundAndKilled(t *testing.T) {
	s := shell(`"$0" daemon 60s && sleep 60`)
	s.Argv = append(s.Argv, faulthook)
	s.Timeout, s.Grace = 700*time.Millisecond, 300*time.Millisecond
	res := survive(t, s)
	if !res.TimedOut || len(res.Survivors) > 0 {
		t.Errorf("got %+v", res)
	}
	wantWarning(t, res, "which was killed")
}

func TestAGroupThatEndsWithItsLeaderLeavesNothingBehind(t *testing.T) {
	s := shell("i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; wait")
	s.Timeout, s.Grace = time.Second, -1
	res, err := process.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Survivors) > 0 {
		t.Skipf("the machine stalls, and shows what was killed alive: %v", res.Survivors)
	}
	if !res.TimedOut || len(res.Warnings) > 0 {
		t.Errorf("got %+v", res)
	}
}

func TestAProcessOfTheGroupIsFoundWithoutTheRunsVariables(t *testing.T) {
	res := survive(t, shell("env -i /bin/sleep 60 < /dev/null > /dev/null 2>&1 & sleep 0.5"))
	if len(res.Survivors) > 0 {
		t.Errorf("got %+v", res)
	}
	wantWarning(t, res, "which was killed")
}

func TestP4SIGTERMIgnored(t *testing.T) {
	s := fault("stubborn", "60s")
	s.Timeout, s.Grace = 300*time.Millisecond, 300*time.Millisecond
	res := survive(t, s)
	if !res.TimedOut || res.Signal != "SIGKILL" || res.Elapsed < 600*time.Millisecond {
		t.Errorf("got %+v", res)
	}
}

func TestP4GraceIsGivenAndUsed(t *testing.T) {
	s := fault("polite", "60s")
	s.Timeout, s.Grace = 500*time.Millisecond, 10*time.Second
	res := survive(t, s)
	if !res.TimedOut || res.ExitCode != 0 || string(res.Stdout) != "ready\nbye\n" {
		t.Errorf("got %+v with stdout %q", res, res.Stdout)
	}
	if res.Elapsed > 30*time.Second {
		t.Errorf("waited %v although the child was gone", res.Elapsed)
	}
}

func TestP4NegativeGraceKillsAtOnce(t *testing.T) {
	s := fault("polite", "60s")
	s.Timeout, s.Grace = 200*time.Millisecond, -1
	if res := survive(t, s); !res.TimedOut || res.Signal != "SIGKILL" {
		t.Errorf("got %+v", res)
	}
}

func TestP5StdinThatNobodyReads(t *testing.T) {
	big := make([]byte, 50<<20)
	for _, line := range []string{"true", "exec <&-; echo '{}'"} {
		s := shell(line)
		s.Stdin = big
		if res := survive(t, s); !res.OK() || len(res.Warnings) > 0 {
			t.Errorf("%s: got %+v", line, res)
		}
	}
}

func TestP5StdinArrivesWhole(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 64 << 10, 64<<10 + 1, 5 << 20} {
		s := fault("count")
		s.Stdin = bytes.Repeat([]byte{'x'}, n)
		res := survive(t, s)
		var got struct{ Bytes int }
		if err := json.Unmarshal(res.Stdout, &got); err != nil || got.Bytes != n {
			t.Errorf("%d bytes: got %q (%v)", n, res.Stdout, err)
		}
	}
}

func TestP6TimeoutCoversTheWriteOfStdin(t *testing.T) {
	s := fault("sleep", "60s")
	s.Stdin = make([]byte, 5<<20)
	s.Timeout, s.Grace = 300*time.Millisecond, 300*time.Millisecond
	if res := survive(t, s); !res.TimedOut {
		t.Errorf("got %+v", res)
	}
}

func TestP7FloodIsCapped(t *testing.T) {
	for _, output := range []string{"stdout", "stderr"} {
		t.Run(output, func(t *testing.T) {
			var before, after runtime.MemStats
			s := fault("flood", output)
			runtime.ReadMemStats(&before)
			res := survive(t, s)
			runtime.ReadMemStats(&after)
			if res.Overflow != output || len(res.Stdout)+len(res.Stderr) != process.DefaultOutput {
				t.Errorf("overflow %q with %d and %d bytes", res.Overflow, len(res.Stdout), len(res.Stderr))
			}
			// All that was allocated, garbage included: more than what the heap grew by.
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("allocated %d bytes", grown)
			}
		})
	}
}

func TestP7CapIsExact(t *testing.T) {
	for _, output := range []string{"stdout", "stderr"} {
		for n, over := range map[int]string{99_999: "", 100_000: "", 100_001: output} {
			s := fault("bytes", strconv.Itoa(n), output)
			s.MaxStdout, s.MaxStderr = 100_000, 100_000
			res := survive(t, s)
			if got := len(res.Stdout) + len(res.Stderr); res.Overflow != over || got != min(n, 100_000) {
				t.Errorf("%d bytes on %s: overflow %q, %d bytes", n, output, res.Overflow, got)
			}
		}
	}
}

func TestP8HostIsKilled(t *testing.T) {
	report := filepath.Join(t.TempDir(), "pids")
	host := exec.Command(os.Args[0], faulthook, "report", report, "60s")
	host.Env = append(os.Environ(), hostVariable+"=1")
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	wantGoneWith(t, host, report)
}

// wantGoneWith kills a host once its hook has reported its processes and has a guard, and wants these gone within 1 s.
func wantGoneWith(t *testing.T, host *exec.Cmd, report string) {
	t.Helper()
	var pids []byte
	for deadline := time.Now().Add(20 * time.Second); len(pids) == 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		pids, _ = os.ReadFile(report)
	}
	for deadline := time.Now().Add(20 * time.Second); !hasGuard(host.Process.Pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the host has no guard")
			break
		}
	}
	time.Sleep(500 * time.Millisecond) // the host names the group to the guard right after the guard's start
	host.Process.Kill()
	host.Wait()
	began := time.Now()
	hook := strings.Fields(string(pids))
	if len(hook) != 2 {
		t.Fatalf("the hook reported %q", pids)
	}
	for _, pid := range hook { // the leader, and its child
		for alive(pid) && time.Since(began) < time.Second+slack {
			time.Sleep(time.Millisecond)
		}
		if alive(pid) {
			t.Errorf("process %s survived its host", pid)
			if n, err := strconv.Atoi(pid); err == nil {
				syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

// hasGuard tells whether a host has started the shell that ends its groups after it.
func hasGuard(host int) bool {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", host))
	if len(lists) == 0 {
		return true // this kernel does not tell
	}
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(children)) {
			if line, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.Contains(string(line), "read -r op g") {
				return true
			}
		}
	}
	return false
}

// Threads end when a goroutine that is bound to one ends. Had the hook been started on a thread that
// others can get, one of these would take it along.
func TestP9ThreadsEndWhileAHookRuns(t *testing.T) {
	done := make(chan process.Result)
	go func() {
		runtime.LockOSThread() // and this one's thread ends right after its hook
		res, err := process.Run(context.Background(), fault("late", "400ms"))
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- res
	}()
	for {
		select {
		case res := <-done:
			if !res.OK() {
				t.Errorf("got %+v", res)
			}
			return
		case <-time.After(time.Millisecond):
			go runtime.LockOSThread()
		}
	}
}

func TestP10ProgramBeingInstalledIsRetried(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for a program that never comes")
	}
	path := filepath.Join(t.TempDir(), "hook.sh")
	busy := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("#!/bin/sh\necho ran\n")
		return f
	}
	quoted := shell(`"` + path + `"`)
	for name, s := range map[string]process.Spec{"direct": {Path: path, Timeout: 20 * time.Second}, "shell": quoted} {
		t.Run(name, func(t *testing.T) {
			f := busy()
			time.AfterFunc(200*time.Millisecond, func() { f.Close() })
			if res := survive(t, s); !res.OK() || string(res.Stdout) != "ran\n" || res.Elapsed < 150*time.Millisecond {
				t.Errorf("got %+v, stderr %q", res, res.Stderr)
			}
		})
	}
	t.Run("never ends", func(t *testing.T) {
		defer busy().Close()
		_, err := process.Run(context.Background(), process.Spec{Path: path, Timeout: 200 * time.Millisecond})
		var se *process.StartError
		if !errors.As(err, &se) || se.Cause != process.CauseBusy || !errors.Is(err, syscall.ETXTBSY) {
			t.Errorf("got %v", err)
		}
		res := survive(t, withTimeout(quoted, 10*time.Second))
		if d, ok := process.Explain(quoted, res); !ok || d.Cause != process.CauseBusy {
			t.Errorf("got %+v of %+v", d, res)
		}
	})
}

func TestP10WhatMayHaveDoneSomethingIsNotRepeated(t *testing.T) {
	dir := t.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "hook.sh"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("#!/bin/sh\n")
	s := shell("echo >>log; ./hook.sh")
	s.Dir = dir
	survive(t, s)
	if log, _ := os.ReadFile(filepath.Join(dir, "log")); len(log) != 1 {
		t.Errorf("the line ran %d times", len(log))
	}
}

func withTimeout(s process.Spec, d time.Duration) process.Spec { s.Timeout = d; return s }

func TestP11OnlyThreeDescriptorsAreOpen(t *testing.T) {
	for _, from := range []int{0, 3, 200, 1000} {
		if from > 0 {
			leak, err := unix.FcntlInt(1, unix.F_DUPFD, from) // not close-on-exec
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(leak)
		}
		res := survive(t, fault("fds"))
		if got := strings.TrimSpace(string(res.Stdout)); got != "[0,1,2]" {
			t.Errorf("with one leaked from %d on: the child has %s", from, got)
		}
	}
}

func TestP12StoppedHookIsKilled(t *testing.T) {
	s := fault("stop")
	s.Timeout, s.Grace = 300*time.Millisecond, 300*time.Millisecond
	if res := survive(t, s); !res.TimedOut || res.Signal == "" {
		t.Errorf("got %+v", res)
	}
}

func TestP12DeathsAreTold(t *testing.T) {
	tests := []struct {
		spec     process.Spec
		code     int
		signal   string
		describe string
	}{
		{fault("kill", "9"), -1, "SIGKILL", "killed by SIGKILL"},
		{fault("kill", "15"), -1, "SIGTERM", "killed by SIGTERM"},
		{shell("exit 137"), 137, "", "exit code 137: by a shell's convention, a command in it was killed by SIGKILL"},
		{shell("sh -c 'kill -9 $$'; exit $?"), 137, "", "exit code 137: by a shell's convention, a command in it was killed by SIGKILL"},
		{shell("exit 3"), 3, "", "exit code 3"},
		{shell("exit 255"), 255, "", "exit code 255"},
		{fault("panic"), 2, "", "exit code 2"},
	}
	for _, tt := range tests {
		res := survive(t, tt.spec)
		if res.ExitCode != tt.code || res.Signal != tt.signal || res.Describe() != tt.describe || res.Stopped() {
			t.Errorf("%v: got %+v, %q", tt.spec.Argv, res, res.Describe())
		}
	}
}

func TestP13TimeoutIsNotAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	s := shell("sleep 60; echo '{}'")
	s.Timeout = time.Second
	res := survive(t, s)
	if !res.TimedOut || res.OK() || len(res.Stdout) > 0 || res.Elapsed < time.Second || res.Elapsed > 30*time.Second {
		t.Errorf("got %+v", res)
	}
}

func TestP15TwoHundredAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const n = 200
	var wg sync.WaitGroup
	results := make([]process.Result, n)
	for i := range n {
		wg.Go(func() {
			s := shell("read x; echo $x; sleep 0.1")
			s.Stdin = fmt.Appendln(nil, i)
			s.Timeout = time.Minute
			res, err := process.Run(t.Context(), s)
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
			results[i] = res
		})
	}
	wg.Wait()
	for i, res := range results {
		if string(res.Stdout) != fmt.Sprintln(i) || !res.OK() || len(res.Warnings) > 0 {
			t.Errorf("%d: got %+v, stdout %q", i, res, res.Stdout)
		}
	}
	goleak.VerifyNone(t)
}

func TestP16BytesComeThroughUnharmed(t *testing.T) {
	res := survive(t, fault("binary"))
	want := make([]byte, 256)
	for i := range want {
		want[i] = byte(i)
	}
	if diff := cmp.Diff(want, res.Stdout); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := fault("echo")
	s.Stdin = bytes.Repeat(want, 2000)
	if res := survive(t, s); !bytes.Equal(res.Stdout, s.Stdin) {
		t.Errorf("%d bytes came back, of %d", len(res.Stdout), len(s.Stdin))
	}
}
