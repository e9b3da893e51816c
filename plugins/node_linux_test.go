package plugins

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

// machine is a user's home with a tenterhook command of its own.
type machine struct {
	t          *testing.T
	home, data string
	command    string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base := t.TempDir()
	m := &machine{t: t, home: filepath.Join(base, "home"), data: filepath.Join(base, "data"), command: filepath.Join(base, "tenterhook")}
	if err := os.Mkdir(m.home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := built.Into(base, "cmd/tenterhook"); err != nil {
		t.Fatal(err)
	}
	return m
}

// tenterhook runs the command, and returns its exit code and what it said.
func (m *machine) tenterhook(args ...string) (int, string) {
	m.t.Helper()
	c := exec.CommandContext(m.t.Context(), m.command, args...)
	c.Dir = m.home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "XDG_DATA_HOME=" + m.data,
		"XDG_CONFIG_HOME=" + filepath.Join(m.home, "config"), "XDG_STATE_HOME=" + filepath.Join(m.home, "state")}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

func TestPluginInNodeDeniesFromTheCommandLineAndLeavesNoProcess(t *testing.T) {
	bundle := buildNodePlugin(t)
	m := newMachine(t)
	installFile(t, bundle, filepath.Join(m.data, "tenterhook", "plugins", "secrets"))
	write := func(tool, content string) []string {
		return []string{"run", "PreToolUse", "--tool", tool, "--input", `{"file_path":"k","content":"` + content + `"}`}
	}
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"trust", "--all", "--yes"}, 0, "approved plugin/secrets/secrets"},
		{[]string{"trust", "--revoke", "plugin/secrets/no-secrets"}, 0, "revoked 1 approval"},
		{write("Write", "nothing"), 2, "untrusted"}, // it blocks when it cannot judge
		{[]string{"trust", "plugin/secrets/no-secrets", "--yes"}, 0, "approved plugin/secrets/secrets"},
		{write("Write", "AKIA0123456789ABCDEF"), 2, "the text holds an AWS access key"},
		{write("Edit", "-----BEGIN PRIVATE KEY-----"), 2, "the text holds a private key"},
		{write("Write", "AKIA is a prefix"), 0, "success  plugin/secrets/no-secrets"},
		{write("Read", "AKIA0123456789ABCDEF"), 0, "no hook is concerned"},
	} {
		code, said := m.tenterhook(step.args...)
		if code != step.code || !strings.Contains(said, step.says) {
			t.Fatalf("%q: exit code %d, want %d with %q:\n%s", step.args, code, step.code, step.says, said)
		}
		if left := processesWith(t, m.home); len(left) > 0 {
			t.Errorf("%q left %v", step.args, left)
		}
	}
}
