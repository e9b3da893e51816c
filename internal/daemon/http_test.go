//go:build linux || darwin

package daemon_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tenterhook/tenterhook/internal/daemon"
	"github.com/tenterhook/tenterhook/internal/daemon/door"
)

// openDoor installs the HTTP transport as 'tenterhook install' does.
func (u *user) openDoor() door.Door {
	u.t.Helper()
	d, err := door.New()
	if err != nil {
		u.t.Fatal(err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		u.t.Fatal(err)
	}
	u.write(door.Path(filepath.Join(u.home, ".local/state/tenterhook")), string(data))
	return d
}

// post asks over HTTP, with changes to the request, and returns the status and
// the body.
func (u *user) post(d door.Door, event, payload string, change func(*http.Request)) (int, string) {
	u.t.Helper()
	r, err := http.NewRequest(http.MethodPost, d.URL(event), strings.NewReader(payload))
	if err != nil {
		u.t.Fatal(err)
	}
	r.Header.Set("Authorization", d.Authorization())
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	transport := &http.Transport{Proxy: nil}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		u.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		u.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func (u *user) start(env ...string) {
	u.t.Helper()
	if r := u.claude("SessionStart", u.payload("SessionStart", "source", "startup"), env...); r.code != 0 {
		u.t.Fatalf("SessionStart: %+v", r)
	}
}

const whoGuard = `
-- home/.config/tenterhook/hooks/guard/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(rm *)"
command = "echo not for $WHO >&2; exit 2"
on_failure = "block"
+++
`

func TestACallOverHTTPIsDecidedWithItsSessionsEnvironment(t *testing.T) {
	u := newUser(t, whoGuard)
	d := u.openDoor()
	u.start("WHO=alice")
	if got := u.daemon().HTTP; got != d.Address() {
		t.Errorf("the status names %q, want %s\n%s", got, d.Address(), u.read(filepath.Join(u.home, ".local/state/tenterhook/daemon.log")))
	}
	code, body := u.post(d, "PreToolUse", u.shell("rm x"), nil)
	if code != 200 || !strings.Contains(body, `"permissionDecision":"deny"`) || !strings.Contains(body, "not for alice") {
		t.Errorf("got %d %s", code, body)
	}
	if code, body = u.post(d, "PreToolUse", u.shell("ls"), nil); code != 200 || strings.TrimSpace(body) != "{}" {
		t.Errorf("no objection: got %d %s", code, body)
	}
	// A caller that is not known is refused, and so is what cannot be read.
	for name, payload := range map[string]string{"another session": u.shell("ls", "session_id", "s2"), "no session": u.shell("ls", "session_id", ""), "no JSON": "{",
		"another event": u.payload("PostToolUse")} {
		if code, body := u.post(d, "PreToolUse", payload, nil); code != 200 || !strings.Contains(body, `"permissionDecision":"deny"`) {
			t.Errorf("%s: got %d %s", name, code, body)
		}
	}
	// The session's end takes the environment with it.
	u.claude("SessionEnd", u.payload("SessionEnd", "reason", "other"))
	if _, body = u.post(d, "PreToolUse", u.shell("ls"), nil); !strings.Contains(body, "is not known") {
		t.Errorf("after the session's end: %s", body)
	}
}

func TestRequestsOfOthersAreRefused(t *testing.T) {
	u := newUser(t, whoGuard)
	d := u.openDoor()
	u.start()
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	before := u.daemon().Calls
	for name, tt := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no token":             {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a wrong token":        {header("Authorization", "Bearer "+strings.Repeat("0", len(d.Token))), 401},
		"a part of the token":  {header("Authorization", d.Authorization()[:20]), 401},
		"the token alone":      {header("Authorization", d.Token), 401},
		"a longer token":       {header("Authorization", d.Authorization()+"0"), 401},
		"a page":               {header("Origin", "http://evil.example"), 403},
		"a page of no origin":  {header("Origin", "null"), 403},
		"a page of this host":  {header("Origin", "http://"+d.Address()), 403},
		"a browser's request":  {header("Sec-Fetch-Site", "none"), 403},
		"another name":         {host("evil.example"), 403},
		"another name, a port": {host("evil.example:" + strings.Split(d.Address(), ":")[1]), 403},
		"localhost":            {host("localhost:" + strings.Split(d.Address(), ":")[1]), 403},
		"no port":              {host("127.0.0.1"), 403},
		"another method":       {func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"another event":        {func(r *http.Request) { r.URL.Path = "/tenterhook/claude/SessionStart" }, 404},
		"another path":         {func(r *http.Request) { r.URL.Path = "/" }, 404},
	} {
		if code, body := u.post(d, "PreToolUse", u.shell("ls"), tt.change); code != tt.want {
			t.Errorf("%s: got %d %s, want %d", name, code, body, tt.want)
		}
	}
	if now := u.daemon().Calls; now != before {
		t.Errorf("%d of these calls were decided", now-before)
	}
	if code, _ := u.post(d, "PreToolUse", strings.Repeat(" ", 33<<20), nil); code != 400 {
		t.Errorf("a payload of 33 MiB: got %d", code)
	}
}

func TestAPromptIsRefusedWhereItsToolsWouldNotReachTheDaemon(t *testing.T) {
	u := newUser(t, whoGuard)
	d := u.openDoor()
	thief, err := net.Listen("tcp4", d.Address())
	if err != nil {
		t.Fatal(err)
	}
	u.start() // an observer: it fails open
	prompt := u.payload("UserPromptSubmit", "prompt", "hello")
	if r := u.claude("UserPromptSubmit", prompt); r.code != 2 || !strings.Contains(r.stderr, "its port is taken") {
		t.Errorf("another program has the port: %+v", r)
	}
	thief.Close()
	if r := u.claude("UserPromptSubmit", prompt); r.code != 0 {
		t.Errorf("the port is free again: %+v", r)
	}
	for want, env := range map[string][]string{
		"":           {"HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=localhost, 127.0.0.1"},
		"HTTP_PROXY": {"HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=localhost"},
		"all_proxy":  {"all_proxy=socks5://127.0.0.1:1"},
	} {
		r := u.claude("UserPromptSubmit", prompt, env...)
		if want == "" && r.code != 0 || want != "" && (r.code != 2 || !strings.Contains(r.stderr, want+" sends")) {
			t.Errorf("%v: %+v", env, r)
		}
	}
	// Calls of other agents, and other calls of this one, continue.
	if r := u.claude("Stop", u.payload("Stop"), "HTTP_PROXY=http://127.0.0.1:1"); r.code != 0 {
		t.Errorf("Stop: %+v", r)
	}
	// Without the installation nothing of it is left.
	if err := syscall.Unlink(door.Path(filepath.Join(u.home, ".local/state/tenterhook"))); err != nil {
		t.Fatal(err)
	}
	if r := u.claude("UserPromptSubmit", prompt, "HTTP_PROXY=http://127.0.0.1:1"); r.code != 0 {
		t.Errorf("after uninstall: %+v", r)
	}
	if got := u.daemon().HTTP; got != "" {
		t.Errorf("after uninstall it takes calls on %s", got)
	}
}

func TestTheNextDaemonTakesThePort(t *testing.T) {
	u := newUser(t, whoGuard)
	d := u.openDoor()
	u.start()
	first := u.daemon().PID
	// Calls are under way when the daemon is asked to end: none is lost.
	u.write(filepath.Join(u.home, ".config/tenterhook/hooks/slow/HOOK.md"), "+++\nevent = \"PreToolUse\"\nif = \"Bash(slow)\"\ncommand = \"sleep 1; echo slowly >&2; exit 2\"\n+++\n")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if code, body := u.post(d, "PreToolUse", u.shell("slow"), nil); code != 200 || !strings.Contains(body, "slowly") {
				t.Errorf("a call under way: %d %s", code, body)
			}
		})
	}
	until(t, "the calls are under way", func() bool { return u.daemon().UnderWay == 5 })
	if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "the next daemon has the port", func() bool {
		u.start()
		s, err := daemon.Ask(u.env)
		return err == nil && s.PID != first && s.HTTP == d.Address()
	})
	if _, body := u.post(d, "PreToolUse", u.shell("rm x"), nil); !strings.Contains(body, "not for") {
		t.Errorf("the next daemon: %s", body)
	}
	all.Wait()
}
