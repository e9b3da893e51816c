package agents

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenterhook/tenterhook/internal/agents/loopback"
	programs "github.com/tenterhook/tenterhook/internal/built"
)

// httpAnswers are ways to answer an http hook, and whether Claude Code then runs
// the tool although the hook says onFailure: "block".
var httpAnswers = []struct {
	name   string
	runs   bool
	answer func(w http.ResponseWriter, r *http.Request)
}{
	{"deny", false, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"REASON-DENY"}}`)
	}},
	{"no-opinion", true, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }},
	{"dead", false, nil}, // no one listens
	{"hang", false, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees the end of a connection behind it
		<-r.Context().Done()
	}},
	{"half", false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"hookSpecificOutput":`)
		panic(http.ErrAbortHandler)
	}},
	{"reset", false, func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}},
	{"wrong-token", false, withStatus(http.StatusUnauthorized)},
	{"forbidden", false, withStatus(http.StatusForbidden)},
	{"fault", false, withStatus(http.StatusInternalServerError)},
	{"busy", false, withStatus(http.StatusServiceUnavailable)},
	{"moved", false, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/no-opinion", http.StatusTemporaryRedirect)
	}},
	{"text", false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `all is well`) }},
	{"list", false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) }},
	{"empty", true, func(http.ResponseWriter, *http.Request) {}}, // what the daemon never answers
	{"no-content", true, withStatus(http.StatusNoContent)},
}

func withStatus(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		if code != http.StatusNoContent {
			fmt.Fprint(w, `{}`)
		}
	}
}

func TestClaudeBlocksACallWhoseHTTPHookFails(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	w := newWorld(t, "claude")
	mux := http.NewServeMux()
	var entries []any
	var turns []loopback.Turn
	server := httptest.NewServer(mux)
	defer server.Close()
	defer server.CloseClientConnections()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for _, a := range httpAnswers {
		url := server.URL + "/" + a.name
		if a.answer == nil {
			url = "http://" + dead.Addr().String() + "/"
		} else {
			mux.HandleFunc("/"+a.name, a.answer)
		}
		timeout := 60
		if a.name == "hang" {
			timeout = 2
		}
		entries = append(entries, map[string]any{"matcher": "Bash", "hooks": []any{
			map[string]any{"type": "http", "url": url, "timeout": timeout, "onFailure": "block", "if": "Bash(touch *-" + a.name + ")"}}})
		turns = append(turns, w.touch("x-"+a.name))
	}
	w.json(w.home+"/.claude/settings.json", map[string]any{"hooks": map[string]any{"PreToolUse": entries}})
	s := w.prompt("run it", loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})
	s.want("x-no-opinion", true, "REASON-DENY")
	for _, a := range httpAnswers {
		if s.ran("x-"+a.name) != a.runs {
			t.Errorf("%s: ran %v, want %v", a.name, !a.runs, a.runs)
		}
	}
}

// On Windows Claude Code starts the program of an entry without a shell. It does so here.
func TestClaudeBlocksACallWhoseProgramFailsWithoutAShell(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	w := newWorld(t, "claude")
	script := filepath.Join(w.dir, "it's a program")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncase $1 in no) echo NOT-HERE >&2; exit 2;; killed) kill -9 $$;; hang) exec sleep 600;; esac\nexit $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var entries []any
	var turns []loopback.Turn
	ends := []string{"0", "no", "1", "killed", "hang", "gone"}
	for _, end := range ends {
		program := script
		if end == "gone" {
			program += end
		}
		timeout := 60
		if end == "hang" {
			timeout = 2
		}
		entries = append(entries, map[string]any{"matcher": "Bash", "hooks": []any{map[string]any{"type": "command", "command": program, "args": []string{end},
			"timeout": timeout, "onFailure": "block", "if": "Bash(touch *-" + end + ")"}}})
		turns = append(turns, w.touch("x-"+end))
	}
	w.json(w.home+"/.claude/settings.json", map[string]any{"hooks": map[string]any{"PreToolUse": entries}})
	s := w.prompt("run it", loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})
	s.want("x-0", true, "NOT-HERE")
	for _, end := range ends {
		if s.ran("x-"+end) != (end == "0") {
			t.Errorf("%s: ran %v", end, s.ran("x-"+end))
		}
	}
}

