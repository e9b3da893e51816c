package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

// TestAgentObeysItsHooks runs the agent as its documentation says.
func TestAgentObeysItsHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("long: builds an agent and its hooks")
	}
	for _, program := range []string{"go", "sh"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf("%s is not installed, or this is Windows", program)
		}
	}
	bin := t.TempDir()
	if err := built.Into(bin, "examples/agent"); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(bin, "agent")
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // hooks are built, not all of Go
	if err != nil {
		t.Fatal(err)
	}
	agent := func(args ...string) string {
		cmd := exec.Command(program, append([]string{"-dir", "../hooks", "-workspace", t.TempDir()}, args...)...)
		home := t.TempDir()
		cmd.Env = append(cmd.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "GOCACHE="+strings.TrimSpace(string(cache)))
		cmd.Stdin = strings.NewReader("> tidy up\n" +
			`Bash {"command":"rm -rf /"}` + "\n" +
			`Bash {"command":"echo he''llo"}` + "\n" +
			`Bash {"command":"git push; echo pus''hed"}` + "\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	out := agent()
	for _, want := range []string{"House rules", "> tidy up\n", "not run (deny): guard-destructive", `result: "hello\n"`, "not run (ask): ask-before-network"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if out := agent("-yes"); !strings.Contains(out, `pushed\n`) || !strings.Contains(out, "not run (deny)") {
		t.Errorf("with a person who says yes, the push should run and rm should not:\n%s", out)
	}
}
