//go:build linux || darwin

package daemon_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

// Everything that can be killed is, while clients ask, the socket is replaced by
// whatever there is, and the disk is full or cannot be written: a gate that could
// not decide denies and says why, and no process is left at the end. It takes
// seconds; TENTERHOOK_CHAOS=10m takes ten minutes.
func TestNoGateIsOpenInChaos(t *testing.T) {
	length := 8 * time.Second
	if d, err := time.ParseDuration(os.Getenv("TENTERHOOK_CHAOS")); err == nil {
		length = d
	}
	u := newUser(t, `
-- home/.config/tenterhook/hooks/slow/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(rm *)"
command = "sleep 0.0$(($$ % 9)); echo not here >&2; exit 2"
on_failure = "block"
[breaker]
failures = -1
+++
-- home/.config/tenterhook/hooks/rule/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(shutdown *)"
decision = "deny"
reason = "not now"
+++
-- home/.config/tenterhook/hooks/long/HOOK.md --
+++
event = "PostToolUse"
command = "sleep 15 & sleep 0.01"
+++
`)
	state := filepath.Join(u.home, ".local/state")
	u.mkdir(state)
	harms, done := u.harms()
	if smallDisk(t, state) {
		harms = append(harms, diskHarms(state)...)
	} else {
		t.Log("no disk can be made full here: run it as root")
	}
	end := time.Now().Add(length)
	var clients, harming sync.WaitGroup
	var asked, undecided atomic.Int64
	for client := range 6 {
		clients.Go(func() {
			for time.Now().Before(end) {
				line := []string{"rm x", "shutdown now"}[rand.N(2)]
				ask := u.claude
				if client == 0 {
					ask = func(event, payload string, env ...string) reply {
						return u.run(payload, env, "tenterhook-bridge", "--direct", "claude", event)
					}
				}
				r := ask("PreToolUse", u.shell(line, "session_id", fmt.Sprint("s", client)))
				asked.Add(1)
				if !r.denied() {
					t.Errorf("%s: the gate was open: %+v", line, r)
				}
				if strings.Contains(r.stdout, "could not decide") {
					undecided.Add(1)
				}
				for _, event := range []string{"Stop", "PostToolUse"} {
					if s := ask(event, u.payload(event, "session_id", fmt.Sprint("s", client))); s.code != 0 {
						t.Errorf("%s was blocked: %+v", event, s)
					}
				}
			}
		})
	}
	harming.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(time.Duration(50+rand.N(200)) * time.Millisecond)
			harms[rand.N(len(harms))]()
		}
		if heal := len(harms) - 1; heal >= 0 {
			harms[heal]()
		}
	})
	harming.Wait()
	clients.Wait()
	t.Logf("%d calls, %d undecided; signals to daemons: %v", asked.Load(), undecided.Load(), done.signals)
	if asked.Load() < 20 || undecided.Load() == asked.Load() || len(done.signals) == 0 {
		t.Errorf("%d calls, %d undecided, signals %v: nothing was tried", asked.Load(), undecided.Load(), done.signals)
	}
	// A daemon without its socket ends when it is idle, or when another takes its place.
	until(t, "all is well again", func() bool { return strings.Contains(u.claude("PreToolUse", u.shell("rm x")).stdout, "not here") })
	u.end()
	for _, pid := range done.stopped { // one that was forgotten ends by itself, once it runs again
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	defer func() {
		if t.Failed() {
			for _, dir := range processesOf(u) {
				t.Logf("left: %s %q", dir, u.read(dir+"/cmdline"))
			}
		}
	}()
	until(t, "no process is left", func() bool { return len(processesOf(u)) == 0 })
}

// harm is what was done to daemons.
type harm struct {
	signals map[syscall.Signal]int // how often each was sent
	stopped []int                  // processes that stand still
}

