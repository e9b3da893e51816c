//go:build linux || darwin

package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// entries are the two ways to ask: the daemon, and a process of its own.
var entries = map[string]func(u *user, event, payload string, env ...string) reply{
	"daemon": func(u *user, event, payload string, env ...string) reply { return u.claude(event, payload, env...) },
	"direct": func(u *user, event, payload string, env ...string) reply {
		return u.run(payload, env, "tenterhook-bridge", "--direct", "claude", event)
	},
}

// both runs a test for each way to ask.
func both(t *testing.T, archive string, test func(u *user, ask func(event, payload string, env ...string) reply)) {
	for name, entry := range entries {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, archive)
			test(u, func(event, payload string, env ...string) reply { return entry(u, event, payload, env...) })
		})
	}
}

func TestBreakersOpenAcrossCalls(t *testing.T) {
	both(t, `
-- home/.config/tenterhook/hooks/broken/HOOK.md --
+++
event = "PreToolUse"
command = "echo run >> $OUT; exit 1"
on_failure = "block"
[breaker]
failures = 2
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		out := filepath.Join(u.work, "runs")
		for range 3 {
			u.wantDenied(ask("PreToolUse", u.shell("ls"), "OUT="+out), "user/broken")
		}
		if runs := strings.Count(u.read(out), "run"); runs != 2 {
			u.t.Errorf("the hook ran %d times, want 2", runs)
		}
	})
}

func TestAHookThatRunsOnceDoesSoAcrossCalls(t *testing.T) {
	both(t, `
-- home/.config/tenterhook/hooks/once/HOOK.md --
+++
event = "PreToolUse"
command = "echo run >> $OUT"
once = true
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		out := filepath.Join(u.work, "runs")
		for range 3 {
			u.wantSilent(ask("PreToolUse", u.shell("ls"), "OUT="+out))
		}
		u.wantSilent(ask("PreToolUse", u.shell("ls", "session_id", "s2"), "OUT="+out))
		if runs := strings.Count(u.read(out), "run"); runs != 2 {
			u.t.Errorf("the hook ran %d times in two sessions, want 2", runs)
		}
	})
}

func TestAStopIsNotBlockedForEver(t *testing.T) {
	both(t, `
-- home/.config/tenterhook/hooks/more/HOOK.md --
+++
event = "Stop"
command = "echo more to do >&2; exit 2"
+++
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		for n := 1; n <= 20; n++ {
			r := ask("Stop", u.payload("Stop", "stop_hook_active", n > 1))
			if r.code == 0 && !strings.Contains(r.stdout, "block") {
				if n < 3 {
					u.t.Errorf("it stopped at attempt %d", n)
				}
				return
			}
		}
		u.t.Error("it never stopped")
	})
}

// What a hook in the background says reaches the session's next event that takes
// context, and the call that started it does not wait.
func TestHooksInTheBackgroundHoldNoCall(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/slow/HOOK.md --
+++
event = "PostToolUse"
command = '''while [ ! -e "$OUT" ]; do sleep 0.05; done; echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"tests are red"}}'; : > "$OUT.done" '''
async = true
+++
`)
	out := filepath.Join(u.work, "go")
	r := u.claude("PostToolUse", u.payload("PostToolUse", "tool_response", "x"), "OUT="+out) // returns, though the hook runs
	if r.code != 0 || strings.Contains(r.stdout, "red") {
		t.Errorf("got %+v", r)
	}
	u.write(out, "")
	until(t, "the hook is done", func() bool { _, err := os.Stat(out + ".done"); return err == nil })
	until(t, "the session's next prompt has its word", func() bool {
		u.wantSilent(u.claude("UserPromptSubmit", u.payload("UserPromptSubmit", "prompt", "hi", "session_id", "other")))
		r := u.claude("UserPromptSubmit", u.payload("UserPromptSubmit", "prompt", "hi"))
		return strings.Contains(r.stdout, "tests are red")
	})
	u.wantSilent(u.claude("UserPromptSubmit", u.payload("UserPromptSubmit", "prompt", "hi")))
}

