package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// local is the server that this test binary is in a mode.
func local(t testing.TB, mode string) dialect.MCPServer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return dialect.MCPServer{Command: exe, Env: map[string]string{modeVariable: mode, "SECRET_KEY": "sesame-5up3r"}}
}

// with returns a handler with one server named "s", closed with the test.
func with(t testing.TB, spec dialect.MCPServer) *mcptool.Handler {
	t.Helper()
	h := mcptool.New(mcptool.Options{StartTimeout: 20 * time.Second})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if found := h.Configure(settings("s", spec)); len(found) > 0 {
		t.Fatal(found)
	}
	return h
}

func settings(name string, spec dialect.MCPServer) dialect.Settings {
	return dialect.Settings{MCPServers: map[string]dialect.MCPServer{name: spec}}
}

// call is a call of a tool of server "s" for a Bash command.
func call(tool, input string) *hook.Call {
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"rm -rf /"}`)}
	return callFor(in, "s", tool, input)
}

func callFor(in hook.Input, server, tool, input string) *hook.Call {
	params := hook.Params{"server": json.RawMessage(strconv.Quote(server)), "tool": json.RawMessage(strconv.Quote(tool))}
	if input != "" {
		params["input"] = json.RawMessage(input)
	}
	payload, err := hook.Encode(in, in.Common())
	if err != nil {
		panic(err)
	}
	return &hook.Call{Hook: &hook.Hook{ID: "dir/test", Kind: hook.KindMCP, Event: in.Event(), Params: params}, Input: in, Payload: payload}
}

// asContext makes plain text of a tool count: on UserPromptSubmit it is context.
func asContext(tool, input string) *hook.Call {
	return callFor(hook.UserPromptSubmit{Prompt: "hi"}, "s", tool, input)
}

// within is a context that ends as a hook's time does.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, hook.ErrTimeout)
	t.Cleanup(cancel)
	return ctx
}

// text calls a tool that answers with plain text.
func text(t testing.TB, h *mcptool.Handler, tool, input string) string {
	t.Helper()
	out, err := h.Handle(within(t, 20*time.Second), asContext(tool, input))
	if err != nil {
		t.Fatal(err)
	}
	return out.Context
}

func pid(t testing.TB, h *mcptool.Handler, tool string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(text(t, h, tool, ""), "pid "))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// failure is the classified failure of a call.
func failure(t testing.TB, err error) *hook.Error {
	t.Helper()
	var failed *hook.Error
	if !errors.As(err, &failed) {
		t.Fatalf("want a classified failure, got %v", err)
	}
	if strings.Contains(failed.Error(), "sesame") || strings.ContainsAny(failed.Error(), "\x1b\n") {
		t.Errorf("the error holds what it must not: %q", failed.Error())
	}
	return failed
}

func wantFailure(t testing.TB, err error, kind hook.Failure, words ...string) *hook.Error {
	t.Helper()
	failed := failure(t, err)
	if failed.Failure != kind {
		t.Errorf("failure is %s, want %s: %v", failed.Failure, kind, failed)
	}
	for _, word := range words {
		if !strings.Contains(failed.Error(), word) {
			t.Errorf("error does not say %q: %v", word, failed)
		}
	}
	return failed
}

// answering is a server in this process whose tools all answer with a result.
func answering(result string) mcptool.Connector {
	return func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			serveLines(theirs, theirs, func(method, id string, _ json.RawMessage) string {
				body := `{}`
				switch method {
				case "initialize":
					body = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`
				case "tools/call":
					body = result
				case "tools/list":
					body = `{"tools":[{"name":"t","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"depth":{"type":"integer"}}}}]}`
				}
				return `{"jsonrpc":"2.0","id":` + id + `,"result":` + body + `}`
			})
		}()
		return ours, nil
	}
}

