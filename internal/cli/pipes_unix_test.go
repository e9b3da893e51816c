//go:build !windows

package cli

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

const piped = `+++
event = "PreToolUse"
command = "true"
once = true
+++
`

// Another program could have put a pipe in the place of each file that tenterhook
// keeps or reads: no command waits for its writer.
func TestNoCommandWaitsForAPipe(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bin := t.TempDir()
	if err := built.Into(bin, "cmd/tenterhook", "cmd/tenterhook-bridge"); err != nil {
		t.Fatal(err)
	}
	dir := hermetic(t)
	state, config := filepath.Join(dir, "home/XDG_STATE_HOME/tenterhook"), filepath.Join(dir, "home/XDG_CONFIG_HOME/tenterhook")
	job := strings.Repeat("0", 26)
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(config+"/hooks/mine/HOOK.md", piped)
	write(config+"/settings.json", "{}")
	write(".tenterhook/hooks/theirs/HOOK.md", piped)
	write("more/added/HOOK.md", piped)
	write("more/added/one.txtar", "-- event --\n{}\n")
	write(state+"/fleet/agent.json", "{}")
	write(state+"/fleet/connection.json", "{}")
	write(state+"/fleet/jobs/new/"+job+".json", "{}")
	write("home/.claude/settings.json", "{}\n")
	event := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cat pipe/*"},"cwd":"` + dir + `"}`
	if err := syscall.Mkfifo("pipe", 0o700); err != nil {
		t.Fatal(err)
	}
	calls := map[string][]string{
		"add": {"add", dir + "/more/added", "--yes"}, "outdated": {"outdated"}, "trust": {"trust", "--all", "--yes"}, "disable": {"disable", "user/mine"}, "enable": {"enable", "user/mine"},
		"install": {"install", "claude", "--yes"}, "agents": {"agents"}, "run": {"run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"cat pipe/*"}`},
		"bridge": {"bridge", "claude", "PreToolUse"}, "list": {"list"}, "why": {"why", "PreToolUse", "--tool", "Bash"}, "log": {"log"}, "breaker": {"breaker"},
		"doctor": {"doctor"}, "check": {"check"}, "test": {"test", config + "/hooks"}, "uninstall": {"uninstall", "claude", "--yes"}, "import": {"import", "claude", "--dry-run"},
	}
	invoke := func(name string) (ended bool, said string) {
		ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
		defer end()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "tenterhook"), calls[name]...)
		cmd.Stdin = strings.NewReader(event)
		cmd.WaitDelay = time.Second    // a process that it started may hold the output open
		out, _ := cmd.CombinedOutput() // what fails says so
		return ctx.Err() == nil, string(out)
	}
	for _, name := range []string{"add", "trust", "disable", "install", "run", "bridge", "log"} {
		if ended, said := invoke(name); !ended {
			t.Fatalf("%s does not end: %s", name, said)
		}
	}
	var files []string
	for _, top := range []string{state, config, ".tenterhook", "more", "home/.claude"} {
		if err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"approvals.json", "hooks.lock.json", "disabled.json", "install.lock", "claude-user.json", "journal.db"} {
		if !slices.ContainsFunc(files, func(path string) bool { return filepath.Base(path) == want }) {
			t.Errorf("there is no %s among\n%s", want, strings.Join(files, "\n"))
		}
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it was removed
		}
		for name := range calls {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if ended, _ := invoke(name); !ended {
				t.Fatalf("%s waits for %s", name, path)
			}
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		write(path, string(text))
	}
}
