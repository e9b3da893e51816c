package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/tenterhook/tenterhook/internal/process"
)

// service is the spec of one mode of faulthook that stays.
func service(args ...string) process.ServiceSpec {
	return process.ServiceSpec{Argv: append([]string{faulthook}, args...), Env: os.Environ(), Grace: 300 * time.Millisecond}
}

func shellService(line string) process.ServiceSpec {
	return process.ServiceSpec{Path: "/bin/sh", Argv: []string{"sh", "-c", line, faulthook}, Env: os.Environ(), Grace: 300 * time.Millisecond}
}

// serve starts a service, has use do something with it, stops it, and checks what must hold of every
// one: Stop returns in time, and nothing is left behind.
func serve(t *testing.T, s process.ServiceSpec, use func(*process.Service)) process.Result {
	t.Helper()
	mark := fmt.Sprintf("PROCESS_TEST_MARK=%s-%d", t.Name(), time.Now().UnixNano())
	s.Env = append(slices.Clip(s.Env), mark)
	descriptors := openDescriptors(t)
	v, err := process.Start(s)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	defer v.Stop() // for a use that fails
	use(v)
	began := time.Now()
	v.Stop()
	if took := time.Since(began); took > s.Grace+250*time.Millisecond+slack {
		t.Errorf("Stop took %v, with grace %v", took, s.Grace)
	}
	for began := time.Now(); len(marked(t, mark)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("left behind: %v", marked(t, mark))
		}
	}
	goleak.VerifyNone(t)
	for fd, to := range openDescriptors(t) {
		if descriptors[fd] != to {
			t.Errorf("descriptor %s was left open: %s", fd, to)
		}
	}
	return v.Result()
}

// line reads one line that a service prints, and no more.
func line(t *testing.T, v *process.Service) string {
	t.Helper()
	v.Stdout().(*os.File).SetReadDeadline(time.Now().Add(20 * time.Second))
	var text []byte
	for b := make([]byte, 1); b[0] != '\n'; text = append(text, b[0]) {
		if _, err := v.Stdout().Read(b); err != nil {
			t.Fatalf("read a line: %v (%q, stderr %q)", err, text, v.StderrTail())
		}
	}
	return strings.TrimSpace(string(text))
}

func awaitDone(t *testing.T, v *process.Service) {
	t.Helper()
	select {
	case <-v.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("it did not end")
	}
}

func TestServiceConverses(t *testing.T) {
	res := serve(t, service("echo"), func(v *process.Service) {
		for range 100 {
			fmt.Fprintln(v.Stdin(), "hello")
			if got := line(t, v); got != "hello" {
				t.Fatalf("got %q", got)
			}
		}
		if err := errors.Join(v.Stdout().(*os.File).SetReadDeadline(time.Time{}), v.Stdin().(*os.File).SetWriteDeadline(time.Time{})); err != nil {
			t.Errorf("its pipes have no deadlines: %v", err)
		}
		if r := v.Result(); !r.Started || r.ExitCode != -1 {
			t.Errorf("a result before the end: %+v", r)
		}
		if group, err := unix.Getpgid(v.PID()); err != nil || group != v.PID() {
			t.Errorf("its group is %d (%v), not its own", group, err)
		}
	})
	if len(res.Survivors) > 0 {
		t.Errorf("got %+v", res)
	}
}

func TestServiceThatEndsByItselfTellsHow(t *testing.T) {
	for want, argv := range map[string][]string{
		"exit code 3":       {"exit", "3", "because"},
		"killed by SIGKILL": {"kill", "9"},
		"exit code 0":       {"ok"},
	} {
		res := serve(t, service(argv...), func(v *process.Service) {
			awaitDone(t, v)
			if out, err := io.ReadAll(v.Stdout()); err != nil || argv[0] == "ok" != (string(out) == decision) {
				t.Errorf("%s: stdout after the end: %q, %v", want, out, err)
			}
			if _, err := v.Stdin().Write([]byte("x")); err == nil {
				t.Errorf("%s: a write to it succeeded", want)
			}
			if v.StderrTail() != strings.Repeat("because", len(argv)/3) {
				t.Errorf("%s: stderr %q", want, v.StderrTail())
			}
		})
		if res.Describe() != want || res.Stopped() || string(res.Stderr) != strings.Repeat("because", len(argv)/3) {
			t.Errorf("%s: got %+v, %q", want, res, res.Describe())
		}
	}
}

