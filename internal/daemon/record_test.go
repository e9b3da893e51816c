//go:build linux || darwin

package daemon_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// logged is what 'tenterhook log --json' shows of the user's journal.
func (u *user) logged() (lines []map[string]any) {
	u.t.Helper()
	r := u.run("", nil, "tenterhook", "log", "--json")
	if r.code != 0 {
		u.t.Fatalf("log: %+v", r)
	}
	for text := range strings.Lines(r.stdout) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			u.t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTheLogShowsCallsOfAgents(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.wantDenied(ask("PreToolUse", u.shell("rm hunter2-hunter2", "session_id", "of claude"), "MY_TOKEN=hunter2-hunter2"), "not here")
		u.end() // by SIGTERM, at once: nothing that waits is lost
		lines := u.logged()
		if len(lines) != 1 {
			u.t.Fatalf("got %d lines, want 1: %v", len(lines), lines)
		}
		for key, want := range map[string]any{"agent": "claude", "session": "of claude", "hook": "user/guard", "verdict": "deny", "tool": "Bash"} {
			if lines[0][key] != want {
				u.t.Errorf("%s: got %v, want %v", key, lines[0][key], want)
			}
		}
		shown := u.run("", nil, "tenterhook", "show", "--json", lines[0]["run"].(string))
		if shown.code != 0 || !strings.Contains(shown.stdout, "rm [masked]") || strings.Contains(shown.stdout, "hunter2") {
			u.t.Errorf("the caller's secret is not masked: %+v", shown)
		}
	})
}

func TestTheLogFollowsTheDaemon(t *testing.T) {
	u := newUser(t, guard)
	follow := exec.Command(filepath.Join(u.bin, "tenterhook"), "log", "-f")
	follow.Env, follow.Dir = u.env, u.work
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = follow.Process.Signal(syscall.SIGTERM); _ = follow.Wait() }()
	line := make(chan string, 1)
	go func() { text, _ := bufio.NewReader(out).ReadString('\n'); line <- text }()
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	answered := time.Now()
	select {
	case text := <-line:
		if !strings.Contains(text, "user/guard") {
			t.Errorf("got %q", text)
		}
		t.Logf("shown %s after the answer", time.Since(answered).Round(time.Millisecond))
	case <-time.After(30 * time.Second):
		t.Error("the log does not show the call of a daemon that runs")
	}
}

// No one has to ask: the spool of a user who never does stays small.
func TestTheDaemonMovesRecordsIntoTheDatabaseItself(t *testing.T) {
	u := newUser(t, guard)
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x", "session_id", "of claude")), "not here")
	dir := filepath.Join(u.home, ".local/state/tenterhook/journal")
	until(t, "the spool is moved", func() bool {
		_, err := os.Stat(filepath.Join(dir, "spool"))
		left, _ := filepath.Glob(filepath.Join(dir, "*.taken"))
		_, none := os.Stat(filepath.Join(dir, "journal.db"))
		return os.IsNotExist(err) && len(left) == 0 && none == nil
	})
	if lines := u.logged(); len(lines) != 1 || lines[0]["session"] != "of claude" {
		t.Errorf("got %v", lines)
	}
}

// A command and the daemon move lines side by side, and each call is there once.
func TestCallsAreLoggedOnceWhileAllMoveThem(t *testing.T) {
	u := newUser(t, guard)
	for i := range 30 {
		u.wantDenied(u.claude("PreToolUse", u.shell("rm x", "session_id", fmt.Sprint("s", i), "tool_use_id", fmt.Sprint("t", i))), "not here")
		if lines := u.logged(); len(lines) != i+1 {
			t.Fatalf("%d lines after %d calls", len(lines), i+1)
		}
	}
}

// What cannot be recorded is decided all the same, and the daemon's log says so once.
func TestAJournalThatCannotBeWrittenKeepsNobodyFromDeciding(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.write(filepath.Join(u.home, ".local/state/tenterhook/journal"), "a file in the folder's place")
		for range 3 {
			u.wantDenied(ask("PreToolUse", u.shell("rm x")), "not here")
		}
		log := u.read(filepath.Join(u.home, ".local/state/tenterhook/daemon.log"))
		if n := strings.Count(log, "the journal cannot be written"); n < 1 || n > 1 && strings.HasSuffix(u.t.Name(), "daemon") {
			u.t.Errorf("the log says it %d times, want once:\n%s", n, log)
		}
	})
}

// A process that holds the journal's lock holds neither calls nor the end up.
func TestALockedJournalDelaysNoAnswer(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		lock := filepath.Join(u.home, ".local/state/tenterhook/journal/spool.lock")
		u.write(lock, "")
		f, err := os.Open(lock)
		if err != nil {
			u.t.Fatal(err)
		}
		defer f.Close()
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			u.t.Fatal(err)
		}
		for range 3 {
			u.wantDenied(ask("PreToolUse", u.shell("rm x")), "not here")
		}
		u.end()
	})
}

func TestRecordingGoesOnInADeletedStateDirectory(t *testing.T) {
	u := newUser(t, guard)
	u.wantDenied(u.claude("PreToolUse", u.shell("rm x")), "not here")
	until(t, "the first call is recorded", func() bool { return len(u.logged()) == 1 })
	if err := os.RemoveAll(filepath.Join(u.home, ".local/state/tenterhook")); err != nil {
		t.Fatal(err)
	}
	u.wantDenied(u.claude("PreToolUse", u.shell("rm y", "session_id", "later")), "not here")
	until(t, "the second call is recorded", func() bool { lines := u.logged(); return len(lines) == 1 && lines[0]["session"] == "later" })
}
