package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
)

// The host's logger gets a record for each result, with all that the
// documentation promises and nothing of the payload: failures as warnings, all
// others at level debug.
func TestLoggerGetsEachResult(t *testing.T) {
	for level, want := range map[slog.Level][]map[string]any{
		slog.LevelDebug: {
			{"level": "DEBUG", "msg": "hook", "hook": "dir/a", "event": "PreToolUse", "kind": "command", "scope": "dir", "source": "a/HOOK.md",
				"verdict": "deny", "status": "blocked", "failure": ""},
			{"level": "WARN", "msg": "hook", "hook": "in-process/b", "event": "PreToolUse", "kind": "callback", "scope": "in-process", "source": "",
				"verdict": "none", "status": "failed", "failure": "exit"},
		},
		slog.LevelWarn:  {{"level": "WARN", "hook": "in-process/b"}},
		slog.LevelError: {},
	} {
		var buf bytes.Buffer
		dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n")
		opts := only(dir)
		opts.Logger = slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{Level: level}))
		reg := open(t, opts)
		on(t, reg, "b", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, errors.New("bad") })
		dispatch(t, reg, bash("echo payload"))
		dispatch(t, reg, hook.Stop{})
		if strings.Contains(buf.String(), "payload") {
			t.Errorf("%s: the payload is in the log: %s", level, buf.String())
		}
		lines := strings.Split(strings.TrimSpace(buf.String()), "\n")
		if buf.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(want) {
			t.Errorf("%s: %d records: %s", level, len(lines), buf.String())
			continue
		}
		for i, line := range lines {
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if source, _ := got["source"].(string); source != "" {
				relative, _ := filepath.Rel(dir, source)
				got["source"] = filepath.ToSlash(relative)
			}
			if elapsed, _ := got["elapsed"].(float64); elapsed < 0 || elapsed == 0 && runtime.GOOS != "windows" { // whose clock ticks slower
				t.Errorf("elapsed %v", got["elapsed"])
			}
			for key := range got {
				if _, ok := want[i][key]; !ok {
					delete(got, key)
				}
			}
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", level, diff)
			}
		}
	}
}

// noting is a handler and a recorder that has something to say of the settings.
type noting struct{ hook.HandlerFunc }

func (noting) Record(hook.Record) {}
func (noting) Configure(s dialect.Settings) []hook.Diagnostic {
	return []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "noted", Message: "of " + s.Model.Model}}
}

// What a handler and a recorder say of the settings stands among the
// diagnostics, once, and again when a reload changes the settings.
func TestWhatIsSaidOfTheSettingsIsADiagnostic(t *testing.T) {
	for name, with := range map[string]func(*registry.Options){
		"a handler":  func(o *registry.Options) { o.Handlers = map[hook.Kind]hook.Handler{hook.KindPrompt: noting{}} },
		"a recorder": func(o *registry.Options) { o.Recorder = noting{} },
		"both": func(o *registry.Options) {
			o.Handlers, o.Recorder = map[hook.Kind]hook.Handler{hook.KindAgent: noting{}}, noting{}
		},
	} {
		dir := t.TempDir()
		opts := only(dir)
		with(&opts)
		var reg *registry.Registry
		for _, model := range []string{"one", "two"} {
			write(t, filepath.Join(dir, "settings.toml"), "[model]\nmodel = \""+model+"\"\n")
			if reg == nil {
				reg = open(t, opts)
			} else {
				reload(t, reg)
			}
			var said []string
			for _, d := range reg.Diagnostics() {
				if d.Code == "noted" {
					said = append(said, d.Message)
				}
			}
			if diff := cmp.Diff([]string{"of " + model}, said); diff != "" {
				t.Errorf("%s: -want +got:\n%s", name, diff)
			}
		}
	}
}

// A host's functions that fail are reported once each, and in a bounded number.
func TestFailuresOfTheHostAreToldOnce(t *testing.T) {
	opts := only()
	n := 0
	opts.OnAsync = func(registry.AsyncResult) { panic("always the same") }
	opts.ToolSchema = func(string) json.RawMessage { n++; panic(strings.Repeat("x", n)) }
	reg := open(t, opts)
	on(t, reg, "a", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":"true"}`)}))
	on(t, reg, "b", answer(nil), async)
	results := reg.Async()
	for range 100 {
		dispatch(t, reg, bash("ls"))
		<-results
	}
	var async, schema int
	for _, d := range reg.Diagnostics() {
		switch {
		case strings.HasPrefix(d.Message, "Options.OnAsync "):
			async++
		case strings.HasPrefix(d.Message, "Options.ToolSchema "):
			schema++
		}
	}
	if async != 1 || async+schema != 64 {
		t.Errorf("%d and %d diagnostics of 200 failures, want 1 and 63", async, schema)
	}
}

// A handler of the host that takes long to load, to check or to close does not
// keep the registry from opening or closing.
func TestHandlerThatHangsWhileLoadingIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer synctest.Wait()
		defer close(release)
		opts := only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"prompt\"\nprompt = \"p\"\n+++\n"))
		opts.DrainTimeout = 2 * time.Second
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPrompt: hostileHandler{func() { <-release }}}
		start := time.Now()
		reg := open(t, opts)
		if took := time.Since(start); took != 15*time.Second || !has(reg.Diagnostics(), "handler_failed", "its Configure did not return in time") {
			t.Errorf("open took %s: %v", took, reg.Diagnostics())
		}
		start = time.Now()
		if l := state(t, reg, "dir/a"); l.State != hook.StateIneligible || time.Since(start) != 15*time.Second || !strings.Contains(l.Why, "its Check did not return in time") {
			t.Errorf("list took %s: %s %q", time.Since(start), l.State, l.Why)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if err := reg.Prewarm(ctx); err == nil || time.Since(start) != 2500*time.Millisecond || !strings.Contains(err.Error(), "dir/a: did not return in time") {
			t.Errorf("prewarm took %s: %v", time.Since(start), err)
		}
		start = time.Now()
		if err := reg.Close(); err == nil || time.Since(start) != 3500*time.Millisecond {
			t.Errorf("close took %s: %v", time.Since(start), err)
		}
	})
}