func TestP1GrandchildHoldsTheOutputsOfAService(t *testing.T) {
	for _, mode := range []string{"nest", "family"} { // the second ignores SIGTERM, leader and child
		t.Run(mode, func(t *testing.T) {
			if res := serve(t, service(mode, "60s"), func(*process.Service) {}); !res.Cancelled || len(res.Survivors) > 0 {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestG2GrandchildHoldsStderrAfterTheLeadersEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	res := serve(t, shellService("sleep 60 >&2 & echo done; exit 4"), func(v *process.Service) {
		awaitDone(t, v) // without a Stop
		if got := line(t, v); got != "done" {
			t.Errorf("got %q", got)
		}
	})
	if res.ExitCode != 4 || res.Cancelled {
		t.Errorf("got %+v", res)
	}
	wantWarning(t, res, "left behind a process")
}

func TestP3DaemonOfAServiceIsFoundAndKilled(t *testing.T) {
	res := serve(t, shellService(`"$0" daemon 60s hold; echo ready; exec sleep 60`), func(v *process.Service) {
		for line(t, v) != "ready" {
		}
	})
	if !res.Cancelled || len(res.Survivors) > 0 {
		t.Errorf("got %+v", res)
	}
	wantWarning(t, res, "which was killed")
}

func TestP4ServiceIgnoresSIGTERM(t *testing.T) {
	res := serve(t, shellService("trap '' TERM; echo ready; while :; do sleep 60; done"), func(v *process.Service) { line(t, v) })
	if res.Signal != "SIGKILL" || res.Elapsed < 300*time.Millisecond {
		t.Errorf("got %+v", res)
	}
}

// Stop closes stdin before it sends a signal, so that who reads it can end by itself.
func TestServiceMayEndBecauseItsStdinEnds(t *testing.T) {
	s := shellService("trap '' TERM; echo ready; cat >/dev/null; exit 7")
	s.Grace = time.Minute
	res := serve(t, s, func(v *process.Service) { line(t, v) })
	if res.ExitCode != 7 || !res.Cancelled || res.Signal != "" {
		t.Errorf("got %+v", res)
	}
}

func TestP4ServiceUsesItsGrace(t *testing.T) {
	s := service("polite", "60s")
	s.Grace = 15 * time.Second
	res := serve(t, s, func(v *process.Service) { line(t, v) })
	if res.ExitCode != 0 || res.Signal != "" || res.Elapsed > 14*time.Second {
		t.Errorf("got %+v", res)
	}
}

func TestG1StoppedServiceIsStopped(t *testing.T) {
	res := serve(t, service("stop"), func(v *process.Service) {
		stopped := func() bool {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.PID()))
			return bytes.Contains(stat, []byte(") T"))
		}
		for began := time.Now(); !stopped(); time.Sleep(time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Fatal("it did not stop itself")
			}
		}
	})
	if res.Signal == "" || len(res.Survivors) > 0 {
		t.Errorf("got %+v", res)
	}
}

func TestP8ServiceDiesWithItsHost(t *testing.T) {
	report := filepath.Join(t.TempDir(), "pids")
	host := exec.Command(os.Args[0], faulthook, "report", report, "60s")
	host.Env = append(os.Environ(), hostVariable+"=service")
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	wantGoneWith(t, host, report)
}

func TestP9ServiceOutlivesTheThreadsOfOthers(t *testing.T) {
	serve(t, service("echo"), func(v *process.Service) {
		for range 200 {
			var wg sync.WaitGroup
			wg.Go(func() { runtime.LockOSThread() }) // its thread ends with it
			wg.Wait()
		}
		fmt.Fprintln(v.Stdin(), "alive")
		if got := line(t, v); got != "alive" {
			t.Errorf("got %q", got)
		}
	})
}

func TestP10ServiceBeingInstalledIsRetried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.sh")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("#!/bin/sh\necho ran\nexec sleep 60\n")
	time.AfterFunc(200*time.Millisecond, func() { f.Close() })
	serve(t, process.ServiceSpec{Path: path, Env: os.Environ(), Grace: -1}, func(v *process.Service) {
		if got := line(t, v); got != "ran" {
			t.Errorf("got %q", got)
		}
	})
}

