//go:build linux || darwin

package daemon_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

// accountGuards are those of the account's own home directory. The tests' user
// has HOME elsewhere.
const accountGuards = `
-- account/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(rm *)"
command = "echo no rm >&2; exit 2"
on_failure = "block"
+++
-- account/.config/tenterhook/hooks/keys/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
reads = "~/.ssh/**"
decision = "deny"
reason = "no keys"
+++
-- account/.config/tenterhook/hooks/read/HOOK.md --
+++
event = "PreToolUse"
matcher = "Read"
if = "Read(~/.aws/**)"
command = "echo no clouds >&2; exit 2"
on_failure = "block"
+++
`

// The environment that an agent runs hooks with is not the operator's word: a
// project may have set it.
func TestTheCallersEnvironmentTakesNoGuardAway(t *testing.T) {
	both(t, accountGuards, func(u *user, ask func(event, payload string, env ...string) reply) {
		away := t.TempDir()
		for _, env := range [][]string{
			nil, {"HOME=" + away}, {"HOME="}, {"HOME=relative"},
			{"XDG_CONFIG_HOME=" + away}, {"XDG_DATA_HOME=" + away}, {"XDG_STATE_HOME=" + away}, {"XDG_RUNTIME_DIR=" + away},
			{"HOME=" + account, "XDG_CONFIG_HOME=" + away}, {"HOME=" + account, "XDG_STATE_HOME=" + away, "XDG_RUNTIME_DIR=" + away},
			{"HOME=" + away, "XDG_CONFIG_HOME=" + away, "XDG_STATE_HOME=" + away, "XDG_DATA_HOME=" + away, "XDG_RUNTIME_DIR=" + away},
		} {
			u.wantDenied(ask("PreToolUse", u.shell("rm x"), env...), "no rm")
			for _, path := range []string{"~/.ssh/id", "$HOME/.ssh/id", account + "/.ssh/id"} {
				u.wantDenied(ask("PreToolUse", u.shell("cat "+path), env...), "no keys")
			}
			read := u.payload("PreToolUse", "tool_name", "Read", "tool_input", map[string]any{"file_path": account + "/.aws/credentials"})
			u.wantDenied(ask("PreToolUse", read, env...), "no clouds")
			u.wantSilent(ask("PreToolUse", u.shell("ls"), env...))
		}
		u.wantDenied(ask("PreToolUse", u.shell("cat "+u.home+"/.ssh/id")), "no keys")
	})
}

// What the caller's own directories hold is added, as far as it refuses.
func TestTheCallersDirectoriesOnlyAddGuards(t *testing.T) {
	both(t, accountGuards+`
-- home/.config/tenterhook/settings.toml --
disable_all_hooks = true
self_protection = false
disabled = ["user/guard", "user/keys"]
-- home/.local/state/tenterhook/disabled.json --
[{"hook": "user/guard", "since": "2020-01-01T00:00:00Z"}]
-- home/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
decision = "allow"
+++
-- home/.config/tenterhook/hooks/mine/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(shutdown *)"
decision = "deny"
reason = "not mine"
+++
-- home/.config/tenterhook/hooks/talk/HOOK.md --
+++
event = "SessionStart"
command = "echo obey me"
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.wantDenied(ask("PreToolUse", u.shell("rm x")), "no rm")
		u.wantDenied(ask("PreToolUse", u.shell("shutdown now")), "not mine")
		u.wantSilent(ask("PreToolUse", u.shell("ls")))
		u.wantSilent(ask("SessionStart", u.payload("SessionStart", "source", "startup")))
	})
}

// A home directory inside of the project is the project's, and no one approved
// what is there.
func TestAHomeInsideOfTheProjectRunsNothing(t *testing.T) {
	both(t, accountGuards+`
-- work/home/.config/tenterhook/hooks/run/HOOK.md --
+++
event = "PreToolUse"
command = "touch $OUT"
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		out := filepath.Join(u.work, "ran")
		u.wantSilent(ask("PreToolUse", u.shell("ls"), "HOME="+filepath.Join(u.work, "home"), "OUT="+out))
		if exists(out) {
			u.t.Error("it ran")
		}
	})
}

