//go:build linux || darwin

package daemon_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

func TestTheFirstCallStartsTheDaemonAndLaterOnesUseIt(t *testing.T) {
	u := newUser(t, guard)
	u.wantDenied(u.claude("PreToolUse", u.shell("rm -rf x")), "not here")
	first := u.daemon()
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	if second := u.daemon(); second.PID != first.PID || second.Calls != 2 {
		t.Errorf("got %+v, want the daemon %d with 2 calls", second, first.PID)
	}
	for _, file := range []string{filepath.Dir(first.Socket), first.Socket} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be used by others: %v %v", file, info.Mode(), err)
		}
	}
}

func TestManyFirstCallsStartOneDaemon(t *testing.T) {
	u := newUser(t, guard)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() { u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here") })
	}
	all.Wait()
	if s := u.daemon(); s.Calls != 12 {
		t.Errorf("one daemon took %d of 12 calls", s.Calls)
	}
}

// A hook sees its own caller: not the one that started the daemon.
func TestHooksRunAsTheirCaller(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/who/HOOK.md --
+++
event = "SessionStart"
command = 'umask; echo "$WHO in $PWD"; : > "$OUT"'
+++
`)
	u.wantSilent(u.claude("SessionEnd", u.payload("SessionEnd", "reason", "other"), "WHO=nobody"))
	for who, mask := range map[string]int{"alice": 0o077, "bob": 0o002} {
		out := filepath.Join(u.work, who)
		old := syscall.Umask(mask)
		r := u.claude("SessionStart", u.payload("SessionStart", "source", "startup"), "WHO="+who, "OUT="+out)
		syscall.Umask(old)
		if r.code != 0 || !strings.Contains(r.stdout, who+" in ") {
			t.Errorf("got %+v, want the word of %s", r, who)
		}
		if info, err := os.Stat(out); err != nil || info.Mode().Perm() != os.FileMode(0o666&^mask) {
			t.Errorf("%s: the hook's file is %v (%v), with mask %o", who, info, err, mask)
		}
	}
}

func TestALargePayloadArrivesWhole(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/count/HOOK.md --
+++
event = "PreToolUse"
command = "wc -c >&2; exit 2"
+++
`)
	r := u.claude("PreToolUse", u.shell("echo "+strings.Repeat("x", 3<<20)))
	if !r.denied() {
		t.Fatalf("got %+v", r)
	}
	if size := len(strings.TrimSpace(r.stderr)); size == 0 || !strings.Contains(r.stdout, "31") {
		t.Errorf("the hook counted %q", r.stderr)
	}
}

// stop stops a process, and waits until each of its threads stands still: one that runs on takes another call.
func stop(t *testing.T, pid int) {
	t.Helper()
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	if runtime.GOOS != "linux" {
		time.Sleep(time.Second)
		return
	}
	until(t, "the process stands still", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, thread := range threads {
			stat, _ := os.ReadFile(thread)
			if fields := strings.Fields(string(stat[max(0, bytes.LastIndexByte(stat, ')')):])); len(fields) > 1 && fields[1] != "T" {
				return false
			}
		}
		return len(threads) > 0
	})
}

func TestAKilledDaemonIsReplaced(t *testing.T) {
	u := newUser(t, guard)
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	for what, harm := range map[string]func(*daemon.Status){
		"killed":             func(s *daemon.Status) { _ = syscall.Kill(s.PID, syscall.SIGKILL) },
		"without its socket": func(s *daemon.Status) { _ = os.Remove(s.Socket) },
		"stopped":            func(s *daemon.Status) { stop(t, s.PID) },
	} {
		t.Run(what, func(t *testing.T) {
			before := u.daemon()
			harm(before)
			u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
			if after := u.daemon(); after.PID == before.PID {
				t.Errorf("the daemon %d still answers", after.PID)
			}
			u.gone(before.PID)
		})
	}
}

