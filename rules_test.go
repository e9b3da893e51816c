package tenterhook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
)

const pushRule = `+++
event = "PreToolUse"
type = "rule"
decision = "deny"
reason = "Pushes go through review."
when = 'tool_input.command.startsWith("git push")'
breaker = { failures = 1 }
+++
`

// Failures of a condition on some events never keep a rule from judging others:
// it has no breaker.
func TestFailuresOfARuleDoNotSwitchItOff(t *testing.T) {
	opts := hostOf(t)
	put(t, filepath.Join(opts.UserDir, "hooks", "push", "HOOK.md"), pushRule)
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	for range 20 {
		out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{}`)})
		if err != nil || len(out.Results) != 1 || out.Results[0].Failure != hook.FailureExpression {
			t.Fatalf("%v %+v", err, out)
		}
	}
	out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command": "git push"}`)})
	if err != nil || out.Verdict != hook.Deny {
		t.Errorf("%v %+v", err, out)
	}
}

// What stops a script does not stop a rule: no environment, no PATH, no shell, no
// folder for temporary files, no more than ten file descriptors.
func TestRuleDeniesWithoutEnvironmentShellOrDescriptors(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows: limits of descriptors are POSIX")
	}
	bin := t.TempDir()
	if err := built.Into(bin, "cmd/tenterhook"); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(bin, "tenterhook")
	dir, workspace := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "push", "HOOK.md"), pushRule)
	for name, limits := range map[string]string{
		"no environment":         "true",
		"ten descriptors":        "ulimit -n 10",
		"no file may be written": "ulimit -f 0",
		"no further process":     "ulimit -u 0 2>/dev/null || true",
	} {
		t.Run(name, func(t *testing.T) {
			line := fmt.Sprintf(`%s && exec "$0" run PreToolUse --dir "$1" --workspace "$2" --tool Bash --input '{"command":"git push"}'`, limits)
			if strings.HasPrefix(limits, "ulimit -u") && runtime.GOOS != "linux" {
				t.Skip("the limit counts threads on Linux alone")
			}
			cmd := exec.Command("/bin/sh", "-c", line, program, dir, workspace)
			cmd.Dir, cmd.Env = workspace, []string{"TMPDIR=/nonexistent"} // and no PATH
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "Pushes go through review.") {
				t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), out)
			}
		})
	}
}

// Without a shell on the machine and with a folder for temporary files that
// no one may write, a command hook fails. A rule denies.
func TestRuleDeniesWhereNoShellIsAndNothingMayBeWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	if runtime.GOOS != "linux" {
		t.Skip("takes the shell away in a mount namespace, which Windows does not have")
	}
	bin, dir, workspace, command, home := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	if err := built.Into(bin, "cmd/tenterhook"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "push", "HOOK.md"), pushRule)
	put(t, filepath.Join(command, "shell", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"echo a; exit 2\"\n+++\n")
	for name, change := range map[string]string{
		"no shell":           `mount --bind /dev/null "$(readlink -f /bin/sh)"`,
		"/tmp is read-only":  `mount --rbind /tmp /tmp && mount -o remount,bind,ro /tmp && ! (: >/tmp/tenterhook-test) 2>/dev/null`,
		"no shell, no /proc": `mount -t tmpfs none /proc && mount --bind /dev/null "$(readlink -f /bin/sh)"`,
	} {
		t.Run(name, func(t *testing.T) {
			run := func(hooks string) (int, string) {
				line := change + ` || exit 77; exec "$0" run PreToolUse --dir "$1" --workspace "$2" --tool Bash --input '{"command":"git push"}'`
				cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", line, filepath.Join(bin, "tenterhook"), hooks, workspace)
				cmd.Dir, cmd.Env = workspace, append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=")
				out, _ := cmd.CombinedOutput()
				return cmd.ProcessState.ExitCode(), string(out)
			}
			if exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").Run() != nil {
				t.Skip("this machine lets nobody make a mount namespace")
			}
			code, out := run(dir)
			if code == 77 {
				t.Skipf("cannot change the machine: %s", out)
			}
			if code != 2 || !strings.Contains(out, "Pushes go through review.") {
				t.Errorf("exit code %d: %s", code, out)
			}
			if code, out := run(command); strings.HasPrefix(name, "no shell") && code == 2 {
				t.Errorf("a command hook still has its shell: %s", out)
			}
		})
	}
}

// A rule judges every event there is, and its expressions read the event's
// fields.
func TestRulesJudgeEveryEvent(t *testing.T) {
	opts := hostOf(t)
	var events []hook.Event
	for _, info := range hook.Events() {
		if info.Takes(hook.KindRule) {
			events = append(events, info.Event)
		} else if info.Event != hook.EventStatusLine && info.Event != hook.EventFileSuggestion { // which want a text from a command
			t.Errorf("%s takes no rules", info.Event)
		}
	}
	for _, event := range events {
		text := fmt.Sprintf("+++\nevent = %q\ntype = \"rule\"\ndecision = \"warn\"\nreason = \"${payload.hook_event_name} is seen\"\nwhen = 'payload.hook_event_name == %q && session == \"s1\"'\n+++\n", event, event)
		put(t, filepath.Join(opts.UserDir, "hooks", "on-"+strings.ToLower(string(event)), "HOOK.md"), text)
	}
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	for _, event := range events {
		in, err := hook.DecodeInput(fmt.Appendf(nil, `{"hook_event_name": %q, "session_id": "s1"}`, event))
		if err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		out, err := reg.Dispatch(t.Context(), in)
		if err != nil || len(out.Results) != 1 || len(out.SystemMessages) != 1 || out.SystemMessages[0] != string(event)+" is seen" {
			t.Errorf("%s: %v %+v", event, err, out)
		}
	}
}
