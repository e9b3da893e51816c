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

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// Where no copy of what was approved can be had, an approved hook fails, also one
// that runs in the background or is asked again; nothing else runs in its place.
func TestApprovedHookWithoutItsCopyFails(t *testing.T) {
	for name, line := range map[string]string{"decides": "", "in the background": "async = true\n", "rewrites": "rewrites = true\n"} {
		opts := machine(t, "")
		put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"./guard.sh\"\n"+line+"+++\n-- guard/guard.sh --\n#!/bin/sh\nexit 2\n")
		reg := open(t, opts)
		approve(t, reg)
		write(t, filepath.Join(opts.StateDir, "snapshots"), "no folder")
		out := dispatch(t, reg, bash("ls"))
		if diff := cmp.Diff([]string{"project/guard failed untrusted"}, ids(out)); diff != "" || !strings.HasPrefix(out.Results[0].Reason, "what was approved cannot be run: ") {
			t.Errorf("%s: %q -want +got:\n%s", name, out.Results[0].Reason, diff)
		}
		if folder, err := reg.Folder(state(t, reg, "project/guard").Hook); folder != "" || err == nil {
			t.Errorf("%s: its folder is %q, %v", name, folder, err)
		}
		if err := os.Remove(filepath.Join(opts.StateDir, "snapshots")); err != nil {
			t.Fatal(err)
		}
		if out := dispatch(t, reg, bash("ls")); out.Results[0].Failure != "" {
			t.Errorf("%s: with room for the copy: %v", name, ids(out))
		}
	}
}

// Hooks that start no program are held to their approval immediately before they
// run, as programs are.
func TestHookThatStartsNothingLosesItsApprovalBeforeItRuns(t *testing.T) {
	for _, kind := range []hook.Kind{hook.KindHTTP, hook.KindMCP, hook.KindPrompt, hook.KindPlugin} {
		opts := machine(t, "")
		ran := 0
		opts.Handlers = map[hook.Kind]hook.Handler{kind: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) {
			ran++
			return hook.Denied("asked"), nil
		})}
		file := filepath.Join(opts.Workspace, ".tenterhook", "hooks", "guard", "HOOK.md")
		write(t, file, "+++\nevent = \"PreToolUse\"\ntype = \""+string(kind)+"\"\n"+declares[kind]+"\n[breaker]\nfailures = 1\n+++\n")
		put(t, filepath.Join(opts.UserDir, "hooks"), "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"./a.sh\"\nrewrites = true\n+++\n"+
			"-- a/a.sh --\n#!/bin/sh\ncase $(cat) in *revoke*) echo more >> '"+file+"' ;; esac\n")
		reg := open(t, opts)
		approve(t, reg)
		if r := own(t, dispatch(t, reg, bash("ls"))); r.Status != hook.StatusBlocked || ran != 1 {
			t.Errorf("%s, approved: %s %s %q", kind, r.Status, r.Failure, r.Reason)
		}
		if r := own(t, dispatch(t, reg, bash("revoke"))); r.Status != hook.StatusFailed || r.Failure != hook.FailureUntrusted || ran != 1 {
			t.Errorf("%s, changed on the way: %s %s %q", kind, r.Status, r.Failure, r.Reason)
		}
		if r := own(t, dispatch(t, reg, bash("ls"))); r.Status != hook.StatusSkipped || r.Failure != hook.FailureUntrusted {
			t.Errorf("%s, after it: %s %s %q", kind, r.Status, r.Failure, r.Reason)
		}
		approve(t, reg)
		if r := own(t, dispatch(t, reg, bash("ls"))); r.Status != hook.StatusBlocked {
			t.Errorf("%s, approved anew: %s %s %q: that it was not run counts as no failure", kind, r.Status, r.Failure, r.Reason)
		}
	}
}