func hosted(t testing.TB, connect mcptool.Connector) *mcptool.Handler {
	h := mcptool.New(mcptool.Options{Servers: map[string]mcptool.Connector{"s": connect}, StartTimeout: 5 * time.Second})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

const (
	denial  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	consent = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
)

func content(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `"content":[{"type":"text","text":` + string(quoted) + `}]`
}

func TestAnAnswerIsReadAsStdoutIs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		result  string
		verdict hook.Verdict
		reason  string
		failure hook.Failure
	}{
		{"text decides", `{` + content(denial) + `}`, hook.Deny, "no", ""},
		{"structured content decides", `{"content":[],"structuredContent":` + denial + `}`, hook.Deny, "no", ""},
		{"text for people beside it", `{` + content("denied, sorry") + `,"structuredContent":` + denial + `}`, hook.Deny, "no", ""},
		{"both alike", `{` + content(" "+consent) + `,"structuredContent":` + consent + `}`, hook.Allow, "", ""},
		{"both differ, the text is stricter", `{` + content(denial) + `,"structuredContent":` + consent + `}`, hook.Deny, "no", ""},
		{"both differ, the structure is stricter", `{` + content(consent) + `,"structuredContent":` + denial + `}`, hook.Deny, "no", ""},
		{"both differ, the text cannot be read", `{` + content(`{"hookSpecificOutput":1,"hookSpecificOutput":2}`) + `,"structuredContent":` + consent + `}`, 0, "", hook.FailureOutput},
		{"a wrapped string", `{` + content(denial) + `,"structuredContent":{"result":` + strconv.Quote(denial) + `}}`, hook.Deny, "no", ""},
		{"a structure that is no object", `{` + content(denial) + `,"structuredContent":["x"]}`, hook.Deny, "no", ""},
		{"nothing", `{"content":[]}`, hook.NoOpinion, "", ""},
		{"plain text", `{` + content("fine") + `}`, hook.NoOpinion, "", ""},
		{"an error", `{"isError":true,` + content(consent) + `}`, 0, "", hook.FailureExit},
		{"noise before the object", `{` + content("loading…\n"+consent) + `}`, 0, "", hook.FailureOutput},
		{"a key twice in the structure", `{"content":[],"structuredContent":{"decision":"block","decision":"approve"}}`, 0, "", hook.FailureOutput},
		{"isError twice", `{"isError":true,"isError":false,` + content(consent) + `}`, 0, "", hook.FailureOutput},
		{"async", `{` + content(`{"async":true}`) + `}`, 0, "", hook.FailureOutput},
		{"content that is no list", `{"content":7}`, 0, "", hook.FailureOutput},
		{"no object at all", `[]`, 0, "", hook.FailureOutput},
		{"a question", `{"content":[],"resultType":"input_required","inputRequests":{}}`, 0, "", hook.FailureOutput},
		{"more than a mebibyte", `{` + content(strings.Repeat("x", 1<<20+1)) + `}`, 0, "", hook.FailureOverflow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := hosted(t, answering(tt.result))
			out, err := h.Handle(within(t, 10*time.Second), call("t", ""))
			if tt.failure != "" {
				if out != nil && out.Verdict != hook.NoOpinion {
					t.Errorf("a failure came with verdict %v", out.Verdict)
				}
				wantFailure(t, err, tt.failure)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.Verdict != tt.verdict || out.Reason != tt.reason {
				t.Errorf("got %v %q, want %v %q", out.Verdict, out.Reason, tt.verdict, tt.reason)
			}
		})
	}
}

