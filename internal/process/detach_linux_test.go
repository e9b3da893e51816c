package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/tenterhook/tenterhook/internal/process"
)

// detach is a spec that continues in the background once it has printed "go".
func detach(line string, background context.Context) process.Spec {
	s := shell(line)
	s.Detach = func(soFar []byte) context.Context {
		if !strings.HasPrefix(string(soFar), "go") {
			return nil
		}
		return background
	}
	return s
}

func rest(t *testing.T, res process.Result, err error) process.Result {
	t.Helper()
	if err != nil || !res.Started || res.Rest == nil || res.ExitCode != -1 {
		t.Fatalf("it does not go on: %+v %v", res, err)
	}
	select {
	case res = <-res.Rest:
		return res
	case <-time.After(30 * time.Second):
		t.Fatal("no result")
	}
	return res
}

func TestChildGoesOnInTheBackground(t *testing.T) {
	mask := 0o027
	for name, change := range map[string]func(*process.Spec){
		"as it is":                func(*process.Spec) {},
		"with a mask of its own":  func(s *process.Spec) { s.Umask = &mask },
		"with a minute's timeout": func(s *process.Spec) { s.Timeout = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			s := detach("echo first; echo go >&2; echo go on; cat "+fifo+" ; umask; exit 3", context.Background())
			s.Detach = func(soFar []byte) context.Context {
				if strings.Contains(string(soFar), "go on") {
					return context.Background()
				}
				return nil
			}
			change(&s)
			descriptors := openDescriptors(t)
			res, err := process.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(fifo, []byte("later\n"), 0); err != nil { // it waits for this
				t.Fatal(err)
			}
			res = rest(t, res, err)
			if want := "first\ngo on\nlater\n"; !strings.HasPrefix(string(res.Stdout), want) || res.ExitCode != 3 || string(res.Stderr) != "go\n" || res.Rest != nil || res.Elapsed <= 0 {
				t.Errorf("%+v, stdout %q", res, res.Stdout)
			}
			if s.Umask != nil && !strings.HasSuffix(string(res.Stdout), "0027\n") {
				t.Errorf("its mask: %q", res.Stdout)
			}
			goleak.VerifyNone(t)
			for fd, to := range openDescriptors(t) {
				if descriptors[fd] != to {
					t.Errorf("descriptor %s was left open: %s", fd, to)
				}
			}
		})
	}
}

func TestChildInTheBackgroundEndsWithItsContext(t *testing.T) {
	background, cancel := context.WithCancel(context.Background())
	caller, leave := context.WithCancel(context.Background())
	res, err := process.Run(caller, detach("echo go; sleep 60", background))
	leave() // is of no account any more
	if err == nil {
		select {
		case res := <-res.Rest:
			t.Fatalf("it ended with its caller: %+v", res)
		case <-time.After(20 * time.Millisecond):
		}
	}
	cancel()
	if res = rest(t, res, err); !res.Cancelled || res.Signal != "SIGTERM" {
		t.Errorf("%+v", res)
	}
	goleak.VerifyNone(t)
}

func TestChildThatEndsAtOnceDoesNotGoOn(t *testing.T) {
	asked := 0
	s := shell("echo no; echo no")
	s.Detach = func([]byte) context.Context { asked++; return nil }
	if res, err := process.Run(t.Context(), s); err != nil || res.Rest != nil || string(res.Stdout) != "no\nno\n" || asked == 0 {
		t.Errorf("%+v %v, asked %d times", res, err, asked)
	}
	s = shell("echo go >&2")
	s.Detach = func([]byte) context.Context { t.Error("asked about stderr"); return nil }
	if res, err := process.Run(t.Context(), s); err != nil || res.Rest != nil {
		t.Errorf("%+v %v", res, err)
	}
}

// A process that is not of the run holds an output open: the result is there all the
// same, and says so.
func TestOutputThatAStrangerHoldsIsNotWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	held := make(chan *os.File, 1)
	go func() {
		defer close(held)
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(file)
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || !strings.HasSuffix(string(text), "\n") {
				continue
			}
			if f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/fd/1", os.O_WRONLY, 0); err == nil {
				held <- f
				_ = os.Remove(file) // it may end
			}
			return
		}
	}()
	// In a subshell: a shell's own output is the file for as long as its echo writes there.
	res, err := process.Run(t.Context(), shell("(echo $$ >"+file+"); echo out; while [ -e "+file+" ]; do sleep 0.01; done; exit 5"))
	f := <-held
	if f == nil {
		t.Fatal("its output could not be opened")
	}
	f.Close()
	if err != nil || res.ExitCode != 5 || string(res.Stdout) != "out\n" || res.Stopped() {
		t.Errorf("%+v %v", res, err)
	}
	wantWarning(t, res, "held an output open")
}

func TestWaitForABusyProgramEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	left := errors.New("the agent has left")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, left)
	defer cancel()
	if res, err := process.Run(ctx, process.Spec{Path: path}); err == nil || !res.Cancelled || res.Started {
		t.Errorf("%+v %v", res, err)
	}
}
