//go:build linux || darwin

package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/internal/daemon"
)

// bin holds the built programs, side by side as they are installed. account is
// what they take for the account's home directory: in most tests it is not there.
var bin, account string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "tenterhook-daemon-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		bin, account = dir, filepath.Join(dir, "account")
		build := exec.Command("go", "build", "-ldflags", "-s -w -X github.com/tenterhook/tenterhook/internal/account.home="+account, "-o", dir+"/", "../../cmd/tenterhook", "../../cmd/tenterhook-bridge")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// user is a person with a home directory, a project and perhaps a daemon.
type user struct {
	t    testing.TB
	bin  string // where the programs are
	home string
	work string // the project
	env  []string
	used map[string][]string // environments of calls, by the place of their daemons
}

// newUser makes a user whose home and project hold the files of a txtar archive,
// below home/ and work/. Files that end in .sh can be executed. Those below
// account/ are the account's own.
//
// With -short one test alone starts a daemon.
func newUser(t testing.TB, archive string) *user {
	t.Helper()
	if testing.Short() && t.Name() != "TestTheFirstCallStartsTheDaemonAndLaterOnesUseIt" {
		t.Skip("it starts a daemon")
	}
	root := t.TempDir()
	u := &user{t: t, bin: bin, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	u.used = make(map[string][]string)
	u.env = []string{"HOME=" + u.home, "PATH=" + os.Getenv("PATH"), "LANG=C"}
	u.mkdir(u.home, filepath.Join(u.work, ".git"))
	for _, f := range txtar.Parse([]byte(archive)).Files {
		dir := root
		if strings.HasPrefix(f.Name, "account/") {
			dir = bin
		}
		u.write(filepath.Join(dir, f.Name), string(f.Data))
	}
	t.Cleanup(func() { _ = os.RemoveAll(account) })
	t.Cleanup(u.end)
	return u
}

func (u *user) mkdir(dirs ...string) {
	u.t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			u.t.Fatal(err)
		}
	}
}

func (u *user) write(path, text string) {
	u.t.Helper()
	u.mkdir(filepath.Dir(path))
	mode := os.FileMode(0o600)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o700
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// end ends the user's daemons, and fails the test if one does not go.
func (u *user) end() {
	u.used[daemon.Place(u.env).Dir] = u.env
	for _, env := range u.used {
		if s, err := daemon.Ask(env); err == nil {
			_ = syscall.Kill(s.PID, syscall.SIGTERM)
			u.gone(s.PID)
		}
		if place := daemon.Place(env); place.InsteadOf != "" {
			_ = os.RemoveAll(place.Dir)
		}
	}
}

// gone waits for the end of a process.
func (u *user) gone(pid int) {
	u.t.Helper()
	until(u.t, fmt.Sprintf("process %d ends", pid), func() bool {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid)
	})
}

// zombie reports whether a process has ended and no one has reaped it, as in a
// container without an init.
func zombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(rest, []byte("Z"))
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

var usedPlaces sync.Mutex // guards user.used, which copies of a user share

// reply is how a program ended.
type reply struct {
	code           int
	stdout, stderr string
}

// run runs one of the programs, with more variables.
func (u *user) run(stdin string, env []string, program string, args ...string) reply {
	u.t.Helper()
	cmd := exec.Command(filepath.Join(u.bin, program), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.Dir, cmd.Env = u.work, append(append([]string{}, u.env...), env...)
	if len(env) > 0 {
		usedPlaces.Lock()
		u.used[daemon.Place(cmd.Env).Dir] = cmd.Env
		usedPlaces.Unlock()
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Errorf("%s %q: %v", program, args, err)
	}
	return reply{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

var calls atomic.Int64

// payload is an event of Claude Code. More fields are given as key, value, ….
func (u *user) payload(event string, fields ...any) string {
	n := calls.Add(1)
	p := map[string]any{"session_id": "s1", "transcript_path": "/dev/null", "cwd": u.work, "hook_event_name": event}
	if event == "PreToolUse" || event == "PostToolUse" {
		p["tool_name"], p["tool_use_id"], p["tool_input"] = "Bash", fmt.Sprint("toolu_", n), map[string]any{"command": "ls"}
	}
	for i := 0; i < len(fields); i += 2 {
		p[fields[i].(string)] = fields[i+1]
	}
	data, err := json.Marshal(p)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(data)
}

// shell is a call of Bash.
func (u *user) shell(command string, fields ...any) string {
	return u.payload("PreToolUse", append([]any{"tool_input", map[string]any{"command": command}}, fields...)...)
}

// claude is a hook entry of Claude Code.
func (u *user) claude(event, payload string, env ...string) reply {
	u.t.Helper()
	return u.run(payload, env, "tenterhook-bridge", "claude", event)
}

// daemon is the status of the user's daemon, which must run.
func (u *user) daemon() *daemon.Status {
	u.t.Helper()
	s, err := daemon.Ask(u.env)
	if err != nil {
		u.t.Fatal(err)
	}
	return s
}

// denied reports whether an answer is a denial in Claude Code's words.
func (r reply) denied() bool {
	return r.code == 2 && strings.Contains(r.stdout, `"permissionDecision":"deny"`) && r.stderr != ""
}

// wantDenied fails unless the answer denies for the reason.
func (u *user) wantDenied(r reply, reason string) {
	u.t.Helper()
	if !r.denied() || !strings.Contains(r.stdout, reason) {
		u.t.Errorf("got %+v, want a denial that says %q", r, reason)
	}
}

// wantSilent fails unless the answer is no objection.
func (u *user) wantSilent(r reply) {
	u.t.Helper()
	if r != (reply{}) {
		u.t.Errorf("got %+v, want no objection", r)
	}
}

// guard denies rm, in a user's home.
const guard = `
-- home/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(rm *)"
command = "echo not here >&2; exit 2"
on_failure = "block"
+++
`

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }
