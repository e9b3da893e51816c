package registry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
	"github.com/tenterhook/tenterhook/trust"
)

// A folder that cannot be read, for now, is no folder without hooks. What is
// there in its place is a file, as root can read every folder.
func TestFolderThatCannotBeReadIsNotTakenForAnEmptyOne(t *testing.T) {
	opts := machine(t, "")
	hooks := filepath.Join(opts.UserDir, "hooks")
	write(t, filepath.Join(hooks, "a", "HOOK.md"), fmt.Sprintf(says, "a"))
	reg := open(t, opts)
	if err := os.Rename(hooks, hooks+"-away"); err != nil {
		t.Fatal(err)
	}
	write(t, hooks, "")
	for _, want := range []string{"=user/a", ""} {
		if got := summary(reload(t, reg)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		// Its folder is gone, so it has nowhere to start in.
		if diff := cmp.Diff([]string{"user/a failed start"}, ids(dispatch(t, reg, bash("ls")))); diff != "" || !has(reg.Diagnostics(), "kept_last_good", "stays in force") {
			t.Errorf("%v -want +got:\n%s", reg.Diagnostics(), diff)
		}
	}
	fresh := open(t, opts)
	if diff := cmp.Diff([]string{"user/hooks skipped invalid"}, ids(dispatch(t, fresh, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again := reload(t, fresh); again.Any() {
		t.Errorf("nothing changed: %q", summary(again))
	}
	if err := errors.Join(os.Remove(hooks), os.Rename(hooks+"-away", hooks)); err != nil {
		t.Fatal(err)
	}
	for reg, want := range map[*registry.Registry]string{reg: "~user/a", fresh: "+user/a -user/hooks"} {
		if got := summary(reload(t, reg)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if hook.HasErrors(reg.Diagnostics()) {
			t.Errorf("it can be read, and still: %v", reg.Diagnostics())
		}
	}
}

// A folder of config files that cannot be read, for now, is no empty one either.
// Where the home is the workspace, a folder belongs to two scopes. Each keeps its own
// hooks if the folder cannot be read.
func TestFolderOfTwoScopesKeepsTheHooksOfEach(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"kiro"}
	opts.Env = []string{"HOME=" + opts.Workspace, searchPath()}
	folder := filepath.Join(opts.Workspace, ".kiro", "agents")
	write(t, filepath.Join(folder, "dev.json"), `{"name": "dev", "hooks": {"preToolUse": [{"command": "exit 2"}]}}`)
	reg := open(t, opts)
	list := func() (all []string) {
		for _, l := range reg.List() {
			all = append(all, l.Hook.ID)
		}
		return all
	}
	before := list()
	if len(before) != 2 || before[0] == before[1] {
		t.Fatal(before)
	}
	if err := os.Rename(folder, folder+"-away"); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "")
	if changed := reload(t, reg); len(changed.Kept) != 2 || len(changed.Added)+len(changed.Removed)+len(changed.Changed) != 0 || !slices.Equal(list(), before) {
		t.Errorf("%s: %v, want %v", summary(changed), list(), before)
	}
}

func TestFolderOfConfigFilesThatCannotBeReadIsNotTakenForAnEmptyOne(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"copilot"}
	folder := filepath.Join(opts.Workspace, ".github", "hooks")
	file := filepath.Join(folder, "a.json")
	write(t, file, `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "exit 2"}]}}`)
	write(t, filepath.Join(opts.Workspace, ".github", "hooks.json"), `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true"}]}}`)
	reg := open(t, opts)
	approve(t, reg)
	good := ids(dispatch(t, reg, bash("ls")))
	if len(good) != 2 || !strings.HasSuffix(good[1], " blocked") && !strings.HasSuffix(good[0], " blocked") {
		t.Fatal(good)
	}
	if err := errors.Join(os.Rename(folder, folder+"-away"), os.Remove(filepath.Join(opts.Workspace, ".github", "hooks.json"))); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "") // as root can read every folder
	for _, again := range []bool{false, true} {
		changed := reload(t, reg)
		if again && changed.Any() || !again && (len(changed.Kept) != 1 || len(changed.Removed) != 1) {
			t.Errorf("%q", summary(changed))
		}
		if out := dispatch(t, reg, bash("ls")); len(out.Results) != 1 || out.Results[0].Status != hook.StatusBlocked || !has(reg.Diagnostics(), "kept_last_good", "stays in force") {
			t.Errorf("%v %v", ids(out), reg.Diagnostics())
		}
		if !has(reg.Diagnostics(), "not_a_folder", "") {
			t.Errorf("%v", reg.Diagnostics())
		}
	}
	fresh := open(t, opts)
	if got := ids(dispatch(t, fresh, bash("ls"))); len(got) != 1 || !strings.HasSuffix(got[0], " skipped invalid") {
		t.Errorf("opened: %q", got)
	}
	if again := reload(t, fresh); again.Any() {
		t.Errorf("nothing changed: %q", summary(again))
	}
	told := 0
	for _, d := range fresh.Diagnostics() {
		if d.Path == folder {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %v", told, fresh.Diagnostics())
	}
	if err := errors.Join(os.Remove(folder), os.Rename(folder+"-away", folder)); err != nil {
		t.Fatal(err)
	}
	for _, reg := range []*registry.Registry{reg, fresh} {
		reload(t, reg)
		if out := dispatch(t, reg, bash("ls")); len(out.Results) != 1 || out.Results[0].Status != hook.StatusBlocked || hook.HasErrors(reg.Diagnostics()) {
			t.Errorf("it can be read: %v %v", ids(out), reg.Diagnostics())
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if changed := reload(t, reg); len(changed.Removed) != 1 || hook.HasErrors(reg.Diagnostics()) {
		t.Errorf("gone: %q %v", summary(changed), reg.Diagnostics())
	}
}

// describer is a plugin host: it says of each package what it has.
type describer struct {
	hook.Handler
	described map[string][]*hook.Hook
}

func (d *describer) Describe(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, []hook.Diagnostic{{Severity: hook.SeverityError, Code: "plugin_missing", Path: dir, Message: err.Error()}}
	}
	var hooks []*hook.Hook
	for _, h := range d.described[pkg] {
		own := *h
		hooks = append(hooks, &own)
	}
	if len(hooks) == 0 {
		return nil, nil
	}
	definition, _ := trust.Define(hooks...) // nil for one that is unknown
	return []trust.Plugin{{Hooks: hooks, Subject: trust.Subject{ID: "plugin/" + pkg + "/binary", Root: dir, Path: filepath.Join(dir, "binary"),
		Dir: dir, Only: "binary", Definition: definition}}}, nil
}

func TestFolderOfPluginPackagesThatCannotBeReadIsNotTakenForAnEmptyOne(t *testing.T) {
	built.NeedsLinks(t)
	opts := machine(t, "")
	pack := filepath.Join(opts.PluginsDir, "pack")
	write(t, filepath.Join(pack, "hooks", "a", "HOOK.md"), fmt.Sprintf(says, "a"))
	write(t, filepath.Join(pack, "hooks", "hooks.json"), handlers("PreToolUse", "exit 2"))
	write(t, filepath.Join(pack, "binary"), "")
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindPlugin: &describer{
		Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return hook.Denied("no"), nil }),
		described: map[string][]*hook.Hook{"pack": {{Name: "told", Event: hook.EventPreToolUse, Kind: hook.KindPlugin, State: hook.StateReady,
			Source: hook.Source{Path: filepath.Join(pack, "binary"), Dir: pack}}}},
	}}
	reg := open(t, opts)
	approve(t, reg)
	listed := func(reg *registry.Registry) (list []string) {
		for _, l := range reg.List() {
			list = append(list, l.Hook.ID)
		}
		return list
	}
	want := []string{"plugin/pack/a", "plugin/pack/hooks.json:PreToolUse[0].0", "plugin/pack/told"}
	all := listed(reg)
	slices.Sort(all)
	if diff := cmp.Diff(want, all); diff != "" || len(dispatch(t, reg, bash("ls")).Results) != 3 {
		t.Fatal(diff)
	}
	if err := os.Rename(opts.PluginsDir, opts.PluginsDir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(opts.PluginsDir, opts.PluginsDir); err != nil { // root can read every folder, but not this
		t.Fatal(err)
	}
	for _, wanted := range []string{"=plugin/pack/a =plugin/pack/hooks.json:PreToolUse[0].0 =plugin/pack/told settings", ""} {
		if got := summary(reload(t, reg)); got != wanted {
			t.Errorf("%q, want %q", got, wanted)
		}
		now := listed(reg)
		slices.Sort(now)
		if diff := cmp.Diff(want, now); diff != "" || !has(reg.Diagnostics(), "unreadable", "cannot be read") || !has(reg.Diagnostics(), "kept_last_good", "") {
			t.Errorf("%s %v", diff, reg.Diagnostics())
		}
	}
	fresh := open(t, opts)
	if diff := cmp.Diff([]string{"plugin/plugins skipped invalid"}, ids(dispatch(t, fresh, bash("ls")))); diff != "" {
		t.Error(diff)
	}
	if again := reload(t, fresh); again.Any() {
		t.Errorf("nothing changed: %q", summary(again))
	}
	if err := errors.Join(os.Remove(opts.PluginsDir), os.Rename(opts.PluginsDir+"-away", opts.PluginsDir)); err != nil {
		t.Fatal(err)
	}
	for _, reg := range []*registry.Registry{reg, fresh} {
		reload(t, reg)
		if out := dispatch(t, reg, bash("ls")); len(out.Results) != 3 || hook.HasErrors(reg.Diagnostics()) {
			t.Errorf("it can be read: %v %v", ids(out), reg.Diagnostics())
		}
		for _, r := range dispatch(t, reg, bash("ls")).Results {
			if r.Status != hook.StatusBlocked {
				t.Errorf("it can be read: %s %s %s", r.Hook.ID, r.Status, r.Reason)
			}
		}
	}
	if err := os.RemoveAll(opts.PluginsDir); err != nil {
		t.Fatal(err)
	}
	if changed := reload(t, reg); len(changed.Removed) != 3 || hook.HasErrors(reg.Diagnostics()) {
		t.Errorf("gone: %q %v", summary(changed), reg.Diagnostics())
	}
}
