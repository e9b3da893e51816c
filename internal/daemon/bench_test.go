//go:build linux || darwin

package daemon_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
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

// installed gives users copies of the programs. The linker writes through a mapping, and
// the system starts what it keeps of such a file 0.2 ms later than a copy.
func installed(b *testing.B, users ...*user) {
	b.Helper()
	dir := b.TempDir()
	for _, name := range []string{"tenterhook", "tenterhook-bridge"} {
		program, err := os.ReadFile(filepath.Join(bin, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), program, 0o700)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, u := range users {
		u.bin = dir
	}
}

// serveNothing has this process be the user's daemon, and answer each call without
// a look at it. A bridge asks only the program that is beside it.
func (u *user) serveNothing(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	u.bin = filepath.Dir(self)
	bridge, err := os.ReadFile(filepath.Join(bin, "tenterhook-bridge"))
	if err == nil {
		err = os.WriteFile(filepath.Join(u.bin, "tenterhook-bridge"), bridge, 0o700)
	}
	if err == nil {
		err = os.Link(self, filepath.Join(u.bin, "tenterhook"))
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		os.Remove(filepath.Join(u.bin, "tenterhook"))
		os.Remove(filepath.Join(u.bin, "tenterhook-bridge"))
	})
	place := daemon.Place(u.env)
	u.mkdir(place.Dir)
	l, err := net.Listen("unix", place.Socket)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, _, err := client.ReadFrame(func(to []byte) error { _, err := io.ReadFull(c, to); return err }); err == nil {
				_, _ = c.Write(append(client.AppendFrame(nil, client.KindTaken), new(client.Answer).Frame()...))
			}
			c.Close()
		}
	}()
}

// BenchmarkBridge compares a bridged call with a shell that does nothing, with less
// and less of a call, and with a process that loads all hooks for one event.
func BenchmarkBridge(b *testing.B) {
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output() // python3 may be a script that looks for it
	if err != nil {
		b.Skip("there is no Python: ", err)
	}
	worker := `
-- home/.config/tenterhook/hooks/worker/HOOK.md --
+++
event = "PreToolUse"
command = "` + strings.TrimSpace(string(python)) + ` worker.py"
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
	nothing := filepath.Join(b.TempDir(), "nothing")
	source := nothing + ".go"
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", nothing, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	program := func(u *user, name string, args ...string) func() {
		return func() {
			cmd := exec.Command(name, args...)
			cmd.Dir, cmd.Env, cmd.Stdin = u.work, u.env, strings.NewReader(u.shell("ls"))
			if err := cmd.Run(); err != nil {
				b.Error(err)
			}
		}
	}
	bridged := func(u *user, line string) func() {
		return func() { u.claude("PreToolUse", u.shell(line)) }
	}
	plain, entry, at := newUser(b, guard), newUser(b, guard), newUser(b, "")
	ruled, working := newUser(b, rule), newUser(b, worker)
	installed(b, plain, entry, ruled, working)
	if r := entry.run("", nil, "tenterhook", "install", "claude", "--yes"); r.code != 0 {
		b.Fatalf("install: %+v", r)
	}
	at.serveNothing(b)
	run := func(u *user, line string) func() {
		return func() {
			u.run("", nil, "tenterhook", "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"`+line+`"}`)
		}
	}
	contest(b, []contestant{
		{name: "sh-c-true", run: program(plain, "/bin/sh", "-c", "true")},
		{name: "empty-Go-program", run: program(plain, nothing)},
		{name: "bridge-alone", run: func() { plain.run("", nil, "tenterhook-bridge") }},
		{name: "empty-daemon", run: bridged(at, "ls")},
		{name: "no-match", run: bridged(plain, "ls")},
		{name: "no-match-with-shell", run: program(entry, "/bin/sh", "-c", entry.entry())},
		{name: "rule", run: bridged(ruled, "rm x")},
		{name: "command", run: bridged(plain, "rm x")},
		{name: "worker", run: bridged(working, "ls")},
		{name: "run", run: run(plain, "ls"), slower: "no-match"},
		{name: "run-rule", run: run(ruled, "rm x"), slower: "rule"},
		{name: "run-worker", run: run(working, "ls"), slower: "worker"},
	})
}

// contestant is what a benchmark measures.
type contestant struct {
	name   string
	run    func()
	slower string // the contestant that it is compared with, beside the first one; "" = none
}

// contest runs all in turns, and reports the median of each as a multiple of that
// of the first one.
func contest(b *testing.B, all []contestant) {
	took := make([][]time.Duration, len(all))
	for _, c := range all {
		c.run() // daemons and workers start
	}
	for b.Loop() {
		for i, c := range all {
			began := time.Now()
			c.run()
			took[i] = append(took[i], time.Since(began))
		}
	}
	medians := make(map[string]float64)
	for i, c := range all {
		slices.Sort(took[i])
		medians[c.name] = float64(took[i][len(took[i])/2])
	}
	floor := medians[all[0].name]
	b.ReportMetric(floor/1e6, "ms/"+all[0].name)
	for _, c := range all[1:] {
		b.ReportMetric(medians[c.name]/floor, "x/"+c.name)
		if c.slower != "" {
			b.ReportMetric(medians[c.name]/medians[c.slower], c.name+"/"+c.slower)
		}
	}
}
