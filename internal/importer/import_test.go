package importer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/importer"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// places are where a product's file is below a home directory, by its ending.
var places = map[string]string{"claude.json": ".claude/settings.json", "codex.json": ".codex/hooks.json", "codex.toml": ".codex/config.toml",
	"gemini.json": ".gemini/settings.json", "caliban.toml": ".config/caliban/settings.toml", "cursor.json": ".cursor/hooks.json"}

func TestImportedFoldersDecideAsTheOriginalFilesDo(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*.*")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, ending, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(filepath.Base(file), func(t *testing.T) {
			hooks, left := compare(t, ending, data)
			t.Logf("%d folders, %d left out", hooks, left)
			if hooks == 0 {
				t.Error("nothing was imported")
			}
		})
	}
}

// compare imports a file, and holds the outcome of 30 events against those of the
// file itself.
func compare(t *testing.T, ending string, data []byte) (folders, left int) {
	home, workspace, to := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "to")
	path := filepath.Join(home, places[ending])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	agent, _, _ := strings.Cut(ending, ".")
	at := importer.Bases{Workspace: workspace, Home: home, ConfigHome: filepath.Join(home, ".config")}
	files, err := importer.Find(t.Context(), agent, at)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	made := importer.Make(importer.Options{Agent: agent, Files: files, At: at, Together: true})
	if _, err := importer.Write(to, agent, made.Folders, true); err != nil {
		t.Fatal(err)
	}
	open := func(o registry.Options) *registry.Registry {
		o.Workspace, o.UserDir, o.StateDir, o.ManagedDir = workspace, filepath.Join(home, ".config", "tenterhook"), filepath.Join(home, "state"), filepath.Join(home, "managed")
		o.Env, o.Handlers = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, map[hook.Kind]hook.Handler{}
		for _, k := range []hook.Kind{hook.KindCommand, hook.KindHTTP, hook.KindMCP, hook.KindPrompt, hook.KindAgent} {
			o.Handlers[k] = hook.HandlerFunc(oracle)
		}
		r, err := registry.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	original, copied := open(registry.Options{Compat: []string{agent}}), open(registry.Options{Dirs: []string{to}})
	for i, in := range events(t, original, data) {
		was, now := outcome(t, original, in), outcome(t, copied, in)
		if diff := cmp.Diff(was, now); diff != "" {
			text, _ := json.Marshal(in)
			t.Errorf("event %d: %s\n%s\nnotes: %v, left out: %v", i, text, diff, notes(made), made.Left)
		}
	}
	return len(made.Folders), len(made.Left)
}

func notes(r *importer.Result) (list []string) {
	for _, f := range r.Folders {
		list = append(list, f.Notes...)
	}
	return append(list, r.Notes...)
}

// definition is what decides what a hook runs. When it runs is seen by that.
func definition(h *hook.Hook) string {
	own := *h
	own.Event, own.Matcher, own.Syntax, own.If = "", "", "", nil
	own.Params = nil
	bound, _ := trust.Define(&own)
	var params any
	text, _ := json.Marshal(h.Params)
	_ = json.Unmarshal(text, &params)
	text, _ = json.Marshal(params)
	dir := h.Source.Dir
	if h.Command == nil {
		dir = ""
	}
	return string(bound) + string(text) + dir + h.StatusMessage
}

// oracle answers by a hash of the hook's definition and of the event: whatever is
// lost on the way changes an answer.
func oracle(_ context.Context, c *hook.Call) (*hook.Output, error) {
	sum := fnv.New32()
	fmt.Fprint(sum, definition(c.Hook), string(c.Payload), c.Dir, c.ProjectDir, c.Hook.Event)
	text := fmt.Sprintf("%x", sum.Sum32())
	switch sum.Sum32() % 7 {
	case 0:
		return &hook.Output{Verdict: hook.Deny, Reason: text}, nil
	case 1:
		return &hook.Output{Verdict: hook.Ask, Reason: text}, nil
	case 2:
		return &hook.Output{Verdict: hook.Allow, Reason: text}, nil
	case 3, 4:
		return &hook.Output{Context: text}, nil
	case 5:
		return nil, hook.Errorf(hook.FailureExit, "failed %s", text)
	}
	return &hook.Output{SystemMessage: text}, nil
}

// outcome is what an event comes to, without the names of hooks.
func outcome(t *testing.T, r *registry.Registry, in hook.Input) map[string]any {
	out, err := r.Dispatch(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	reason, ran := out.Reason, []string{}
	for _, res := range out.Results {
		reason = strings.ReplaceAll(reason, res.Hook.ID, "ID")
		if res.Status != hook.StatusSkipped {
			ran = append(ran, fmt.Sprint(definition(res.Hook), " ", res.Status, " ", res.Failure, " ", res.Verdict()))
		}
	}
	return map[string]any{"verdict": out.Verdict.String(), "reason": reason, "stop": out.Stop, "contexts": out.Contexts, "messages": out.SystemMessages, "ran": ran}
}

var (
	words    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	commands = []string{"ls", "git push --force", "rm -rf /", "npm test && git commit -m x", "sudo git status", "echo 'a b' | tee f.txt", "cat .env"}
	tools    = []string{"Bash", "Edit", "Write", "MultiEdit", "Read", "Task", "WebFetch", "mcp__fs__write_file", "apply_patch", "startup", "manual", "shell"}
)

// events generates 30 events, of the ones that the file has hooks for.
func events(t *testing.T, r *registry.Registry, data []byte) []hook.Input {
	sum := fnv.New64()
	sum.Write(data)
	random := rand.New(rand.NewSource(int64(sum.Sum64())))
	names, subjects := []hook.Event{hook.EventPreToolUse, hook.EventPostToolUse}, slices.Clone(tools)
	lines := slices.Clone(commands)
	for _, l := range r.List() {
		names = append(names, l.Hook.Event)
		subjects = append(subjects, words.FindAllString(l.Hook.Matcher, -1)...)
		for _, rule := range l.Hook.If {
			if _, inside, ok := strings.Cut(strings.TrimSuffix(rule, ")"), "("); ok {
				lines = append(lines, strings.ReplaceAll(inside, "*", "x"))
			}
		}
	}
	pick := func(list []string) string { return list[random.Intn(len(list))] }
	var list []hook.Input
	for i := range 30 {
		name := names[random.Intn(len(names))]
		if name == "" {
			name = hook.EventPreToolUse
		}
		event := map[string]any{"hook_event_name": name, "session_id": fmt.Sprint("s", i%3), "tool_name": pick(subjects), "prompt": pick(lines),
			"tool_input": map[string]any{"command": pick(lines), "file_path": pick([]string{"a.go", "src/x.ts", ".env", "/etc/passwd"})}, "tool_response": map[string]any{"ok": true}}
		if field := hook.Info(name).MatcherField; field != "" {
			event[field] = pick(subjects)
		}
		text, _ := json.Marshal(event)
		in, err := hook.DecodeInput(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, in)
	}
	return list
}

// What is wrong with a file decides what the error says to do.
func TestAFileThatCannotBeImportedIsNamedWithItsRemedy(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.json")
	if err := os.WriteFile(large, make([]byte, dialect.MaxConfig+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:   dir + ": it is no regular file; name a config file of the agent",
		large: large + ": it is larger than 1 MiB; move what declares no hooks into another file",
	} {
		if _, err := importer.ReadFile(path, importer.Bases{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	gone := filepath.Join(dir, "gone")
	if _, err := importer.ReadFile(gone, importer.Bases{}); !os.IsNotExist(err) || strings.Count(err.Error(), gone) != 1 {
		t.Error(err)
	}
}
