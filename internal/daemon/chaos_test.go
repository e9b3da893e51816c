//go:build linux || darwin

package daemon_test

import (
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

// Everything that can be killed is, while clients ask: a gate that could not
// decide denies and says why, and no process is left at the end. It takes
// seconds; TENTERHOOK_CHAOS=10m takes ten minutes.
func TestNoGateIsOpenInChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("long: kills daemons for 8 s")
	}
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
`)
	end := time.Now().Add(length)
	var clients, harm sync.WaitGroup
	var asked, undecided atomic.Int64
	for range 6 {
		clients.Go(func() {
			for time.Now().Before(end) {
				line := []string{"rm x", "shutdown now"}[rand.N(2)]
				r := u.claude("PreToolUse", u.shell(line))
				asked.Add(1)
				if !r.denied() {
					t.Errorf("%s: the gate was open: %+v", line, r)
				}
				if strings.Contains(r.stdout, "could not decide") {
					undecided.Add(1)
				}
				if s := u.claude("Stop", u.payload("Stop")); s.code != 0 {
					t.Errorf("Stop was blocked: %+v", s)
				}
			}
		})
	}
	harm.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(time.Duration(50+rand.N(200)) * time.Millisecond)
			s, err := daemon.Ask(u.env)
			if err != nil {
				continue
			}
			switch rand.N(4) {
			case 0:
				_ = syscall.Kill(s.PID, syscall.SIGKILL)
			case 1:
				_ = os.Remove(s.Socket)
			case 2:
				_ = syscall.Kill(s.PID, syscall.SIGTERM)
			case 3:
				_ = exec.Command("pkill", "-9", "-P", strconv.Itoa(s.PID)).Run() // its hooks
			}
		}
	})
	harm.Wait()
	clients.Wait()
	t.Logf("%d calls, %d undecided", asked.Load(), undecided.Load())
	if asked.Load() < 20 || undecided.Load() == asked.Load() {
		t.Errorf("%d calls, %d undecided: nothing was tried", asked.Load(), undecided.Load())
	}
	u.end()
	until(t, "no daemon is left", func() bool { return len(daemonsOf(u)) == 0 })
}

// daemonsOf lists the processes that run the user's programs, by their files.
func daemonsOf(u *user) []string {
	var left []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, u.bin) {
			continue
		}
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "environ"))
		if strings.Contains(string(env), "HOME="+u.home+"\x00") {
			left = append(left, link)
		}
	}
	return left
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
	if after := u.switches(pid); after-before > 2 {
		t.Errorf("it woke up %d times in 5 s of rest", after-before)
	}
}