// A reply of the host that is none, and schemas in any number.
func TestSchemasOfTheHostAreHeldAgainstEachRewrite(t *testing.T) {
	opts := only()
	var schema string
	opts.ToolSchema = func(tool string) json.RawMessage {
		if tool != "Bash" || schema == "" {
			return nil
		}
		return json.RawMessage(schema)
	}
	reg := open(t, opts)
	on(t, reg, "a", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":"true"}`)}))
	const object = `{"type":"object","properties":{"command":{"type":"%s"}},"title":"%d"}`
	for i := range 600 { // more than are kept
		kind, want := "string", hook.NoOpinion
		if i%3 == 0 {
			kind, want = "integer", hook.Deny
		}
		schema = strings.NewReplacer("%s", kind, "%d", strings.Repeat("x", i%300)).Replace(object)
		for range 2 {
			if out := dispatch(t, reg, bash("ls")); out.Verdict != want {
				t.Fatalf("%d: %v %q", i, out.Verdict, out.Reason)
			}
		}
	}
	for text, want := range map[string]hook.Verdict{"": hook.NoOpinion, "{": hook.Deny} {
		schema = text
		for range 2 {
			if out := dispatch(t, reg, bash("ls")); out.Verdict != want {
				t.Errorf("%q: %v %q", text, out.Verdict, out.Reason)
			}
		}
	}
}

func TestOpenSaysWhatItCannotOpen(t *testing.T) {
	closed := 0
	handlers := func() map[hook.Kind]hook.Handler {
		return map[hook.Kind]hook.Handler{hook.KindPrompt: closing{&closed}}
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx    context.Context
		change func(*registry.Options)
		want   string
		closes int
	}{
		"no workspace": {t.Context(), func(o *registry.Options) { o.Workspace = file + "-none" }, "file-none is no directory", 0},
		"a file":       {t.Context(), func(o *registry.Options) { o.Workspace = file }, "file is no directory", 0},
		"a product":    {t.Context(), func(o *registry.Options) { o.Compat = []string{"claude", "cladue"} }, "did you mean claude?", 0},
		"a guard":      {t.Context(), func(o *registry.Options) { o.Guards = []*hook.Hook{{}} }, "needs a name", 1},
		"a caller that left": {ended, func(o *registry.Options) {
			o.Dirs = []string{tree(t, "-- a/HOOK.md --\n+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")}
		}, "context canceled", 1},
	} {
		closed = 0
		opts := only()
		opts.Workspace, opts.Handlers = t.TempDir(), handlers()
		tc.change(&opts)
		reg, err := registry.Open(tc.ctx, opts)
		if reg != nil || err == nil || !strings.HasPrefix(err.Error(), "open hooks: ") || !strings.Contains(err.Error(), tc.want) || closed != tc.closes {
			t.Errorf("%s: %v; %d handlers were closed", name, err, closed)
		}
	}
	opts := only()
	t.Chdir(t.TempDir())
	here, _ := os.Getwd()
	reg, err := registry.Open(t.Context(), opts)
	if err != nil || reg.Workspace() != here {
		t.Fatalf("%v: the workspace is %s", err, reg.Workspace())
	}
	reg.Close()
}

// closing counts how often it is closed.
type closing struct{ n *int }

func (closing) Handle(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }
func (c closing) Close() error                                           { *c.n++; return nil }

// uncomparable is a handler whose values cannot be compared.
type uncomparable struct {
	hook.HandlerFunc
	closed *atomic.Int32
}

func (c uncomparable) Close() error { c.closed.Add(1); return nil }

func TestHandlersThatCannotBeComparedAreClosed(t *testing.T) {
	var closed atomic.Int32
	opts := only()
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: uncomparable{closed: &closed}, hook.KindMCP: uncomparable{closed: &closed}}
	if err := open(t, opts).Close(); err != nil || closed.Load() != 2 {
		t.Errorf("%v, %d were closed", err, closed.Load())
	}
}
