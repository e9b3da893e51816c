package registry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/registry"
)

const says = "+++\nevent = \"PreToolUse\"\ncommand = \"echo %s >&2; exit 2\"\n+++\n"

func reload(t testing.TB, reg *registry.Registry) *registry.Reloaded {
	t.Helper()
	changed, err := reg.Reload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// summary is what a reload changed, in a line.
func summary(c *registry.Reloaded) string {
	var parts []string
	for _, list := range []struct {
		sign string
		ids  []string
	}{{"+", c.Added}, {"-", c.Removed}, {"~", c.Changed}, {"=", c.Kept}} {
		for _, id := range list.ids {
			parts = append(parts, list.sign+id)
		}
	}
	if c.Settings {
		parts = append(parts, "settings")
	}
	return strings.Join(parts, " ")
}

func TestReloadTakesOverWhatChangedAndNothingElse(t *testing.T) {
	takesOver(t, reload)
}

func TestRefreshTakesOverWhatChangedAndNothingElse(t *testing.T) {
	takesOver(t, refresh)
}

func refresh(t testing.TB, reg *registry.Registry) *registry.Reloaded {
	t.Helper()
	changed, err := reg.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestRefreshThatWasCancelledFails(t *testing.T) {
	reg := open(t, machine(t, ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if changed, err := reg.Refresh(ctx); !errors.Is(err, context.Canceled) || changed != nil && changed.Any() {
		t.Errorf("got %+v, %v", changed, err)
	}
}

func takesOver(t *testing.T, reload func(testing.TB, *registry.Registry) *registry.Reloaded) {
	opts := machine(t, "")
	hooks := filepath.Join(opts.UserDir, "hooks")
	file := func(name string) string { return filepath.Join(hooks, name, "HOOK.md") }
	for _, name := range []string{"a", "b"} {
		write(t, file(name), fmt.Sprintf(says, name))
	}
	reg := open(t, opts)
	untouched := state(t, reg, "user/a").Hook
	step := func(what, want string, do func()) {
		t.Helper()
		do()
		if got := summary(reload(t, reg)); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		if again := reload(t, reg); again.Any() {
			t.Errorf("%s, and once more: %q", what, summary(again))
		}
	}
	step("nothing", "", func() {})
	step("a hook is added", "+user/c", func() { write(t, file("c"), fmt.Sprintf(says, "c")) })
	step("one is edited", "~user/b", func() { write(t, file("b"), fmt.Sprintf(says, "B")) })
	if out := dispatch(t, reg, bash("ls")); out.Results[1].Reason != "B" {
		t.Errorf("the edited hook says %q", out.Results[1].Reason)
	}
	step("its text is edited", "~user/b", func() { write(t, file("b"), fmt.Sprintf(says, "B")+"For the reader.\n") })
	step("one is removed", "-user/c", func() { _ = os.RemoveAll(filepath.Join(hooks, "c")) })
	step("settings appear", "settings", func() { write(t, filepath.Join(opts.UserDir, "settings.toml"), `disabled = ["user/b"]`) })
	if l := state(t, reg, "user/b"); l.State != hook.StateDisabled {
		t.Errorf("disabled by settings: %s", l.State)
	}
	step("settings go", "settings", func() { _ = os.Remove(filepath.Join(opts.UserDir, "settings.toml")) })
	step("a file is touched", "", func() {
		if err := os.Chtimes(file("a"), time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
	})
	if now := state(t, reg, "user/a").Hook; now != untouched {
		t.Error("an unchanged hook was parsed again")
	}
}

func TestReloadKeepsTheLastGoodOfWhatIsBroken(t *testing.T) {
	opts := machine(t, "")
	file, settings := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), filepath.Join(opts.UserDir, "settings.toml")
	write(t, file, fmt.Sprintf(says, "good"))
	write(t, settings, "[[hooks.PreToolUse]]\ncommand = \"exit 2\"\n")
	reg := open(t, opts)
	write(t, file, "+++\nevent = \n+++\n")
	write(t, settings, "[[hooks\n")
	want := "=user/a =user/settings.toml:PreToolUse[0] settings"
	if got := summary(reload(t, reg)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 2 {
		if diff := cmp.Diff([]string{"user/a blocked", "user/settings.toml:PreToolUse[0] blocked"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		kept := 0
		for _, d := range reg.Diagnostics() {
			if d.Code == "kept_last_good" {
				kept++
			}
		}
		if kept != 2 || !hook.HasErrors(reg.Diagnostics()) {
			t.Errorf("%d files are said to be kept: %v", kept, reg.Diagnostics())
		}
		time.Sleep(150 * time.Millisecond) // the stamps are then old enough to count
		if again := reload(t, reg); again.Any() {
			t.Errorf("once more: %q", summary(again))
		}
	}
	write(t, file, fmt.Sprintf(says, "better"))
	if got := summary(reload(t, reg)); got != "~user/a" {
		t.Errorf("mended: %q", got)
	}
	if slices.ContainsFunc(reg.Diagnostics(), func(d hook.Diagnostic) bool { return d.Path == file }) {
		t.Errorf("mended, and still: %v", reg.Diagnostics())
	}
}

func TestReloadForgetsNeitherOnceNorBreakers(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreToolUse\"\nonce = true\ncommand = \"true\"\n+++\n")
	write(t, filepath.Join(opts.UserDir, "hooks", "b", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"exit 3\"\n[breaker]\nfailures = 1\n+++\n")
	reg := open(t, opts)
	dispatch(t, reg, bash("ls"))
	write(t, filepath.Join(opts.UserDir, "hooks", "c", "HOOK.md"), fmt.Sprintf(says, "c"))
	reload(t, reg)
	want := []string{"user/b failed breaker_open", "user/c blocked"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What runs once is known by its hook: the host's own keeps its run, and a file's
// hook that was edited gets another.
func TestReloadGivesAnotherRunToTheHooksThatChangedAlone(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md")
	write(t, file, "+++\nevent = \"PreToolUse\"\nonce = true\ncommand = \"true\"\n+++\n")
	reg := open(t, opts)
	on(t, reg, "own", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }, once)
	if got := dispatch(t, reg, bash("ls")); len(got.Results) != 2 {
		t.Fatal(ids(got))
	}
	write(t, filepath.Join(opts.UserDir, "hooks", "c", "HOOK.md"), fmt.Sprintf(says, "c"))
	reload(t, reg)
	if diff := cmp.Diff([]string{"user/c blocked"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("another hook came: -want +got:\n%s", diff)
	}
	write(t, file, "+++\nevent = \"PreToolUse\"\nonce = true\ncommand = \"exit 0\"\n+++\n")
	reload(t, reg)
	if diff := cmp.Diff([]string{"user/a success", "user/c blocked"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("one was edited: -want +got:\n%s", diff)
	}
}

func TestReloadForgetsTheBreakersOfAllHooksThatChanged(t *testing.T) {
	opts := machine(t, "")
	declare := func(name, command string) {
		write(t, filepath.Join(opts.UserDir, "hooks", name, "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \""+command+"\"\n[breaker]\nfailures = 1\n+++\n")
	}
	for _, name := range []string{"a", "b", "c"} {
		declare(name, "exit 3")
	}
	reg := open(t, opts)
	dispatch(t, reg, bash("ls"))
	if diff := cmp.Diff([]string{"user/a failed breaker_open", "user/b failed breaker_open", "user/c failed breaker_open"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	declare("a", "true")
	declare("c", "exit 0")
	reload(t, reg)
	if diff := cmp.Diff([]string{"user/a success", "user/b failed breaker_open", "user/c success"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReloadOfAClosedRegistryFails(t *testing.T) {
	reg := open(t, only())
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reg.Reload(t.Context()); err == nil {
		t.Error("it reloads")
	}
}

// Each dispatch sees the hooks of one load: all of them say the same word.
func TestF11ReloadWhileDispatchesRun(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "c"}
	declare := func(word string) {
		for _, name := range names {
			write(t, filepath.Join(dir, name, "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"http\"\nurl = \"https://"+word+"\"\n+++\n")
		}
	}
	declare("w0")
	opts := only(dir)
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })}
	reg := open(t, opts)
	done := make(chan struct{})
	var dispatched atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			for {
				out, err := reg.Dispatch(t.Context(), bash("ls"))
				if err != nil {
					t.Error(err)
					return
				}
				said := make(map[string]bool)
				for _, r := range out.Results {
					said[string(r.Hook.Params["url"])] = true
				}
				if len(out.Results) != len(names) || len(said) > 1 {
					t.Errorf("%d results of several loads: %v", len(out.Results), said)
				}
				dispatched.Add(1)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 20 {
		if i%4 == 3 {
			write(t, filepath.Join(dir, "a", "HOOK.md"), "+++\nbroken\n+++\n")
			reload(t, reg) // keeps the last good one
		}
		declare(fmt.Sprint("w", i+1))
		reload(t, reg)
	}
	close(done)
	wg.Wait()
	if dispatched.Load() < 200 {
		t.Errorf("only %d dispatches", dispatched.Load())
	}
}

// What others can write must not run because its manifest is broken too.
func TestF5BrokenAndWritableByOthersIsNotKept(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write")
	opts := machine(t, "")
	file, settings := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), filepath.Join(opts.UserDir, "settings.toml")
	write(t, file, fmt.Sprintf(says, "good"))
	write(t, settings, "[[hooks.PreToolUse]]\ncommand = \"exit 2\"\n")
	reg := open(t, opts)
	for path, text := range map[string]string{file: "+++\nevent = \n+++\n", settings: "[[hooks\n"} {
		write(t, path, text)
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	reload(t, reg)
	for _, r := range dispatch(t, reg, bash("ls")).Results {
		if r.Status != hook.StatusSkipped {
			t.Errorf("%s: %s", r.Hook.ID, r.Status)
		}
	}
}
