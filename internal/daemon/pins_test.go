//go:build linux || darwin

package daemon_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

// script is a guard whose decision is a file beside it, and one whose script is
// named by its path.
const script = `
-- home/.config/tenterhook/hooks/script/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(cp *)"
command = "./check.sh"
+++
-- home/.config/tenterhook/hooks/script/check.sh --
#!/bin/sh
echo no copies >&2; exit 2
-- home/.config/tenterhook/settings.json --
{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "name": "far", "if": "Bash(dd *)", "command": "~/far.sh"}]}]}}
-- home/far.sh --
#!/bin/sh
echo far away >&2; exit 2
`

const pushes = `
-- home/.config/tenterhook/hooks/rule/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(git push *)"
decision = "deny"
reason = "no pushes"
+++
`

// kill ends the user's daemon without a word, if one runs.
func (u *user) kill() {
	if s, err := daemon.Ask(u.env); err == nil {
		_ = syscall.Kill(s.PID, syscall.SIGKILL)
		u.gone(s.PID)
	}
}

// A guard that goes away in the middle of a session still judges that session,
// also if the process that knew it goes away.
func TestASessionKeepsTheGuardsItBeganWith(t *testing.T) {
	for what, harm := range map[string]func(u *user, hooks string){
		"removed": func(_ *user, hooks string) { _ = os.RemoveAll(filepath.Dir(hooks)) },
		"emptied": func(u *user, hooks string) {
			u.write(filepath.Join(hooks, "rule/HOOK.md"), strings.ReplaceAll(u.read(filepath.Join(hooks, "rule/HOOK.md")), "git push", "nothing"))
			u.write(filepath.Join(hooks, "script/check.sh"), "#!/bin/sh\nexit 0\n")
			u.write(filepath.Join(u.home, "far.sh"), "#!/bin/sh\nexit 0\n")
			_ = os.RemoveAll(filepath.Join(hooks, "guard"))
		},
		"switched off": func(u *user, hooks string) {
			u.write(filepath.Join(hooks, "../settings.toml"), "disable_all_hooks = true")
		},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(what+map[bool]string{true: ", daemon killed"}[killed], func(t *testing.T) {
				both(t, guard+pushes+script, func(u *user, ask func(event, payload string, env ...string) reply) {
					u.wantSilent(ask("PreToolUse", u.shell("ls")))
					if killed {
						u.kill()
					}
					harm(u, filepath.Join(u.home, ".config/tenterhook/hooks"))
					for range 2 {
						u.wantDenied(ask("PreToolUse", u.shell("rm x")), "user/guard")
						u.wantDenied(ask("PreToolUse", u.shell("git push origin")), "no pushes")
						u.wantDenied(ask("PreToolUse", u.shell("cp a b")), "no copies")
						if r := ask("PreToolUse", u.shell("dd if=a")); !r.denied() {
							u.t.Errorf("a guard whose script is elsewhere: got %+v, want a denial", r)
						}
						if killed {
							u.kill()
						}
					}
					u.wantSilent(ask("PreToolUse", u.shell("ls")))
					u.wantSilent(ask("PreToolUse", u.shell("rm x", "session_id", "later")))
					if log := u.read(filepath.Join(u.home, ".local/state/tenterhook/daemon.log")); !killed && !strings.Contains(u.t.Name(), "direct") && !strings.Contains(log, "still_guarding") {
						u.t.Errorf("the log does not say it: %s", log)
					}
				})
			})
		}
	}
}

// A script that is gone, and no copy of it is left, refuses and says so.
func TestAKeptGuardWithoutItsScriptRefuses(t *testing.T) {
	both(t, script, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.wantSilent(ask("PreToolUse", u.shell("ls")))
		_ = os.RemoveAll(filepath.Join(u.home, ".config/tenterhook/hooks"))
		copies := filepath.Join(u.home, ".local/state/tenterhook/snapshots")
		found, _ := filepath.Glob(copies + "/*/check.sh")
		if len(found) != 1 {
			u.t.Fatalf("copies: %v", found)
		}
		u.wantDenied(ask("PreToolUse", u.shell("cp a b")), "no copies")
		_ = os.Chmod(filepath.Dir(found[0]), 0o700)
		if err := os.RemoveAll(filepath.Dir(found[0])); err != nil {
			u.t.Fatal(err)
		}
		u.wantDenied(ask("PreToolUse", u.shell("cp a b")), "since the session began")
	})
}

// The operator's word frees running sessions, for ever.
func TestWithoutSelfProtectionASessionLosesItsGuards(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.wantSilent(ask("PreToolUse", u.shell("ls")))
		hooks, settings := filepath.Join(u.home, ".config/tenterhook/hooks"), filepath.Join(u.home, ".config/tenterhook/settings.toml")
		if err := os.RemoveAll(hooks); err != nil {
			u.t.Fatal(err)
		}
		u.wantDenied(ask("PreToolUse", u.shell("rm x")), "guards this session")
		u.write(settings, "self_protection = false\n")
		u.wantSilent(ask("PreToolUse", u.shell("rm x")))
		u.write(settings, "")
		u.wantSilent(ask("PreToolUse", u.shell("rm x")))
		u.kill()
		u.wantSilent(ask("PreToolUse", u.shell("rm x")))
	})
}

