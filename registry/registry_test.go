package registry_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// only is Options without the machine's own scopes.
func only(dirs ...string) registry.Options {
	return registry.Options{Dirs: dirs, Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}}
}

// tree writes a txtar archive to a folder; files that begin with #! may be
// executed.
func tree(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if len(f.Data) > 2 && string(f.Data[:2]) == "#!" {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// remedied sees that what the registry itself says of a fault says where it is, if
// anywhere, and what to do about it.
func remedied(t testing.TB, notes []hook.Diagnostic) {
	t.Helper()
	placed := map[string]bool{"callback_failed": false, "handler_failed": false, "setting_ignored": true, "unknown_hook": true, "duplicate_hook": true, "shadowed": true,
		"deprecated": true, "superseded": true, "ref_missing": true, "kept_last_good": true, "unreadable": true, "second_rewrite": true,
		"untrusted": true, "ineligible": true, "matcher_invalid": true, "disabled_list": false}
	for _, d := range notes {
		if d.Severity == "" || d.Code == "" || d.Message == "" {
			t.Errorf("a diagnostic that says nothing: %+v", d)
		}
		if somewhere, own := placed[d.Code]; own && (d.Severity == "" || d.Message == "" || d.Hint == "" || somewhere && d.Path == "" && d.Hook == "") {
			t.Errorf("a diagnostic without its place or its remedy: %+v", d)
		}
	}
}

func open(t testing.TB, opts registry.Options) *registry.Registry {
	t.Helper()
	if opts.Workspace == "" {
		opts.Workspace = t.TempDir()
	}
	reg, err := registry.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = reg.Close()
		remedied(t, reg.Diagnostics())
	})
	return reg
}

func dispatch(t testing.TB, reg *registry.Registry, in hook.Input) *hook.Outcome {
	t.Helper()
	out, err := reg.Dispatch(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	remedied(t, out.Diagnostics)
	return out
}

// searchPath is PATH with folders before those of the system.
func searchPath(dirs ...string) string {
	system := []string{"/usr/bin", "/bin"}
	if runtime.GOOS == "windows" {
		system = []string{os.Getenv("PATH")}
	}
	return "PATH=" + strings.Join(append(dirs, system...), string(os.PathListSeparator))
}

// onDrive is an absolute path, on a drive where the system has drives, with slashes.
func onDrive(path string) string {
	path, _ = filepath.Abs(path)
	return filepath.ToSlash(path)
}

func bash(command string) hook.PreToolUse {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return hook.PreToolUse{ToolName: "Bash", ToolInput: raw}
}

func commandOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, raw json.RawMessage) string {
	t.Helper()
	var in struct{ Command string }
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return in.Command
}

type preToolUse = func(context.Context, hook.PreToolUse) (*hook.Output, error)

// on registers a callback for PreToolUse.
func on(t testing.TB, reg *registry.Registry, name string, fn preToolUse, configure ...func(*hook.Hook)) {
	t.Helper()
	if err := registry.On(reg, name, fn, configure...); err != nil {
		t.Fatal(err)
	}
}

func answer(out *hook.Output) preToolUse {
	return func(context.Context, hook.PreToolUse) (*hook.Output, error) { return out, nil }
}

func blocking(h *hook.Hook) { h.OnFailure = hook.FailureBlock }

func within(d time.Duration) func(*hook.Hook) { return func(h *hook.Hook) { h.Timeout = d } }

func rewrites(h *hook.Hook) { h.Rewrites = true }

// ids lists results as "id status failure".
func ids(out *hook.Outcome) []string {
	list := make([]string, len(out.Results))
	for i, r := range out.Results {
		list[i] = r.Hook.ID + " " + string(r.Status)
		if r.Failure != "" {
			list[i] += " " + string(r.Failure)
		}
	}
	return list
}

func state(t testing.TB, reg *registry.Registry, id string) registry.Listed {
	t.Helper()
	for _, l := range reg.List() {
		if l.Hook.ID == id {
			return l
		}
	}
	t.Fatalf("no hook %s", id)
	return registry.Listed{}
}

// What a hook requires of the environment is sought where hooks get theirs from.
func TestRequiredVariableIsOneOfTheHooksOwnEnvironment(t *testing.T) {
	t.Setenv("TENTERHOOK_TEST_TOKEN", "of this process")
	opts := only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n[requires]\nenvs = [\"TENTERHOOK_TEST_TOKEN\"]\n+++\n"))
	for variable, want := range map[string]struct {
		state hook.State
		empty bool
	}{
		"TENTERHOOK_TEST_TOKEN=x":   {hook.StateReady, false},
		"TENTERHOOK_TEST_TOKEN=":    {hook.StateIneligible, true},
		"TENTERHOOK_TEST_TOKEN":     {hook.StateIneligible, false},
		"TENTERHOOK_TEST_TOKENS=x":  {hook.StateIneligible, false},
		"XTENTERHOOK_TEST_TOKEN=x=": {hook.StateIneligible, false},
	} {
		opts.Env = []string{searchPath(), variable}
		if l := state(t, open(t, opts), "dir/a"); l.State != want.state || strings.Contains(l.Why, "it is empty") != want.empty {
			t.Errorf("%s: %s %q", variable, l.State, l.Why)
		}
	}
}