func TestContentWithoutTextLeavesAWarning(t *testing.T) {
	h := hosted(t, answering(`{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`))
	c := call("t", "")
	if _, err := h.Handle(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(c.Report.Warnings) != 1 || c.Report.Warnings[0].Code != "ignored_content" {
		t.Errorf("warnings: %v", c.Report.Warnings)
	}
}

func TestToolGetsTheEventsFields(t *testing.T) {
	h := with(t, local(t, "tools"))
	out, err := h.Handle(t.Context(), call("policy", `{"command":"${tool_input.command}"}`))
	if err != nil {
		t.Fatal(err)
	}
	if out.Verdict != hook.Deny || out.Reason != "no rm" {
		t.Errorf("got %v %q", out.Verdict, out.Reason)
	}
	if got := text(t, h, "echo", ""); got != "echo {}" {
		t.Errorf("without input the tool got %q", got)
	}
	if got := text(t, h, "echo", `{"p":"${prompt}","n":1.50}`); got != `echo {"p":"hi","n":1.50}` {
		t.Errorf("the tool got %q", got)
	}
}

func TestWhatFailsIsNamedWithAWayOut(t *testing.T) {
	h := with(t, local(t, "tools"))
	handle := func(c *hook.Call) error {
		t.Helper()
		_, err := h.Handle(within(t, 20*time.Second), c)
		return err
	}
	wantFailure(t, handle(callFor(hook.PreToolUse{}, "S2", "echo", "")), hook.FailureStart, `no MCP server "S2"`, `did you mean "s"?`)
	wantFailure(t, handle(call("polcy", `{}`)), hook.FailureStart, `has no tool "polcy"`, `did you mean "policy"?`, "echo")
	wantFailure(t, handle(call("policy", `{}`)), hook.FailureExit, "command", "requires")
	wantFailure(t, handle(call("policy", `{"command":["rm"]}`)), hook.FailureExit, `"command" as array, and the tool wants string`)
	wantFailure(t, handle(call("fail", `{}`)), hook.FailureExit, "the database is away")
	wantFailure(t, handle(call("leak", `{}`)), hook.FailureExit, "refused [redacted]")
	noTool := call("x", "")
	delete(noTool.Hook.Params, "tool")
	wantFailure(t, handle(noTool), hook.FailureStart, "names no tool")
	wantFailure(t, handle(call("echo", `[1]`)), hook.FailureStart, "no object")
	wantFailure(t, handle(call("echo", `{"a":1,"a":2}`)), hook.FailureStart, "twice")
}

func TestToolsAreAskedAnewWhenTheyChange(t *testing.T) {
	h := with(t, local(t, "tools"))
	handle := func(tool string) error {
		_, err := h.Handle(within(t, 20*time.Second), call(tool, ""))
		return err
	}
	wantFailure(t, handle("grown"), hook.FailureStart, "no tool")
	if err := handle("grow"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the notice comes when it comes
		failed := failure(t, handle("grown"))
		if failed.Failure == hook.FailureExit {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %v", failed)
		}
	}
}

func TestEscapesOfAToolStayOutOfErrors(t *testing.T) {
	h := hosted(t, answering(`{"isError":true,`+content("\nbad \x1b]52;c;x\x07 \u202Eyes")+`}`))
	_, err := h.Handle(t.Context(), call("t", ""))
	failed := wantFailure(t, err, hook.FailureExit, "bad")
	if strings.ContainsAny(failed.Reason, "\x1b\x07\u202E") || strings.Contains(failed.Reason, `\u`) {
		t.Errorf("reason %q", failed.Reason)
	}
}

func TestProgressReachesTheCaller(t *testing.T) {
	h := with(t, local(t, "tools"))
	var lines []string
	c := call("progress", "")
	c.Progress = func(line string) { lines = append(lines, line) } // called from Handle's goroutine alone
	if _, err := h.Handle(within(t, 20*time.Second), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"reading [2J", "2 of 2"}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestMissingFieldsLeaveAWarning(t *testing.T) {
	h := hosted(t, answering(`{"content":[]}`))
	c := call("t", `{"a":"${tool_input.comand}","b":"x${tool_input.comand}"}`)
	if _, err := h.Handle(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(c.Report.Warnings) != 1 || !strings.Contains(c.Report.Warnings[0].Message, "tool_input.comand") {
		t.Errorf("warnings: %v", c.Report.Warnings)
	}
}

func TestAnAmbiguousFieldIsNoInput(t *testing.T) {
	h := hosted(t, answering(`{`+content(consent)+`}`))
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls","command":"rm -rf /"}`)}
	_, err := h.Handle(t.Context(), callFor(in, "s", "t", `{"command":"${tool_input.command}"}`))
	wantFailure(t, err, hook.FailureStart, "twice")
}

func TestServerOfTheNewestRevisionAlone(t *testing.T) {
	h := with(t, local(t, "newest only"))
	for range 2 {
		if got := text(t, h, "any", ""); got != "newest" {
			t.Errorf("got %q", got)
		}
	}
}

func TestEnvironmentIsTheOptionsAndTheServersOwn(t *testing.T) {
	built.NotOnWindows(t, "it starts no scripts")
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh on this system")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"A=$A B=$B HOME=$HOME in $(pwd)\" >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "server.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h := mcptool.New(mcptool.Options{Env: []string{"PATH=/bin:/usr/bin", "A=inherited"}})
	defer h.Close()
	h.Configure(settings("s", dialect.MCPServer{Command: "./server.sh", Env: map[string]string{"B": "own"}, Source: hook.Source{Dir: dir}}))
	_, err := h.Handle(within(t, 20*time.Second), call("t", ""))
	wantFailure(t, err, hook.FailureStart, "A=inherited B=own HOME= in "+dir, "exit code 1")
}