// harms are what is done to the user's daemon. Some stop a process.
func (u *user) harms() (harms []func(), done *harm) {
	place := daemon.Place(u.env)
	done = &harm{signals: make(map[syscall.Signal]int)}
	kill := func(signal syscall.Signal) func() {
		return func() {
			for _, pid := range u.daemons() {
				if signal == syscall.SIGSTOP {
					done.stopped = append(done.stopped, pid)
				}
				if syscall.Kill(pid, signal) == nil {
					done.signals[signal]++
				}
			}
		}
	}
	instead := func(put func() error) func() {
		return func() {
			_ = os.RemoveAll(place.Socket)
			_ = put()
		}
	}
	return []func(){
		kill(syscall.SIGKILL), kill(syscall.SIGKILL), kill(syscall.SIGTERM), kill(syscall.SIGSTOP), kill(syscall.SIGHUP),
		func() { // their hooks
			for _, pid := range u.daemons() {
				_ = exec.Command("pkill", "-9", "-P", strconv.Itoa(pid)).Run()
			}
		},
		instead(func() error { return nil }),
		instead(func() error { return os.WriteFile(place.Socket, []byte("x"), 0o600) }),
		instead(func() error { return os.Mkdir(place.Socket, 0o700) }),
		instead(func() error { return os.MkdirAll(place.Socket+"/x", 0o700) }),
		instead(func() error { return os.Symlink("/dev/null", place.Socket) }),
		instead(func() error { return os.Symlink(place.Socket, place.Socket) }),
		instead(func() error { return syscall.Mkfifo(place.Socket, 0o600) }),
		func() { _ = os.Remove(place.Lock) },
		func() { _ = os.Remove(place.Start) },
		func() { _ = os.RemoveAll(place.Dir) },
		func() { _ = os.RemoveAll(filepath.Join(filepath.Dir(place.Dir), "sessions")) },
		func() { _ = os.Truncate(filepath.Join(place.Dir, "agents.json"), 3) },
	}, done
}

// smallDisk puts a file system of 4 MiB at a directory, where this process may.
func smallDisk(t *testing.T, dir string) bool {
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tenterhook-test", dir).Run() != nil {
		return false
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return true
}

// diskHarms fill a file system and make it read-only. The last makes it well.
func diskHarms(dir string) []func() {
	full := filepath.Join(dir, "full")
	remount := func(how string) { _ = exec.Command("mount", "-o", "remount,"+how, dir).Run() }
	fill := func() { _ = exec.Command("dd", "if=/dev/zero", "of="+full, "bs=64k", "count=64").Run() }
	return []func(){fill, fill, func() { remount("ro") }, func() { _ = os.Remove(full) }, func() { remount("rw") }, func() {
		remount("rw")
		_ = os.Remove(full)
	}}
}

// processesOf lists the processes with the user's home directory, each as its
// directory in /proc.
func processesOf(u *user) []string {
	all, _ := filepath.Glob("/proc/[0-9]*")
	return slices.DeleteFunc(all, func(dir string) bool {
		env, _ := os.ReadFile(dir + "/environ")
		return !bytes.Contains(env, []byte("HOME="+u.home+"\x00"))
	})
}

// daemons are the user's daemons, also the ones that have lost their socket.
func (u *user) daemons() (pids []int) {
	for _, dir := range processesOf(u) {
		argv, _ := os.ReadFile(dir + "/cmdline")
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && bytes.Contains(argv, []byte("\x00daemon\x00run")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A thousand calls of twenty clients at once: none is lost, and none waits long.
func TestManyClientsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("long: starts hundreds of clients")
	}
	u := newUser(t, guard)
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	var mu sync.Mutex
	var times []time.Duration
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 50 {
				began := time.Now()
				r := u.claude("PreToolUse", u.shell("ls"))
				took := time.Since(began)
				u.wantSilent(r)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	slices.Sort(times)
	t.Logf("p50 %v, p99 %v", times[len(times)/2], times[len(times)*99/100])
	if s := u.daemon(); s.Calls != 1001 {
		t.Errorf("the daemon took %d calls, want 1001", s.Calls)
	}
}

// At rest the daemon holds little memory and does nothing.
func TestADaemonAtRest(t *testing.T) {
	if testing.Short() {
		t.Skip("long: waits for 10 s")
	}
	if _, err := os.Stat("/proc/self/statm"); err != nil {
		t.Skip("memory and wake-ups are read from /proc")
	}
	u := newUser(t, guard)
	for range 20 {
		u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	}
	pid := u.daemon().PID
	time.Sleep(5 * time.Second) // memory goes back to the system
	resident := u.resident(pid)
	if resident > 40<<20 {
		t.Errorf("%d bytes are resident, want at most 40 MB", resident)
	}
	before := u.switches(pid)
	time.Sleep(5 * time.Second)
	woke := u.switches(pid) - before
	t.Logf("%.1f MB are resident; it woke up %d times in 5 s", float64(resident)/(1<<20), woke)
	if woke > 2 {
		t.Errorf("it woke up %d times in 5 s of rest", woke)
	}
}
