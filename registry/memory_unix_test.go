//go:build !windows

package registry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// Of folders that cannot be read everything stays as it was, in order, and
// nothing of other folders, products and packages is mixed in.
func TestAllThatAFolderHeldStaysWhileItCannotBeRead(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"copilot", "kiro"}
	home := filepath.Join(filepath.Dir(opts.Workspace), "home")
	names := []string{"d", "b", "e", "a", "c"}
	for _, name := range names {
		write(t, filepath.Join(opts.UserDir, "hooks", name, "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
		write(t, filepath.Join(home, ".copilot", "hooks", name+".json"), `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}`)
		write(t, filepath.Join(home, ".kiro", "agents", name+".json"), `{"name": "a", "hooks": {"preToolUse": [{"matcher": "*", "command": "true"}]}}`)
		write(t, filepath.Join(opts.PluginsDir, name, "hooks", "hooks.json"), handlers("PreToolUse", "true"))
		write(t, filepath.Join(opts.PluginsDir, name, "hooks", "h", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	}
	reg := open(t, opts)
	listed := func() (list []string) {
		for _, l := range reg.List() {
			list = append(list, l.Hook.ID)
		}
		return list
	}
	want := listed()
	if len(want) != 5*len(names) {
		t.Fatal(want)
	}
	for folder, kept := range map[string]string{
		filepath.Join(opts.UserDir, "hooks"):     "user/",
		filepath.Join(home, ".copilot", "hooks"): "user/copilot/",
		filepath.Join(home, ".kiro", "agents"):   "user/kiro/",
		opts.PluginsDir:                          "plugin/",
	} {
		closed := func() error { return os.WriteFile(folder, nil, 0o644) }
		if folder == opts.PluginsDir {
			closed = func() error { return os.Symlink(folder, folder) }
		}
		if err := errors.Join(os.Rename(folder, folder+"-away"), closed()); err != nil {
			t.Fatal(err)
		}
		changed := reload(t, reg)
		if n := len(changed.Kept); n != len(names) && (folder != opts.PluginsDir || n != 2*len(names)) || !slices.IsSorted(changed.Kept) || slices.ContainsFunc(changed.Kept, func(id string) bool { return !strings.HasPrefix(id, kept) }) {
			t.Errorf("%s: %q", folder, summary(changed))
		}
		if diff := cmp.Diff(want, listed()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", folder, diff)
		}
		if again := reload(t, reg); again.Any() {
			t.Errorf("%s: nothing changed: %q", folder, summary(again))
		}
		if err := errors.Join(os.Remove(folder), os.Rename(folder+"-away", folder)); err != nil {
			t.Fatal(err)
		}
		reload(t, reg)
		if diff := cmp.Diff(want, listed()); diff != "" || has(reg.Diagnostics(), "kept_last_good", "") {
			t.Errorf("%s, back again: %s %v", folder, diff, reg.Diagnostics())
		}
	}
}

// A settings file that was broken from the start is kept as nothing, and one that
// is broken in another way as it was.
func TestBrokenSettingsOfTheStartAreKeptAsNothing(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "settings.json")
	write(t, file, "{")
	reg := open(t, opts)
	for _, step := range []struct{ text, want string }{
		{"[", "settings"}, {handlers("PreToolUse", "exit 2"), "+user/settings.json:PreToolUse[0].0 -user/settings.json settings"},
		{"{", "=user/settings.json:PreToolUse[0].0 settings"}, {"[", "=user/settings.json:PreToolUse[0].0 settings"}, {handlers("PreToolUse", "exit 2"), "settings"}, {handlers("PreToolUse", "exit 3"), "~user/settings.json:PreToolUse[0].0 settings"},
	} {
		write(t, file, step.text)
		changed := reload(t, reg)
		if got := summary(changed); got != step.want {
			t.Errorf("%.10s: %q, want %q", step.text, got, step.want)
		}
		if again := reload(t, reg); again.Any() {
			t.Errorf("%.10s: nothing changed: %q", step.text, summary(again))
		}
	}
}

// A registry of named folders alone watches those, and one over another file
// system nothing.
func TestWatchOfNamedFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	opts := only(dir)
	opts.StateDir = t.TempDir()
	reg := open(t, opts)
	told, end := watch(t, reg)
	defer end()
	settle()
	write(t, filepath.Join(reg.Workspace(), ".tenterhook", "hooks", "w", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	write(t, filepath.Join(dir, "a", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	await(t, told, "+dir/a")
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	await(t, told, "-dir/a")
	opts.FS = afero.NewMemMapFs()
	if err := open(t, opts).Watch(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "own file system") {
		t.Errorf("%v", err)
	}
}

// A list of disabled hooks that cannot be relied on disables none, and says so.
func TestDamagedListOfDisabledHooksIsTold(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	write(t, filepath.Join(opts.StateDir, "disabled.json"), "{")
	reg := open(t, opts)
	if !has(reg.Diagnostics(), "disabled_list", "no hook is disabled") || dispatch(t, reg, bash("ls")).Verdict != hook.Deny {
		t.Errorf("%v", reg.Diagnostics())
	}
}

// What needs an approval says where it comes from and what its approval is kept by.
func TestSubjectSaysItsRootAndItsKey(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), denies("guard"))
	put(t, filepath.Join(opts.PluginsDir, "pack", "hooks"), denies("guard"))
	roots := map[string]string{"project/guard": opts.Workspace, "plugin/pack/guard": filepath.Join(opts.PluginsDir, "pack")}
	for _, s := range open(t, opts).Subjects() {
		id := s.Hooks[0].ID
		key, err := s.Key()
		want, _ := filepath.EvalSymlinks(roots[id])
		if s.Root() != roots[id] || err != nil || key.ID != id || key.Root != want || key == (trust.Key{}) || s.Verdict.Approved {
			t.Errorf("%s: root %s, key %+v, %v", id, s.Root(), key, err)
		}
		delete(roots, id)
	}
	if len(roots) != 0 {
		t.Errorf("no subject: %v", roots)
	}
}

// prober can be probed and warmed, and fails at both for one hook.
type prober struct{ starter }

func (p *prober) Probe(_ context.Context, h *hook.Hook) error {
	if h.Name != "good" {
		return errors.New("not reached")
	}
	return nil
}

// Probe asks handlers that can be probed, and else the ones that can be warmed.
func TestProbeSaysWhatIsNotReached(t *testing.T) {
	for want, handler := range map[string]hook.Handler{
		"dir/bad not reached, dir/worse not reached": &prober{}, "dir/bad no server, dir/worse no server": &starter{}, "": hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }),
	} {
		opts := only(tree(t, someServers))
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindMCP: handler}
		reg := open(t, opts)
		unreached, err := reg.Probe(t.Context())
		var got []string
		for _, u := range unreached {
			got = append(got, u.Hook.ID+" "+u.Err.Error())
		}
		if strings.Join(got, ", ") != want || err != nil {
			t.Errorf("%v, %v, want %q", got, err, want)
		}
		if err := reg.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := reg.Probe(t.Context()); !errors.Is(err, registry.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
}

// What is written again within a tick of the file system's clock, of the same
// size, is read again: a stamp that young says nothing.
func TestReloadSeesAFileThatIsWrittenTwiceAtOnce(t *testing.T) {
	opts := machine(t, "")
	folder, settings := filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), filepath.Join(opts.UserDir, "settings.toml")
	reg := open(t, opts)
	for i := range 60 {
		name := string(rune('a' + i%2))
		write(t, folder, "+++\nevent = \"Stop\"\ncommand = \"true\"\ndescription = \""+name+"\"\n+++\n")
		write(t, settings, "[[hooks.Stop]]\nname = \"s\"\ncommand = \"true\"\ndescription = \""+name+"\"\n")
		reload(t, reg)
		for _, l := range reg.List() {
			if l.Hook.Description != name {
				t.Fatalf("%s is as it was before the %dth write", l.Hook.ID, i)
			}
		}
	}
}

// What stands in the place of a folder, and others could have put there,
// keeps nothing of what the folder held.
func TestFolderThatOthersReplacedKeepsNothing(t *testing.T) {
	for mode, keeps := range map[os.FileMode]bool{0o644: true, 0o666: false} {
		opts := machine(t, "")
		opts.Compat = []string{"copilot"}
		copilot := filepath.Join(filepath.Dir(opts.Workspace), "home", ".copilot", "hooks")
		write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
		write(t, filepath.Join(copilot, "a.json"), `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}`)
		reg := open(t, opts)
		for _, folder := range []string{filepath.Join(opts.UserDir, "hooks"), copilot} {
			if err := os.Rename(folder, folder+"-away"); err != nil {
				t.Fatal(err)
			}
			write(t, folder, "")
			chmod(t, folder, mode)
		}
		changed := reload(t, reg)
		if (len(changed.Kept) == 2) != keeps || (len(changed.Removed) == 2) == keeps {
			t.Errorf("%v: %q", mode, summary(changed))
		}
		for _, r := range dispatch(t, reg, bash("ls")).Results {
			if (r.Status != hook.StatusSkipped) != keeps { // without its folder it may fail
				t.Errorf("%v: %s %s", mode, r.Hook.ID, r.Status)
			}
		}
	}
}
