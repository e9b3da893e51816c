package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

func codes(ds []hook.Diagnostic) []string {
	var found []string
	for _, d := range ds {
		found = append(found, d.Code+" "+d.Message)
	}
	return found
}

func TestConfigureNamesServersThatCannotStart(t *testing.T) {
	h := mcptool.New(mcptool.Options{Servers: map[string]mcptool.Connector{"host": answering(`{"content":[]}`)}})
	defer h.Close()
	at := func(line int) hook.Source { return hook.Source{Path: "/etc/tenterhook/settings.toml", Line: line} }
	found := h.Configure(dialect.Settings{MCPServers: map[string]dialect.MCPServer{
		"a-both":    {Command: "x", URL: "http://x", Source: at(1)},
		"b-neither": {Source: at(2)},
		"c-ftp":     {URL: "ftp://x/?key=sesame", Source: at(3)},
		"d-broken":  {URL: "http://[::1", Source: at(4)},
		"e-header":  {URL: "http://x", Headers: map[string]string{"a b": "c"}, Source: at(5)},
		"f-fine":    {URL: "http://x", Source: at(6)},
		"host":      {Command: "x", Source: at(7)},
	}})
	want := []string{
		`invalid_server MCP server "a-both": it has both a command and a url`,
		`invalid_server MCP server "b-neither": it has neither a command nor a url`,
		`invalid_server MCP server "c-ftp": its url is none of http or https`,
		`invalid_server MCP server "d-broken": its url is none of http or https`,
		`invalid_server MCP server "e-header": its header a b has a character that no header may have`,
		`shadowed_server the host has an MCP server "host" of its own, which counts`,
	}
	if diff := cmp.Diff(want, codes(found)); diff != "" {
		t.Error(diff)
	}
	for _, d := range found {
		if d.Path == "" || d.Line == 0 || d.Hint == "" {
			t.Errorf("not located, or without a remedy: %+v", d)
		}
	}
	_, err := h.Handle(t.Context(), callFor(hook.PreToolUse{}, "b-neither", "t", ""))
	wantFailure(t, err, hook.FailureStart, "neither")
	if _, err = h.Handle(t.Context(), callFor(hook.PreToolUse{}, "host", "t", "")); err != nil {
		t.Errorf("the host's own server: %v", err)
	}
}

func TestCheckStartsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "pid")
	there := local(t, "tools")
	there.Env["MCPTOOL_TEST_PIDFILE"] = mark
	h := mcptool.New(mcptool.Options{})
	defer h.Close()
	h.Configure(dialect.Settings{MCPServers: map[string]dialect.MCPServer{
		"s": there, "gone": {Command: "no-such-mcp-server"}, "plain": {Command: filepath.Join(dir, "plain.txt")}, "web": {URL: "http://127.0.0.1:1"},
	}})
	for _, tt := range []struct {
		server, input string
		want          []string
	}{
		{"s", `{"a":"${tool_input.command}"}`, nil},
		{"web", "", nil},
		{"ss", "", []string{`cannot_start there is no MCP server "ss"`}},
		{"gone", "", []string{`cannot_start MCP server "gone": its command no-such-mcp-server is not on PATH`}},
		{"plain", "", []string{`cannot_start MCP server "plain": its command ` + filepath.Join(dir, "plain.txt") + ` cannot be run`}},
		{"s", `[]`, []string{`bad_input its input is no object`}},
		{"s", `{"a":"${tool_input"}`, []string{"unclosed_placeholder a ${ in its input is not closed, and stays as it is"}},
	} {
		if tt.server == "plain" && runtime.GOOS == "windows" {
			continue // there is no such mode
		}
		c := callFor(hook.PreToolUse{}, tt.server, "policy", tt.input)
		c.Hook.Source = hook.Source{Path: "HOOK.md", Line: 3}
		found := h.Check(&hook.Call{Hook: c.Hook})
		if diff := cmp.Diff(tt.want, codes(found)); diff != "" {
			t.Errorf("%s %s: %s", tt.server, tt.input, diff)
		}
		for _, d := range found {
			if d.Hook != "dir/test" || d.Path != "HOOK.md" || d.Line != 3 || d.Hint == "" {
				t.Errorf("not located, or without a remedy: %+v", d)
			}
		}
	}
	if found := h.Check(&hook.Call{Hook: &hook.Hook{Params: hook.Params{"server": json.RawMessage(`"s"`)}}}); found != nil {
		t.Errorf("a hook without a tool is for its definition to name: %v", found)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a check started the server")
	}
}

func TestConnectorThatFailsOrPanicsIsAFailedStart(t *testing.T) {
	for name, connect := range map[string]mcptool.Connector{
		"cannot be reached": failing, "panicked": panicking,
	} {
		h := hosted(t, connect)
		_, err := h.Handle(t.Context(), call("t", ""))
		if failed := wantFailure(t, err, hook.FailureStart, name); strings.Contains(failed.Reason, "goroutine") {
			t.Errorf("the reason holds a stack: %v", failed)
		}
	}
}

func failing(context.Context) (io.ReadWriteCloser, error) { return nil, errors.New("away") }

func panicking(context.Context) (io.ReadWriteCloser, error) { panic("oh no") }