// An agent with two entries of ours asks twice about one event.
func TestCallsAboutOneEventRunItsHooksOnce(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/count/HOOK.md --
+++
event = "PreToolUse"
command = "echo run >> $OUT; sleep 1; echo no >&2; exit 2"
+++
`)
	out := filepath.Join(u.work, "runs")
	u.wantSilent(u.claude("Stop", u.payload("Stop"))) // the daemon runs
	payload := u.shell("ls")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { u.wantDenied(u.claude("PreToolUse", payload, "OUT="+out), "no") })
	}
	all.Wait()
	if runs := strings.Count(u.read(out), "run"); runs != 1 {
		t.Errorf("the hook ran %d times, want once", runs)
	}
	u.wantDenied(u.claude("PreToolUse", payload, "OUT="+out), "no") // in turn: another call
	if runs := strings.Count(u.read(out), "run"); runs != 2 {
		t.Errorf("the hook ran %d times, want 2", runs)
	}
}

func TestHooksThatChangeCountAtOnce(t *testing.T) {
	u := newUser(t, guard)
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
	u.write(filepath.Join(u.home, ".config/tenterhook/hooks/more/HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Bash(ls *)\"\ndecision = \"deny\"\nreason = \"no listing\"\n+++\n")
	u.wantDenied(u.claude("PreToolUse", u.shell("ls -l")), "no listing")
}

// A session keeps the project that it began in.
func TestASessionThatMovesTakesItsGuardsAlong(t *testing.T) {
	u := newUser(t, `
-- work/vendor/x/.git/HEAD --
-- home/.config/tenterhook/hooks/where/HOOK.md --
+++
event = "PreToolUse"
command = "echo in $TENTERHOOK_PROJECT_DIR. >&2; exit 2"
+++
`)
	u.wantDenied(u.claude("PreToolUse", u.shell("ls")), "in "+u.work+".")
	moved := *u
	moved.work = filepath.Join(u.work, "vendor", "x")
	u.wantDenied(moved.claude("PreToolUse", moved.shell("ls")), "in "+u.work+".")
	u.wantDenied(moved.claude("PreToolUse", moved.shell("ls", "session_id", "s2")), "in "+moved.work+".")
}

// A hook that starts an agent is not asked about that agent's calls; all others are.
func TestAHookIsNotAskedAboutItself(t *testing.T) {
	both(t, `
-- home/.config/tenterhook/hooks/nested/HOOK.md --
+++
event = "PreToolUse"
command = '''echo run >> "$OUT"; "$BRIDGE" $DIRECT claude PreToolUse < "$PAYLOAD" > "$OUT.inner"
TENTERHOOK_HOOK=user/guard TENTERHOOK_WITHIN=user/guard "$BRIDGE" $DIRECT claude PreToolUse < "$PAYLOAD" > "$OUT.forged"; exit 0'''
+++
`+guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		out, inner := filepath.Join(u.work, "runs"), filepath.Join(u.work, "payload")
		u.write(inner, u.shell("rm x"))
		env := []string{"OUT=" + out, "PAYLOAD=" + inner, "BRIDGE=" + filepath.Join(u.bin, "tenterhook-bridge")}
		if strings.Contains(u.t.Name(), "direct") {
			env = append(env, "DIRECT=--direct")
		}
		u.wantSilent(ask("PreToolUse", u.shell("ls"), env...))
		if runs := strings.Count(u.read(out), "run"); runs != 1 {
			u.t.Errorf("the hook ran %d times, want once", runs)
		}
		if got := u.read(out + ".inner"); !strings.Contains(got, "not here") {
			u.t.Errorf("the inner call got %q, want the guard's denial", got)
		}
		if got := u.read(out + ".forged"); !strings.Contains(got, "not here") {
			u.t.Errorf("the inner call that claims to be the guard's got %q, want the guard's denial", got)
		}
		// An agent that claims to run below the guard is asked about all the same, also if
		// it has a command of ours run a hook of its own, which claims it.
		own := filepath.Join(u.t.TempDir(), "mine/HOOK.md")
		u.write(own, "+++\nevent = \"PreToolUse\"\ncommand = '"+`TENTERHOOK_HOOK=user/guard "$BRIDGE" $DIRECT claude PreToolUse < "$PAYLOAD" > "$OUT.own"; exit 0`+"'\n+++\n")
		u.run("", env, "tenterhook", "--dir", filepath.Dir(filepath.Dir(own)), "run", "PreToolUse", "--tool", "Bash", "--input", `{"command":"ls"}`)
		if got := u.read(out + ".own"); !strings.Contains(got, "not here") {
			u.t.Errorf("the agent's own hook got %q, want the guard's denial", got)
		}
		u.wantDenied(ask("PreToolUse", u.shell("rm x"), append(env, "TENTERHOOK_HOOK=user/guard", "PAYLOAD=/dev/null")...), "not here")
	})
}

// The entry's own word of where the operator's hooks are counts for the entries
// below its hooks, too.
func TestAHookOfAnEntryThatSaysWhereIsNotAskedAboutItself(t *testing.T) {
	u := newUser(t, `
-- home/.config/tenterhook/hooks/nested/HOOK.md --
+++
event = "PreToolUse"
command = '''echo run >> "$OUT"; [ $(wc -l < "$OUT") -gt 3 ] || "$BRIDGE" --env "HOME=$HOME" claude PreToolUse < "$PAYLOAD"; exit 0'''
+++
-- account/.config/tenterhook/settings.toml --
`)
	out, inner := filepath.Join(u.work, "runs"), filepath.Join(u.work, "payload")
	u.write(inner, u.shell("ls -l"))
	env := []string{"OUT=" + out, "PAYLOAD=" + inner, "BRIDGE=" + filepath.Join(u.bin, "tenterhook-bridge")}
	u.run(u.shell("ls"), env, "tenterhook-bridge", "--env", "HOME="+u.home, "claude", "PreToolUse")
	if runs := strings.Count(u.read(out), "run"); runs != 1 {
		t.Errorf("the hook ran %d times, want once", runs)
	}
}

// A project can set its agent's environment.
func TestTheEnvironmentCannotSwitchHooksOff(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		u.wantDenied(ask("PreToolUse", u.shell("rm x"), "TENTERHOOK_NO_HOOKS=1"), "not here")
		// "true './run.sh'" has no objection.
		u.wantDenied(ask("PreToolUse", u.shell("rm x"), "CLAUDE_CODE_SHELL_PREFIX=true"), "not here")
	})
}

// A variable that loads code into any program would do the same to each guard that is a command.
func TestTheEnvironmentCannotLoadCodeIntoAGuard(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	both(t, `
-- home/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
command = "bash guard.sh"
on_failure = "block"
+++
-- home/.config/tenterhook/hooks/guard/guard.sh --
cat > /dev/null
echo "not here: $(env)" >&2
exit 2
-- work/hostile.sh --
exit 0
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		off := filepath.Join(u.work, "hostile.sh")
		for _, kv := range []string{"BASH_ENV=" + off, "SHELLOPTS=noexec", "BASH_FUNC_cat%%=() { exit 0; }", "BASH_FUNC_exit%%=() { return 0; }"} {
			u.wantDenied(ask("PreToolUse", u.shell("ls"), kv), "not here")
		}
		r := ask("PreToolUse", u.shell("ls"), "LD_PRELOAD="+off, "LD_LIBRARY_PATH="+off, "PYTHONPATH="+u.work, "NODE_OPTIONS=--require="+off, "PERL5OPT=-Mhostile", "RUBYOPT=-rhostile", "KEPT=1")
		u.wantDenied(r, "KEPT=1")
		if strings.Contains(r.stdout, "hostile") || strings.Contains(r.stdout, "PYTHONPATH") {
			t.Errorf("the guard has %+v", r)
		}
	})
}

