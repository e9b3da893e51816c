package registry_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func denies(name string) string {
	return "-- " + name + "/HOOK.md --\n+++\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\n+++\n"
}

func scopes(t *testing.T) registry.Options {
	base := t.TempDir()
	opts := registry.Options{Workspace: filepath.Join(base, "w"), ManagedDir: filepath.Join(base, "managed"),
		UserDir: filepath.Join(base, "user"), PluginsDir: filepath.Join(base, "plugins")}
	for _, dir := range []string{opts.Workspace, opts.ManagedDir, opts.UserDir, opts.PluginsDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return opts
}

func put(t *testing.T, dir, archive string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(tree(t, archive))); err != nil {
		t.Fatal(err)
	}
}

func TestF10NearerScopeShadowsButNeverAManagedHook(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("managed hooks must be root's: run as root to see them run")
	}
	opts := scopes(t)
	put(t, filepath.Join(opts.ManagedDir, "hooks"), denies("guard"))
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	dir := tree(t, denies("a")+denies("b"))
	opts.Dirs = []string{dir}
	reg := open(t, opts)
	var got []string
	for _, l := range reg.List() {
		got = append(got, l.Hook.ID+" "+filepath.Base(l.Hook.Source.Dir)+" "+string(l.State))
	}
	want := []string{"managed/guard guard ready", "user/guard guard shadowed", "dir/guard a ready", "dir/guard b shadowed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWorkspaceHooksDoNotRunUnapprovedAndShadowNothing(t *testing.T) {
	opts := scopes(t)
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), denies("guard"))
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "local", "hooks"), denies("guard"))
	put(t, filepath.Join(opts.PluginsDir, "pack", "hooks"), denies("guard"))
	reg := open(t, opts)
	want := []string{"user/guard blocked", "project/guard skipped untrusted", "local/guard skipped untrusted", "plugin/pack/guard skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestF5FolderThatOthersCanWriteIsNotTrusted(t *testing.T) {
	opts := scopes(t)
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	if err := os.Chmod(filepath.Join(opts.UserDir, "hooks"), 0o777); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	l := state(t, reg, "user/guard")
	if l.State != hook.StateUntrusted || !hook.HasErrors(reg.Diagnostics()) {
		t.Errorf("%s %q %v", l.State, l.Why, reg.Diagnostics())
	}
}
