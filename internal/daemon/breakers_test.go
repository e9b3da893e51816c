//go:build linux || darwin

package daemon_test

import (
	"os"
	"strings"
	"testing"
)

// broken fails at once, and twice are enough for its breaker.
const broken = `
-- home/.config/tenterhook/hooks/broken/HOOK.md --
+++
event = "PreToolUse"
command = "./run.sh"
on_failure = "block"
[breaker]
failures = 2
cooldown = "10m"
+++
-- home/.config/tenterhook/hooks/broken/run.sh --
#!/bin/sh
echo ran >> "$HOME/ran"
test -e "$HOME/mended"
`

func TestBreakersOfAgentsAreShownAndReset(t *testing.T) {
	both(t, broken, func(u *user, ask func(event, payload string, env ...string) reply) {
		command := func(args ...string) string {
			u.t.Helper()
			r := u.run("", nil, "tenterhook", args...)
			if r.code != 0 {
				u.t.Fatalf("%q: %+v", args, r)
			}
			return r.stdout
		}
		if got := command("breaker", "list"); !strings.Contains(got, "every breaker is closed") {
			u.t.Errorf("before any failure: %s", got)
		}
		for range 3 {
			u.wantDenied(ask("PreToolUse", u.shell("ls")), "user/broken")
		}
		if ran := u.read(u.home + "/ran"); ran != "ran\nran\n" {
			u.t.Fatalf("the hook ran %q, want twice", ran)
		}
		if got := command("breaker", "list"); !strings.Contains(got, "open     user/broken  2         in ") || !strings.Contains(got, "claude") || !strings.Contains(got, u.work) {
			u.t.Errorf("breaker list: %s", got)
		}
		if got := command("list"); !strings.Contains(got, "its breaker is open for claude: it failed 2 times in a row, and is asked again in ") {
			u.t.Errorf("list: %s", got)
		}
		if got := command("doctor"); !strings.Contains(got, "warning: user/broken: its breaker is open") || !strings.Contains(got, "tenterhook breaker reset user/broken") {
			u.t.Errorf("doctor: %s", got)
		}
		u.write(u.home+"/mended", "")
		u.wantDenied(ask("PreToolUse", u.shell("ls")), "user/broken") // still open
		if got := command("breaker", "reset", "user/broken"); got != "user/broken is asked again\n" {
			u.t.Errorf("reset: %s", got)
		}
		u.wantSilent(ask("PreToolUse", u.shell("ls")))
		if got := command("breaker", "list"); !strings.Contains(got, "every breaker is closed") {
			u.t.Errorf("after the reset: %s", got)
		}
	})
}

// What a daemon leaves behind is shown and reset too.
func TestBreakersOutliveTheDaemon(t *testing.T) {
	u := newUser(t, broken)
	for range 2 {
		u.wantDenied(u.claude("PreToolUse", u.shell("ls")), "user/broken")
	}
	live := u.run("", nil, "tenterhook", "breaker", "list", "--json")
	u.end()
	left := u.run("", nil, "tenterhook", "breaker", "list", "--json")
	for want, got := range map[string]reply{`"live": true`: live, `"live": false`: left} {
		if strings.Count(got.stdout, `"state": "open"`) != 1 || !strings.Contains(got.stdout, want) {
			t.Errorf("want one open breaker with %s: %+v", want, got)
		}
	}
	if r := u.run("", nil, "tenterhook", "breaker", "reset", "--all", "--json"); r.code != 0 || !strings.Contains(r.stdout, "user/broken") {
		t.Errorf("reset: %+v", r)
	}
	u.write(u.home+"/mended", "")
	u.wantSilent(u.claude("PreToolUse", u.shell("ls")))
}

func TestDoctorTellsAHookThatTheAgentsPathLacks(t *testing.T) {
	both(t, guard+`
-- home/.config/tenterhook/hooks/tool/HOOK.md --
+++
event = "PostToolUse"
command = "mytool"
requires.bins = ["mytool"]
+++
-- home/bin/mytool --
#!/bin/sh
`, func(u *user, ask func(event, payload string, env ...string) reply) {
		if err := os.Chmod(u.home+"/bin/mytool", 0o700); err != nil {
			u.t.Fatal(err)
		}
		mine := "PATH=" + u.home + "/bin:" + os.Getenv("PATH")
		u.wantSilent(ask("PreToolUse", u.shell("ls"), mine))
		if r := u.run("", []string{mine}, "tenterhook", "doctor"); strings.Contains(r.stdout, "PATH") {
			u.t.Errorf("the same PATH: %+v", r)
		}
		u.wantSilent(ask("PreToolUse", u.shell("ls"))) // the agent was started otherwise
		if r := u.run("", []string{mine}, "tenterhook", "doctor"); !strings.Contains(r.stdout, "warning: user/tool: it is ready here, and not with the PATH of claude: ") {
			u.t.Errorf("another PATH: %+v", r)
		}
	})
}