// receipt is that of an installation into Claude Code.
func (u *user) install() {
	u.write(filepath.Join(u.home, ".local/state/tenterhook/agents/claude-user.json"),
		fmt.Sprintf(`{"agent":"claude","program":%q,"files":[{"path":%q}]}`, filepath.Join(u.bin, "tenterhook-bridge"), filepath.Join(u.home, ".claude/settings.json")))
	u.write(filepath.Join(u.home, ".claude/settings.json"), "{}")
}

func TestOnceInstalledAnAgentCannotChangeItsGuards(t *testing.T) {
	both(t, guard, func(u *user, ask func(event, payload string, env ...string) reply) {
		for _, line := range []string{"mv ~/.config/tenterhook /tmp", "tenterhook daemon stop", "sed -i s/x/y/ ~/.claude/settings.json"} {
			u.wantSilent(ask("PreToolUse", u.shell(line)))
		}
		u.install()
		for _, line := range []string{"mv ~/.config/tenterhook /tmp", "tenterhook daemon stop", "sed -i s/x/y/ ~/.claude/settings.json"} {
			u.wantDenied(ask("PreToolUse", u.shell(line)), "must not change its own guards")
		}
		if r := u.run("", nil, "tenterhook", "list", "--json"); !strings.Contains(r.stdout, "managed/self-protection") {
			u.t.Errorf("list does not show it: %+v", r)
		}
		// The tests are the parent of the entries: an agent, as far as anybody can tell.
		for _, args := range [][]string{{"trust", "--all", "--yes"}, {"daemon", "stop"}, {"uninstall", "claude", "--yes"}} {
			if r := u.run("", nil, "tenterhook", args...); r.code != 1 || !strings.Contains(r.stderr, "refused") {
				u.t.Errorf("%q: got %+v, want it refused", args, r)
			}
			renamed := *u
			renamed.bin = u.t.TempDir()
			data := u.read(filepath.Join(u.bin, "tenterhook"))
			if err := os.WriteFile(filepath.Join(renamed.bin, "other"), []byte(data), 0o700); err != nil {
				u.t.Fatal(err)
			}
			if r := renamed.run("", nil, "other", args...); r.code != 1 || !strings.Contains(r.stderr, "refused") {
				u.t.Errorf("a copy of another name, %q: got %+v, want it refused", args, r)
			}
		}
		u.write(filepath.Join(u.home, ".config/tenterhook/settings.toml"), "self_protection = false\n")
		u.wantSilent(ask("PreToolUse", u.shell("mv ~/.config/tenterhook /tmp")))
		if r := u.run("", nil, "tenterhook", "trust", "--all", "--yes"); strings.Contains(r.stderr, "refused") {
			u.t.Errorf("switched off: %+v", r)
		}
	})
}

func TestAnAgentsMarkerIsEnoughToRefuse(t *testing.T) {
	u := newUser(t, guard)
	u.install()
	if r := u.run("", nil, "tenterhook", "trust", "--all", "--yes"); strings.Contains(r.stderr, "refused") {
		t.Errorf("without an agent: %+v", r)
	}
	if r := u.run("", []string{"CLAUDECODE=1"}, "tenterhook", "trust", "--all", "--yes"); r.code != 1 || !strings.Contains(r.stderr, "refused") {
		t.Errorf("got %+v, want it refused", r)
	}
}