// What waits for a session's next event, and where the session began, outlive the
// process that knew it.
func TestASessionOutlivesItsDaemon(t *testing.T) {
	both(t, `
-- work/vendor/x/.git/HEAD --
-- home/.config/tenterhook/hooks/late/HOOK.md --
+++
event = "PostToolUse"
command = '''until [ -e "$TENTERHOOK_PROJECT_DIR/answered" ]; do sleep 0.01; done; echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"remember the milk"}}' '''
async = true
+++
-- home/.config/tenterhook/hooks/where/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(where)"
command = "echo in $TENTERHOOK_PROJECT_DIR. >&2; exit 2"
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		direct := strings.Contains(u.t.Name(), "direct") // there what hooks in the background say is lost
		answered := filepath.Join(u.work, "answered")    // what is said before the answer goes with it
		if direct {
			u.write(answered, "")
		}
		ask("PostToolUse", u.payload("PostToolUse", "tool_response", "x"))
		u.write(answered, "")
		files := filepath.Join(u.home, ".local/state/tenterhook/sessions/s-*.json")
		if !direct {
			until(u.t, "the context is kept", func() bool {
				found, _ := filepath.Glob(files)
				return len(found) == 1 && strings.Contains(u.read(found[0]), "milk")
			})
		}
		u.kill()
		if !direct {
			said := ask("UserPromptSubmit", u.payload("UserPromptSubmit", "prompt", "hello"))
			if !strings.Contains(said.stdout, "remember the milk") {
				u.t.Errorf("got %+v, want the context that waited", said)
			}
			u.kill()
			if again := ask("UserPromptSubmit", u.payload("UserPromptSubmit", "prompt", "hello")); strings.Contains(again.stdout, "milk") {
				u.t.Errorf("it is said again: %+v", again)
			}
		}
		began := u.work
		u.work = filepath.Join(u.work, "vendor", "x")
		u.wantDenied(ask("PreToolUse", u.shell("where")), "in "+began+".")
	})
}

// What sessions leave is the user's alone, and goes with its age.
func TestWhatSessionsLeaveIsPrivateAndGoes(t *testing.T) {
	u := newUser(t, guard)
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	dir := filepath.Join(u.home, ".local/state/tenterhook/sessions")
	files := func() []string {
		one, _ := filepath.Glob(dir + "/s-*.json")
		pins, _ := filepath.Glob(dir + "/pins/*.json")
		return append(one, pins...)
	}
	if len(files()) != 2 {
		t.Fatalf("files: %v", files())
	}
	old := time.Now().Add(-31 * 24 * time.Hour)
	for _, file := range append(files(), dir+"/.swept") {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info, err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	u.kill()
	u.wantSilent(u.claude("PreToolUse", u.shell("ls", "session_id", "s2")))
	for _, file := range files() {
		if info, err := os.Stat(file); err != nil || info.ModTime().Before(old.Add(time.Hour)) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
	u.wantSilent(u.claude("SessionEnd", u.payload("SessionEnd", "session_id", "s2", "reason", "other")))
	if left, _ := filepath.Glob(dir + "/s-*.json"); len(left) > 0 {
		t.Errorf("after the end of all sessions there are %v", left)
	}
}

// A clock that is set forward ages no session of this start of the system: a guard
// that goes away still judges it. What no one used before that goes as ever.
func TestAClockThatIsSetForwardEndsNoSession(t *testing.T) {
	u := newUser(t, pushes)
	u.wantDenied(u.claude("PreToolUse", u.shell("git push x")), "no pushes")
	dir := filepath.Join(u.home, ".local/state/tenterhook/sessions")
	var first map[string]any
	if err := json.Unmarshal([]byte(u.read(dir+"/.clock")), &first); err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	back := time.Now().Add(-60 * day) // the clock went forward by 60 days since the first call
	first["wall"] = back
	record, _ := json.Marshal(first)
	u.write(dir+"/.clock", string(record))
	stale := dir + "/s-0123.json"
	u.write(stale, "{}")
	lately, long := back.Add(time.Minute), back.Add(-31*day)
	for file, at := range map[string]time.Time{stale: long, dir + "/.swept": long} {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	live, _ := filepath.Glob(dir + "/s-*.json")
	pins, _ := filepath.Glob(dir + "/pins/*.json")
	for _, file := range append(live, pins...) {
		if file != stale && os.Chtimes(file, lately, lately) != nil {
			t.Fatal(file)
		}
	}
	u.kill()
	if err := os.RemoveAll(filepath.Join(u.home, ".config/tenterhook/hooks/rule")); err != nil {
		t.Fatal(err)
	}
	u.wantSilent(u.claude("PreToolUse", u.shell("ls", "session_id", "another")))
	if exists(stale) {
		t.Error("nothing is swept")
	}
	u.wantDenied(u.claude("PreToolUse", u.shell("git push x")), "no pushes")
}