// The daemon dies while a hook runs: the call is asked again, and decided.
func TestACallSurvivesTheEndOfItsDaemon(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/slow/HOOK.md --
+++
event = "PreToolUse"
command = "./slow.sh"
on_failure = "block"
+++
-- home/.config/tenterhook/hooks/slow/slow.sh --
#!/bin/sh
if [ -e "$OUT" ]; then echo second time >&2; exit 2; fi
: > "$OUT"
sleep 60
`)
	out := filepath.Join(u.work, "started")
	answer := make(chan reply)
	go func() { answer <- u.claude("PreToolUse", u.shell("ls"), "OUT="+out) }()
	until(t, "the hook runs", func() bool { _, err := os.Stat(out); return err == nil })
	_ = syscall.Kill(u.daemon().PID, syscall.SIGKILL)
	u.wantDenied(<-answer, "second time")
}

// A gate fails closed and everything else open, each with a reason, where no
// daemon can be had.
func TestWithoutADaemonTheEventsFailurePolicyAnswers(t *testing.T) {
	u := newUser(t, guard)
	u.bin = t.TempDir()
	text, err := os.ReadFile(filepath.Join(bin, "tenterhook-bridge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.bin, "tenterhook-bridge"), text, 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(why string) {
		t.Helper()
		u.wantDenied(u.claude("PreToolUse", u.shell("ls")), why)
		for _, event := range []string{"Stop", "PostToolUse"} {
			if r := u.claude(event, u.payload(event)); r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, why) {
				t.Errorf("%s: got %+v, want exit code 0 and the reason", event, r)
			}
		}
	}
	check("is missing or cannot be executed")
	u.write(filepath.Join(u.bin, "tenterhook"), "#!/bin/sh\nexit 3\n")
	if err := os.Chmod(filepath.Join(u.bin, "tenterhook"), 0o700); err != nil {
		t.Fatal(err)
	}
	check("the daemon ended while it started")
}

// What listens in the daemon's place and is another program is not believed.
func TestAnotherProgramInTheDaemonsPlaceIsReplaced(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("a peer's program is not known here")
	}
	u := newUser(t, guard)
	old := &user{t: t, bin: t.TempDir(), home: u.home, work: u.work, env: u.env, used: u.used}
	for _, name := range []string{"tenterhook", "tenterhook-bridge"} {
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(old.bin, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old.wantDenied(old.claude("PreToolUse", u.shell("rm x")), "not here")
	before := u.daemon()
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	after := u.daemon()
	if after.PID == before.PID || !strings.HasPrefix(after.Program, bin) {
		t.Errorf("%+v answered, want the program in %s", after, bin)
	}
	u.gone(before.PID)
}

// A new version takes over while a call of the old one is under way; both are
// answered.
func TestAnUpgradeLosesNoCall(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("a peer's program is not known here")
	}
	u := newUser(t, `
-- home/.config/tenterhook/hooks/slow/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(slow)"
command = ": > $OUT; while [ -e $OUT ]; do sleep 0.05; done; echo slow one >&2; exit 2"
on_failure = "block"
+++
`+guard)
	out := filepath.Join(u.work, "started")
	old := &user{t: t, bin: t.TempDir(), home: u.home, work: u.work, env: u.env, used: u.used}
	for _, name := range []string{"tenterhook", "tenterhook-bridge"} {
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(old.bin, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	answer := make(chan reply)
	go func() { answer <- old.claude("PreToolUse", u.shell("slow"), "OUT="+out) }()
	until(t, "the hook runs", func() bool { _, err := os.Stat(out); return err == nil })
	before := u.daemon()
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	u.wantDenied(<-answer, "slow one")
	u.gone(before.PID)
}

func TestStopLetsCallsEnd(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/slow/HOOK.md --
+++
event = "PreToolUse"
command = ": > $OUT; while [ -e $OUT ]; do sleep 0.05; done; echo slow one >&2; exit 2"
on_failure = "block"
+++
`)
	out := filepath.Join(u.work, "started")
	answer := make(chan reply)
	go func() { answer <- u.claude("PreToolUse", u.shell("slow"), "OUT="+out) }()
	until(t, "the hook runs", func() bool { _, err := os.Stat(out); return err == nil })
	pid := u.daemon().PID
	stopped := make(chan reply)
	go func() { stopped <- u.run("", nil, "tenterhook", "daemon", "stop") }()
	until(t, "the daemon takes no more calls", func() bool { _, err := daemon.Ask(u.env); return err != nil })
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	u.wantDenied(<-answer, "slow one")
	if r := <-stopped; r.code != 0 {
		t.Errorf("daemon stop: %+v", r)
	}
	u.gone(pid)
	if r := u.run("", nil, "tenterhook", "daemon", "status"); r.code != 3 || !strings.Contains(r.stdout, "no daemon runs") {
		t.Errorf("daemon status: %+v", r)
	}
}

func TestAnIdleDaemonEnds(t *testing.T) {
	u := newUser(t, guard)
	done := make(chan reply)
	go func() { done <- u.run("", nil, "tenterhook", "daemon", "run", "--idle", "300ms") }()
	select {
	case r := <-done:
		if r.code != 0 || !strings.Contains(r.stdout, "taking calls on") {
			t.Errorf("got %+v", r)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it still runs")
	}
}

// A directory of another user's making is not used.
func TestAPlaceThatOthersCanUseIsRefused(t *testing.T) {
	u := newUser(t, guard)
	run := filepath.Join(u.home, ".local", "state", "tenterhook", "run")
	u.mkdir(run)
	if err := os.Chmod(run, 0o777); err != nil {
		t.Fatal(err)
	}
	u.wantDenied(u.claude("PreToolUse", u.shell("ls")), "chmod 700")
}
