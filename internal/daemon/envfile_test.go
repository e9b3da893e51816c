//go:build linux || darwin

package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestVariablesOfHooksReachTheAgentsEnvironmentFile(t *testing.T) {
	both(t, `
-- home/.config/tenterhook/hooks/one/HOOK.md --
+++
event = "SessionStart"
command = "./run.sh"
+++
-- home/.config/tenterhook/hooks/one/run.sh --
#!/bin/sh
cat >> "$CLAUDE_ENV_FILE" <<'END'
export GREETING="it's here"
export RAW='$HOME; $(id)'
END
-- home/.config/tenterhook/hooks/two/HOOK.md --
+++
event = "SessionStart"
command = "echo 'export LEVEL=2' >> \"$CLAUDE_ENV_FILE\""
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		if err := os.Chmod(filepath.Join(u.home, ".config/tenterhook/hooks/one/run.sh"), 0o755); err != nil {
			u.t.Fatal(err)
		}
		path := filepath.Join(u.work, "session env.sh")
		u.write(path, "export BEFORE=1\n")
		u.wantSilent(ask("SessionStart", u.payload("SessionStart", "source", "startup"), "CLAUDE_ENV_FILE="+path))
		out, err := exec.Command("sh", "-c", `. "$1" && echo "$BEFORE|$GREETING|$RAW|$LEVEL"`, "sh", path).CombinedOutput()
		if want := "1|it's here|$HOME; $(id)|2\n"; err != nil || string(out) != want {
			u.t.Errorf("a shell reads %q, %v, want %q; the file is\n%s", out, err, want, u.read(path))
		}

		// Where the agent gave no file, and where it cannot be written, the entry still answers.
		u.wantSilent(ask("SessionStart", u.payload("SessionStart", "source", "startup", "session_id", "s2")))
		u.wantSilent(ask("SessionStart", u.payload("SessionStart", "source", "startup", "session_id", "s3"), "CLAUDE_ENV_FILE="+u.work))
		if _, err := os.Stat(path); err != nil {
			u.t.Error(err)
		}
	})
}
