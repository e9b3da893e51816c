//go:build linux || darwin

package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// resident is the memory of a process, in bytes.
func (u *user) resident(pid int) int64 {
	fields := strings.Fields(u.read("/proc/" + strconv.Itoa(pid) + "/statm"))
	if len(fields) < 2 {
		u.t.Fatalf("process %d is gone", pid)
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// switches counts how often the threads of a process gave the processor up.
func (u *user) switches(pid int) (n int64) {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
	for _, task := range tasks {
		for line := range strings.Lines(u.read(task)) {
			if text, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				count, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				n += count
			}
		}
	}
	return n
}

// BenchmarkBridge compares a bridged call with the floor, a shell that does
// nothing, and with a process that loads all hooks for one event.
func BenchmarkBridge(b *testing.B) {
	const worker = `
-- home/.config/tenterhook/hooks/worker/HOOK.md --
+++
event = "PreToolUse"
command = "python3 worker.py"
worker = true
+++
-- home/.config/tenterhook/hooks/worker/worker.py --
import sys
for line in sys.stdin:
    print("{}", flush=True)
`
	const rule = `
-- home/.config/tenterhook/hooks/rule/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(rm *)"
decision = "deny"
reason = "no"
+++
`
	bridged := func(archive, line string) func(*testing.B) {
		return func(b *testing.B) {
			u := newUser(b, archive)
			u.claude("PreToolUse", u.shell(line))
			for b.Loop() {
				u.claude("PreToolUse", u.shell(line))
			}
		}
	}
	b.Run("floor/sh -c true", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sh", "-c", "true")
			cmd.Stdin = strings.NewReader("{}")
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("no hook matches", bridged(guard, "ls"))
	b.Run("no hook matches, with the entry's shell", func(b *testing.B) {
		u := newUser(b, guard)
		if r := u.run("", nil, "tenterhook", "install", "claude", "--yes"); r.code != 0 {
			b.Fatalf("install: %+v", r)
		}
		line := u.entry()
		for b.Loop() {
			cmd := exec.Command("/bin/sh", "-c", line)
			cmd.Dir, cmd.Env, cmd.Stdin = u.work, u.env, strings.NewReader(u.shell("ls"))
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the bridge's start", func(b *testing.B) {
		u := newUser(b, "")
		for b.Loop() {
			u.run("", nil, "tenterhook-bridge")
		}
	})
	b.Run("a rule", bridged(rule, "rm x"))
	b.Run("a command", bridged(guard, "rm x"))
	b.Run("a worker", bridged(worker, "ls"))
	b.Run("tenterhook run", func(b *testing.B) {
		u := newUser(b, guard)
		for b.Loop() {
			u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"ls"}`)
		}
	})
}