// Folder is where a hook runs: its own folder, or the copy of what was approved.
func TestFolderIsWhereAHookRuns(t *testing.T) {
	opts := machine(t, "")
	dir := tree(t, "-- named/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	opts.Dirs = []string{dir}
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"./guard.sh\"\n+++\n-- guard/guard.sh --\n#!/bin/sh\nexit 2\n")
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "true"`))
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(`"command": "true"`))
	reg := open(t, opts)
	on(t, reg, "callback", answer(nil))
	folders := func() map[string]string {
		got := make(map[string]string)
		for _, l := range reg.List() {
			folder, err := reg.Folder(l.Hook)
			if err != nil {
				folder = err.Error()
			}
			got[l.Hook.ID] = folder
		}
		return got
	}
	want := map[string]string{"dir/named": filepath.Join(dir, "named"), "user/settings.json:PreToolUse[0].0": "", "in-process/callback": ""}
	refused := func(when, why string) {
		t.Helper()
		var refused *hook.Error
		folder, err := reg.Folder(state(t, reg, "project/guard").Hook)
		if folder != "" || !errors.As(err, &refused) || refused.Failure != hook.FailureUntrusted || !strings.Contains(refused.Reason, why) || refused.Hint == "" {
			t.Errorf("%s: %q, %+v", when, folder, refused)
		}
	}
	refused("not approved", "it is not approved")
	got := folders()
	delete(got, "project/guard")
	delete(got, "project/settings.json:PreToolUse[0].0")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	approve(t, reg)
	if folder := folders()["project/settings.json:PreToolUse[0].0"]; folder != "" {
		t.Errorf("of a config file: %q", folder)
	}
	guard := folders()["project/guard"]
	if data, err := os.ReadFile(filepath.Join(guard, "guard.sh")); err != nil || string(data) != "#!/bin/sh\nexit 2\n" || !strings.HasPrefix(guard, opts.StateDir) {
		t.Errorf("approved: %q, %v", guard, err)
	}
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks", "guard", "guard.sh"), "other")
	refused("changed", "changed since")
	write(t, filepath.Join(opts.UserDir, "hooks", "open", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n")
	chmod(t, filepath.Join(opts.UserDir, "hooks", "open"), 0o777)
	reload(t, reg)
	var writable *hook.Error
	l := state(t, reg, "user/open")
	if _, err := reg.Folder(l.Hook); !errors.As(err, &writable) || writable.Failure != hook.FailureUntrusted || writable.Reason != l.Why || l.State != hook.StateUntrusted {
		t.Errorf("writable by all: %+v, the list says %s %q", writable, l.State, l.Why)
	}
	if folder, err := reg.Folder(&hook.Hook{}); folder != "" || err != nil {
		t.Errorf("of no hook: %q, %v", folder, err)
	}
}

// What a plugin says it has is a hook, unless a HOOK.md beside it configures one
// of that name; one of several events is one definition. A reload that finds the
// same changes nothing.
func TestHooksThatAPluginDescribesAreThoseThatNothingConfigures(t *testing.T) {
	opts := machine(t, "")
	pack := filepath.Join(opts.PluginsDir, "pack")
	write(t, filepath.Join(pack, "binary"), "")
	write(t, filepath.Join(pack, "hooks", "configured", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ntype = \"plugin\"\n+++\n")
	of := func(name string, event hook.Event) *hook.Hook {
		return &hook.Hook{Name: name, Event: event, Kind: hook.KindPlugin, Source: hook.Source{Path: filepath.Join(pack, "binary"), Dir: pack}}
	}
	d := &describer{Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return hook.Denied("no"), nil }),
		described: map[string][]*hook.Hook{"pack": {of("told", hook.EventPreToolUse), of("configured", hook.EventPreToolUse), of("told", hook.EventStop)}}}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: d}
	reg := open(t, opts)
	listed := func() (list []string) {
		for _, l := range reg.List() {
			list = append(list, l.Hook.ID+" "+string(l.Hook.Event)+" "+string(l.State))
			if l.Hook.Source.Root != pack || l.Hook.Scope != hook.ScopePlugin {
				t.Errorf("%+v", l.Hook)
			}
		}
		slices.Sort(list)
		return list
	}
	want := func(state string) []string {
		return []string{"plugin/pack/configured PreToolUse " + state, "plugin/pack/told PreToolUse " + state, "plugin/pack/told Stop " + state}
	}
	if diff := cmp.Diff(want("untrusted"), listed()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := len(reg.Subjects()); n != 2 {
		t.Errorf("%d approvals are asked for, want one for each name", n)
	}
	approve(t, reg)
	if diff := cmp.Diff(want("ready"), listed()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if changed := reload(t, reg); changed.Any() {
		t.Errorf("nothing changed: %q", summary(changed))
	}
	write(t, filepath.Join(pack, "binary"), "another")
	if diff := cmp.Diff([]string{"plugin/pack/configured PreToolUse ready", "plugin/pack/told PreToolUse untrusted", "plugin/pack/told Stop untrusted"}, listed()); diff != "" {
		t.Errorf("another binary: -want +got:\n%s", diff)
	}
	write(t, filepath.Join(pack, "binary"), "")
	d.described["pack"][0].Matcher = "Bash"
	if got := summary(reload(t, reg)); got != "~plugin/pack/told" {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"plugin/pack/configured PreToolUse ready", "plugin/pack/told PreToolUse untrusted", "plugin/pack/told Stop untrusted"}, listed()); diff != "" {
		t.Errorf("changed: -want +got:\n%s", diff)
	}
	d.described = nil
	if got := summary(reload(t, reg)); got != "-plugin/pack/told" {
		t.Errorf("%q", got)
	}
}

// A hooks file that two things lead to is read once.
func TestHooksFileThatIsNamedTwiceIsReadOnce(t *testing.T) {
	opts := machine(t, `
-- plugins/pack/.claude-plugin/plugin.json --
{"name": "pack", "hooks": ["./hooks/hooks.json", "./extra.json", "./extra.json"]}
-- plugins/pack/plugin.json --
{"name": "pack", "hooks": "./extra.json"}
-- plugins/pack/extra.json --
`+handlers("PreToolUse", "true extra")+`
-- plugins/pack/hooks/hooks.json --
`+handlers("PreToolUse", "true own")+`
`)
	var got []string
	for _, l := range open(t, opts).List() {
		got = append(got, l.Hook.ID)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"plugin/pack/extra.json:PreToolUse[0].0", "plugin/pack/hooks.json:PreToolUse[0].0"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Approvals that the operator hands in are watched too, and a registry without
// projects watches none of the workspace's.
func TestWatchSeesApprovalsThatAreHandedIn(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.Workspace, "..", "handed", "approvals.json")
	write(t, filepath.Join(filepath.Dir(file), "x"), "")
	opts.Approvals = []string{file}
	put(t, filepath.Join(opts.Workspace, ".tenterhook", "hooks"), "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	other := opts
	other.Approvals, other.StateDir = nil, t.TempDir()
	theirs := open(t, other)
	approve(t, theirs)
	reg := open(t, opts)
	told, end := watch(t, reg)
	defer end()
	settle()
	settle()
	var text strings.Builder
	if err := trust.Export(&text, []trust.Approval{*theirs.Subjects()[0].Verdict.Approval}); err != nil {
		t.Fatal(err)
	}
	write(t, file, text.String())
	await(t, told, "project/guard:ready")
}

// A hook whose definition cannot be told from another's cannot be approved, so it
// does not run.
func TestDescribedHookThatIsNotUTF8DoesNotRun(t *testing.T) {
	opts := machine(t, "")
	pack := filepath.Join(opts.PluginsDir, "pack")
	write(t, filepath.Join(pack, "binary"), "")
	h := &hook.Hook{Name: "told", Event: hook.EventPreToolUse, Kind: hook.KindPlugin, Env: map[string]string{"A": "\xff"}, Source: hook.Source{Path: filepath.Join(pack, "binary"), Dir: pack}}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: &describer{described: map[string][]*hook.Hook{"pack": {h}},
		Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return hook.Denied("ran"), nil })}}
	reg := open(t, opts)
	if l := state(t, reg, "plugin/pack/told"); l.State != hook.StateUntrusted || !strings.Contains(l.Why, "UTF-8") {
		t.Errorf("%s: %s", l.State, l.Why)
	}
	if out := dispatch(t, reg, bash("ls")); !untrusted(out, "plugin/pack/told") {
		t.Errorf("%+v", out.Results)
	}
}