func TestClaudeObeysOverHTTPAndStaysClosedWithoutTheDaemon(t *testing.T) {
	programs.NotOnWindows(t, "no client is run there")
	t.Parallel()
	w := newWorld(t, "claude")
	settings := w.home + "/.claude/settings.json"
	write(t, settings, []byte("{}"))
	out, err := w.run("tenterhook", "install", "claude", "--transport", "http", "--yes")
	if err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	token := string(read(t, w.home+"/.local/state/tenterhook/http.json"))
	token = strings.Split(token, `"`)[5]
	if strings.Contains(out, token) || !strings.Contains(string(read(t, settings)), token) {
		t.Errorf("the token is shown, or not in the entries:\n%s", out)
	}
	if out, err := w.run("tenterhook", "agents", "verify", "claude"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	w.hook("deny", onTouch("deny"), "echo REASON-DENY >&2; exit 2")
	w.hook("crash", onTouch("crash")+"on_failure = \"block\"\n", "kill -9 $$")
	w.hook("place", onTouch("place"), `[ "$SESSION_WORD" = given ] && [ "$TENTERHOOK_PROJECT_DIR" = "@D@/w" ] && [ "$(umask)" = 0027 ] && [ -z "$CLAUDE_ENV_FILE" ] || { echo WRONG-PLACE >&2; exit 2; }`)
	w.hook("context", onTouch("context"), specificAnswer(`"additionalContext":"CONTEXT-BEFORE"`))
	w.hook("rewrite", onTouch("rewrite"), specificAnswer(`"updatedInput":{"command":"touch @D@/rewritten","description":"x"}`))
	w.hook("after", "event = \"PostToolUse\"\nmatcher = \"Bash\"\nif = \"Bash(touch *-context)\"\n", `echo FEEDBACK-AFTER >&2; exit 2`)
	w.hook("killer", onTouch("kill")+"timeout = 30\n", killDaemon)
	w.extra, w.umask = []string{"SESSION_WORD=given"}, "027"
	turns := []loopback.Turn{}
	for _, file := range []string{"deny", "crash", "place", "context", "rewrite", "free", "kill", "gone"} {
		turns = append(turns, w.touch("x-"+file))
	}
	s := w.prompt("run it", loopback.Conversation{Turns: append(turns, loopback.Turn{Text: "all done"})})
	s.want("x-free", true)
	s.want("x-deny", false, "REASON-DENY")
	s.want("x-crash", false, "crash")
	s.want("x-place", true)
	s.want("x-context", true, "CONTEXT-BEFORE", "FEEDBACK-AFTER")
	s.want("rewritten", true)
	s.want("killed", true)
	s.want("x-kill", false)
	s.want("x-gone", false, "ECONNREFUSED")

	// The next prompt starts a daemon again.
	s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-again"), w.touch("y-deny"), {Text: "all done"}}})
	s.want("x-again", true, "REASON-DENY")
	s.want("y-deny", false)

	// A proxy could answer in the daemon's place.
	var proxied atomic.Int32 // calls of hooks
	forward := httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			forward.ServeHTTP(rw, r)
			return
		}
		proxied.Add(1)
		fmt.Fprint(rw, "{}")
	}))
	defer proxy.Close()
	w.extra = []string{"HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL}
	if s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-proxied")}}); s.ran("x-proxied") || !strings.Contains(s.out, "add 127.0.0.1 to NO_PROXY") {
		t.Errorf("behind a proxy it ran: %v\n%s", s.ran("x-proxied"), s.out)
	}
	w.extra = append(w.extra, "NO_PROXY=localhost,127.0.0.1")
	proxied.Store(0)
	s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("z-deny"), w.touch("x-direct"), {Text: "all done"}}})
	s.want("x-direct", true, "REASON-DENY")
	s.want("z-deny", false)
	if n := proxied.Load(); n > 0 {
		t.Errorf("%d requests went to the proxy", n)
	}
	w.extra = nil
	// An entry with another token blocks, and another program at the port blocks the prompt.
	data := read(t, settings)
	write(t, settings, []byte(strings.ReplaceAll(string(data), token, strings.Repeat("0", len(token)))))
	s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-token"), {Text: "all done"}}})
	s.want("x-token", false, "HTTP 401")
	if out, err := w.run("tenterhook", "agents", "verify", "claude"); err == nil || !strings.Contains(out, "entry of PreToolUse is not as it would be installed") {
		t.Errorf("verify with another token: %v\n%s", err, out)
	}
	write(t, settings, data)
	if out, err := w.run("tenterhook", "daemon", "stop"); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	thief, err := net.Listen("tcp4", strings.TrimPrefix(strings.Split(strings.Split(string(data), `"url":"http://`)[1], "/")[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = http.Serve(thief, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "{}") }))
	}()
	s = w.prompt("run it", loopback.Conversation{Turns: []loopback.Turn{w.touch("x-thief")}})
	thief.Close()
	if s.ran("x-thief") || !strings.Contains(s.out, "its port is taken") {
		t.Errorf("another program has the port: ran %v\n%s", s.ran("x-thief"), s.out)
	}

	if out, err := w.run("tenterhook", "uninstall", "claude", "--yes"); err != nil {
		t.Fatalf("uninstall: %v\n%s", err, out)
	}
	if string(read(t, settings)) != "{}" {
		t.Errorf("after uninstall: %s", read(t, settings))
	}
	if left, _ := filepath.Glob(w.home + "/.local/state/tenterhook/http.json"); len(left) > 0 {
		t.Error("the token is left")
	}
}