func TestP11ServiceHasThreeDescriptors(t *testing.T) {
	leak, err := unix.FcntlInt(1, unix.F_DUPFD, 200) // not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	for _, noStdin := range []bool{false, true} {
		s := service("fds")
		s.NoStdin = noStdin
		serve(t, s, func(v *process.Service) {
			if got := line(t, v); got != "[0,1,2]" {
				t.Errorf("no stdin %v: the child has %s", noStdin, got)
			}
		})
	}
}

func TestP14ServiceThatCannotStartIsExplained(t *testing.T) {
	dir := programs(t)
	descriptors := openDescriptors(t)
	for name, cause := range map[string]process.Cause{
		filepath.Join(dir, "missing.sh"): process.CauseNotFound,
		filepath.Join(dir, "plain.sh"):   process.CauseNotExecutable,
		filepath.Join(dir, "crlf.sh"):    process.CauseCRLF,
		"relative.sh":                    process.CauseSpec,
		"":                               process.CauseSpec,
	} {
		v, err := process.Start(process.ServiceSpec{Path: name})
		var se *process.StartError
		if v != nil || !errors.As(err, &se) || se.Cause != cause || se.Remedy == "" {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
	goleak.VerifyNone(t)
	if now := openDescriptors(t); len(now) > len(descriptors) {
		t.Errorf("descriptors were left open: %v, before %v", now, descriptors)
	}
}

func TestG8ServiceWithoutStdinReadsItsEnd(t *testing.T) {
	s := service("count")
	s.NoStdin = true
	serve(t, s, func(v *process.Service) {
		if v.Stdin() != nil {
			t.Error("it has a stdin")
		}
		if got := line(t, v); !strings.Contains(got, `"bytes":0`) {
			t.Errorf("got %s", got)
		}
	})
}

func TestG8ServiceInheritsNoEnvironment(t *testing.T) {
	t.Setenv("HOST_SECRET", "x")
	serve(t, process.ServiceSpec{Argv: []string{faulthook, "env"}, Env: []string{"A=b"}, Grace: -1}, func(v *process.Service) {
		if got := line(t, v); !strings.Contains(got, `"A=b","PROCESS_TEST_MARK=`) || strings.Contains(got, "HOST_SECRET") ||
			!strings.Contains(got, process.RunVariable+"=") {
			t.Errorf("got %s", got)
		}
	})
}

func TestServiceStopEndsReadersAndWriters(t *testing.T) {
	var wg sync.WaitGroup
	serve(t, service("sleep", "60s"), func(v *process.Service) {
		wg.Go(func() {
			if _, err := v.Stdin().Write(make([]byte, 1<<20)); err == nil {
				t.Error("a write that nobody takes succeeded")
			}
		})
		wg.Go(func() {
			if n, err := v.Stdout().Read(make([]byte, 1)); err == nil {
				t.Errorf("read %d bytes", n)
			}
		})
		for range 8 {
			wg.Go(v.Stop)
		}
		wg.Wait()
	})
}

func TestServiceHandsOnItsStderr(t *testing.T) {
	var lines []string
	s := shellService(`printf 'one\r\n\ntwo\n' >&2; head -c 200000 /dev/zero | tr '\0' x >&2; printf '\nlast' >&2; echo ready; exec sleep 60`)
	s.Stderr = func(line []byte) { lines = append(lines, string(line)) }
	res := serve(t, s, func(v *process.Service) { line(t, v) })
	want := []string{"one", "", "two", strings.Repeat("x", 64<<10), "last"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %d lines: %.300q", len(lines), lines)
	}
	if got := string(res.Stderr); len(got) != 8<<10 || !strings.HasSuffix(got, "xx\nlast") {
		t.Errorf("a tail of %d bytes: …%q", len(got), got[max(0, len(got)-20):])
	}
}
