package tenterhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/handler/model"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/plugins"
)

const (
	refusal = "rm is not for agents"
	blocks  = `{"decision": "block", "reason": "` + refusal + `"}`
)

// hostOf is a machine of the test's own.
func hostOf(t *testing.T) tenterhook.Options {
	base := t.TempDir()
	return tenterhook.Options{Workspace: t.TempDir(), UserDir: filepath.Join(base, "user"), PluginsDir: filepath.Join(base, "plugins"),
		StateDir: filepath.Join(base, "state"), Without: []hook.Scope{hook.ScopeManaged}}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSameDecisionOfEveryKindIsOneOutcome(t *testing.T) {
	judged := func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("rm -rf")) {
			fmt.Fprint(w, blocks)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(judged))
	defer server.Close()
	policy := mcp.NewServer(&mcp.Implementation{Name: "policy", Version: "1"}, nil)
	mcp.AddTool(policy, &mcp.Tool{Name: "judge"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Command string `json:"command"`
	}) (*mcp.CallToolResult, any, error) {
		if in.Command != "rm -rf /" {
			return nil, nil, fmt.Errorf("asked about %q", in.Command)
		}
		return nil, json.RawMessage(blocks), nil
	})
	asks := model.New(model.Options{Model: model.ModelFunc(verdict)})
	handlers := map[hook.Kind]hook.Handler{
		hook.KindPrompt: asks, hook.KindAgent: asks,
		hook.KindMCP: mcptool.New(mcptool.Options{Servers: map[string]mcptool.Connector{"policy": func(ctx context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			_, err := policy.Connect(ctx, &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
			return ours, err
		}}}),
	}
	for kind, declared := range map[hook.Kind]string{
		hook.KindCommand: `command = "echo '` + refusal + `' >&2; exit 2"`,
		hook.KindHTTP:    "type = \"http\"\nurl = \"" + server.URL + "/judge\"",
		hook.KindMCP:     "type = \"mcp\"\nserver = \"policy\"\ntool = \"judge\"\ninput = { command = \"${tool_input.command}\" }",
		hook.KindPrompt:  "type = \"prompt\"\nprompt = \"May this run? $ARGUMENTS\"",
		hook.KindAgent:   "type = \"agent\"\nprompt = \"Look at it: $ARGUMENTS\"",
	} {
		t.Run(string(kind), func(t *testing.T) {
			opts := hostOf(t)
			opts.Handlers = map[hook.Kind]hook.Handler{}
			if h := handlers[kind]; h != nil {
				opts.Handlers[kind] = h
			}
			put(t, filepath.Join(opts.UserDir, "settings.toml"), "allowed_http_hook_urls = [\""+server.URL+"/*\"]\nallow_local_http_hook_targets = true\n")
			put(t, filepath.Join(opts.UserDir, "hooks", "guard", "HOOK.md"), "+++\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\non_failure = \"block\"\n"+declared+"\n+++\n")
			denies(t, opts, "user/guard")
		})
	}
}

// verdict is a model that refuses: in its answer, or by the tool it is given for
// that.
func verdict(_ context.Context, r *model.Request) (*model.Response, error) {
	answer := `{"ok": false, "reason": "` + refusal + `"}`
	for _, tool := range r.Tools {
		if bytes.Contains(tool.Schema, []byte(`"ok"`)) {
			return &model.Response{Stop: model.StopTools, ToolCalls: []model.ToolCall{{ID: "1", Name: tool.Name, Input: json.RawMessage(answer)}}}, nil
		}
	}
	return &model.Response{Text: answer}, nil
}

// denies checks that a hook alone decided, and how.
func denies(t *testing.T, opts tenterhook.Options, id string) {
	t.Helper()
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	approveAll(t, reg)
	out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command": "rm -rf /"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Results) != 1 || out.Results[0].Hook.ID != id || out.Results[0].Status != hook.StatusBlocked || out.Verdict != hook.Deny || out.Reason != refusal {
		t.Errorf("%v %q: %+v", out.Verdict, out.Reason, out.Results)
	}
}

// buildGuard puts the plugin of the examples into a folder.
func buildGuard(t *testing.T, dir string) {
	t.Helper()
	if err := built.Into(dir, "examples/plugins/guard"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(built.Program(dir, "guard"), built.Program(dir, "tenterhook-plugin-guard")); err != nil {
		t.Fatal(err)
	}
}

// A package with nothing but its binary denies a call, once it was locked and
// approved, and loading it starts nothing.
func TestBinaryOfAPackageDenies(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	opts := hostOf(t)
	dir := filepath.Join(opts.PluginsDir, "guards")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	buildGuard(t, dir)
	load := func() (ids []string, notes []hook.Diagnostic) {
		reg, err := tenterhook.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer reg.Close()
		for _, l := range reg.List() {
			ids = append(ids, l.Hook.ID+" "+string(l.State))
		}
		return ids, reg.Diagnostics()
	}
	if ids, notes := load(); len(ids) != 0 || len(notes) == 0 {
		t.Errorf("before it was asked: %v %v", ids, notes)
	}
	host := plugins.New(plugins.Options{StateDir: opts.StateDir})
	defer host.Close()
	if err := host.Learn(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if ids, notes := load(); len(ids) != 1 || ids[0] != "plugin/guards/irreversible untrusted" {
		t.Errorf("asked: %v %v", ids, notes)
	}
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	seal, err := reg.Subjects()[0].Seal()
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.Approvals().Approve(seal); err != nil {
		t.Fatal(err)
	}
	if changed, err := reg.Reload(t.Context()); err != nil || changed.Any() {
		t.Errorf("a reload without changes: %+v %v", changed, err)
	}
	state := func() plugins.State {
		pkg, _ := host.Package(dir)
		return pkg.Plugins[0].State
	}
	if s := state(); s != plugins.StateStopped {
		t.Errorf("before anything needs it: %v", s)
	}
	if err := reg.Prewarm(t.Context()); err != nil || state() != plugins.StateRunning {
		t.Errorf("prewarmed: %v %v", state(), err)
	}
	out, err := reg.Dispatch(t.Context(), hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command": "rm -rf /"}`)})
	if err != nil || out.Verdict != hook.Deny || out.Results[0].Status != hook.StatusBlocked {
		t.Errorf("%v %+v", err, out)
	}
}

// Plugins that no one asked yet are reported, and none of them is started.
func TestLoadingPackagesStartsNoProcess(t *testing.T) {
	opts := hostOf(t)
	mark := filepath.Join(t.TempDir(), "mark")
	for i := range 50 {
		file := filepath.Join(opts.PluginsDir, fmt.Sprintf("pack%02d", i), filepath.Base(built.Program("", "tenterhook-plugin-x")))
		put(t, file, "#!/bin/sh\necho started >> "+mark+"\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	reg, err := tenterhook.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	if _, err := reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("loading started a plugin")
	}
	told := 0
	for _, d := range reg.Diagnostics() {
		if d.Code == "not_described" {
			told++
		}
	}
	if told != 50 {
		t.Errorf("%d of 50 plugins are said to be unknown: %v", told, reg.Diagnostics())
	}
}
