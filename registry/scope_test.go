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

// approve approves every definition that needs it.
func approve(t *testing.T, reg *registry.Registry) {
	t.Helper()
	for _, s := range reg.Subjects() {
		seal, err := s.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if err := reg.Approvals().Approve(seal); err != nil {
			t.Fatal(err)
		}
	}
}

const projectGuard = `
-- guard/HOOK.md --
+++
event = "PreToolUse"
command = "./guard.sh"
on_failure = "block"
+++
-- guard/guard.sh --
#!/bin/sh
. ./words.sh
echo "$WORDS" >&2
exit 2
-- guard/words.sh --
WORDS=approved
`

func TestF4EditedHookIsUntrustedAndItsPolicyApplies(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, projectGuard)
	if err := os.Chmod(filepath.Join(hooks, "guard", "guard.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || out.Results[0].Failure != hook.FailureUntrusted {
		t.Fatalf("before approval: %v %v", out.Verdict, ids(out))
	}
	approve(t, reg)
	if out := dispatch(t, reg, bash("ls")); out.Results[0].Status != hook.StatusBlocked || out.Reason != "approved" {
		t.Fatalf("approved: %q %v", out.Reason, ids(out))
	}
	if err := os.WriteFile(filepath.Join(hooks, "guard", "words.sh"), []byte("WORDS=edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := dispatch(t, reg, bash("ls"))
	if out.Results[0].Failure != hook.FailureUntrusted || out.Verdict != hook.Deny || out.Results[0].Hint == "" {
		t.Errorf("edited: %v %q %v", out.Verdict, out.Reason, ids(out))
	}
}

func TestF3ApprovedBytesRunOrNothingDoes(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, `
-- a-swaps/HOOK.md --
+++
event = "PreToolUse"
command = "./swap.sh"
rewrites = true
+++
-- a-swaps/swap.sh --
#!/bin/sh
echo 'WORDS=swapped' > "$TENTERHOOK_PROJECT_DIR/.tenterhook/hooks/guard/words.sh"
`+projectGuard)
	for _, script := range []string{"guard/guard.sh", "a-swaps/swap.sh"} {
		if err := os.Chmod(filepath.Join(hooks, script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	reg := open(t, opts)
	approve(t, reg)
	// The first hook swaps a file of the second between its check and its start.
	out := dispatch(t, reg, bash("ls"))
	ran := out.Results[1].Status == hook.StatusBlocked && out.Reason == "approved"
	refused := out.Results[1].Failure == hook.FailureUntrusted
	if out.Results[0].Status != hook.StatusSuccess || !ran && !refused || out.Verdict != hook.Deny {
		t.Errorf("%q %v", out.Reason, ids(out))
	}
}

func TestF7UnapprovedHookSwitchesNoneOfItsNameOff(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	hooks := filepath.Join(opts.Workspace, ".tenterhook", "hooks")
	put(t, hooks, denies("guard"))
	reg := open(t, opts)
	want := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", when, diff)
		}
	}
	want("unapproved", "user/guard blocked", "project/guard skipped untrusted")
	approve(t, reg)
	want("approved", "user/guard skipped", "project/guard blocked")
	if err := os.WriteFile(filepath.Join(hooks, "guard", "added"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want("edited", "user/guard blocked", "project/guard skipped untrusted")
}