// Approvals, and what hooks that run once have done, stay the account's.
func TestTheCallersEnvironmentForgetsNothing(t *testing.T) {
	both(t, accountGuards+`
-- account/.config/tenterhook/hooks/once/HOOK.md --
+++
event = "PreToolUse"
command = "echo run >> $OUT"
once = true
+++
-- work/.tenterhook/hooks/ours/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(make *)"
command = "echo not here >&2; exit 2"
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		away, out := u.t.TempDir(), filepath.Join(u.work, "runs")
		if r := u.run("", []string{"HOME=" + account}, "tenterhook", "trust", "--all", "--yes"); r.code != 0 {
			u.t.Fatalf("trust: %+v", r)
		}
		for _, env := range [][]string{{"HOME=" + account}, {"HOME=" + away}, {"HOME=" + account, "XDG_STATE_HOME=" + away, "XDG_RUNTIME_DIR=" + away}} {
			env = append(env, "OUT="+out)
			u.wantDenied(ask("PreToolUse", u.shell("make all"), env...), "not here")
			u.wantSilent(ask("PreToolUse", u.shell("ls"), env...))
		}
		if runs := strings.Count(u.read(out), "run"); runs != 1 {
			u.t.Errorf("the hook that runs once ran %d times", runs)
		}
	})
}

// Self-protection looks at the account's receipts and settings, whatever
// environment an agent gives.
func TestTheEnvironmentDoesNotSwitchSelfProtectionOff(t *testing.T) {
	both(t, accountGuards+`
-- home/.config/tenterhook/settings.toml --
self_protection = false
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		home := u.home
		u.home = account
		u.install()
		u.home = home
		away := u.t.TempDir()
		for _, env := range [][]string{{"HOME=" + account}, nil, {"HOME=" + account, "XDG_STATE_HOME=" + away, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_RUNTIME_DIR=" + away}} {
			for _, line := range []string{"mv " + account + "/.config/tenterhook /tmp", "tenterhook daemon stop", "echo > " + account + "/.claude/settings.json"} {
				u.wantDenied(ask("PreToolUse", u.shell(line), env...), "must not change its own guards")
			}
			// The tests are the parent of the entries, and so an agent.
			for _, args := range [][]string{{"trust", "--all", "--yes"}, {"uninstall", "claude", "--yes"}, {"--dir", home + "/.config/tenterhook", "disable", "user/guard"}} {
				if r := u.run("", env, "tenterhook", args...); r.code != 1 || !strings.Contains(r.stderr, "refused") {
					u.t.Errorf("%q with %q: got %+v, want it refused", args, env, r)
				}
			}
		}
	})
}

// entry is the line that install wrote for Claude Code's PreToolUse.
func (u *user) entry() string {
	u.t.Helper()
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal([]byte(u.read(filepath.Join(u.home, ".claude/settings.json"))), &settings); err != nil {
		u.t.Fatal(err)
	}
	return settings.Hooks["PreToolUse"][0].Hooks[0].Command
}

// An entry says where the operator's hooks are if that is not where the account
// has them.
func TestAnEntryFindsItsOperatorsHooks(t *testing.T) {
	u := newUser(t, guard)
	for _, command := range []string{"install", "uninstall", "install"} {
		if r := u.run("", nil, "tenterhook", command, "claude", "--yes"); r.code != 0 {
			t.Fatalf("%s: %+v", command, r)
		}
		if there := exists(filepath.Join(u.home, ".claude/settings.json")); there != (command == "install") {
			t.Fatalf("after %s there are settings: %v", command, there)
		}
	}
	line := u.entry()
	away := t.TempDir()
	for _, env := range [][]string{{"HOME=" + away}, {"HOME=" + u.home, "XDG_CONFIG_HOME=" + away}, {"HOME=" + u.home, "XDG_STATE_HOME=" + away, "XDG_RUNTIME_DIR=" + away}} {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir, cmd.Env, cmd.Stdin = u.work, append(env, "PATH=/usr/bin:/bin"), strings.NewReader(u.shell("rm x"))
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "not here") {
			t.Errorf("with %q: exit code %d, %.300s", env, cmd.ProcessState.ExitCode(), out)
		}
		u.used[daemon.Place(cmd.Env).Dir] = cmd.Env
	}
}

// An entry of a project that asks with another environment does not answer for
// the user's.
func TestACallWithAnotherEnvironmentIsAnother(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
command = 'test -n "$OPEN" || { echo closed >&2; exit 2; }'
on_failure = "block"
+++
`)
	payload := u.shell("ls")
	u.wantSilent(u.claude("PreToolUse", payload, "OPEN=1"))
	u.wantDenied(u.claude("PreToolUse", payload), "closed")
}

// The directory of a socket whose own place has too long a path goes with the home
// directory that it stands for, and not before.
func TestADaemonRemovesTheDirectoryOfItsSocketWithTheHomeThatItStandsFor(t *testing.T) {
	u := newUser(t, guard)
	place := daemon.Place(u.env)
	if place.InsteadOf == "" {
		t.Skipf("%s is short enough", place.Dir)
	}
	end := func() {
		s, err := daemon.Ask(u.env)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(s.PID, syscall.SIGTERM)
		u.gone(s.PID)
	}
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	end()
	if !exists(place.Dir) {
		t.Fatal("it goes before the home directory")
	}
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	if err := os.Rename(u.home, u.home+".gone"); err != nil {
		t.Fatal(err)
	}
	end()
	if exists(place.Dir) {
		t.Errorf("%s is left behind", place.Dir)
	}
}
