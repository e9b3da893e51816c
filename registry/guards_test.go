package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Guards of the host judge as managed hooks do, and nothing switches them off but
// the setting self_protection of whoever may say so.
func TestNothingButSelfProtectionSwitchesTheHostsGuardsOff(t *testing.T) {
	needsRoot(t)
	const no, yes = "self_protection = false", "self_protection = true"
	for name, tc := range map[string]struct {
		settings map[hook.Scope]string
		noHooks  bool
		off      hook.Scope // whose word counts; 0 with on = no one's
		on       bool
	}{
		"nothing is said":                     {on: true},
		"all hooks are off":                   {settings: map[hook.Scope]string{hook.ScopeManaged: "disable_all_hooks = true\nallow_no_hooks = true\ndisabled = [\"managed/protects\"]"}, noHooks: true, on: true},
		"the user":                            {settings: map[hook.Scope]string{hook.ScopeUser: no}, off: hook.ScopeUser},
		"managed":                             {settings: map[hook.Scope]string{hook.ScopeManaged: no}, off: hook.ScopeManaged},
		"a named folder":                      {settings: map[hook.Scope]string{hook.ScopeDir: no}, off: hook.ScopeDir},
		"the project":                         {settings: map[hook.Scope]string{hook.ScopeProject: no}, on: true},
		"the local folder":                    {settings: map[hook.Scope]string{hook.ScopeLocal: no}, on: true},
		"managed goes before the user":        {settings: map[hook.Scope]string{hook.ScopeManaged: yes, hook.ScopeUser: no}, on: true},
		"managed says no, the user yes":       {settings: map[hook.Scope]string{hook.ScopeManaged: no, hook.ScopeUser: yes}, off: hook.ScopeManaged},
		"a named folder goes before the user": {settings: map[hook.Scope]string{hook.ScopeDir: yes, hook.ScopeUser: no}, on: true},
	} {
		opts := everywhere(t, tc.settings)
		opts.NoHooks = tc.noHooks
		opts.Guards = []*hook.Hook{{Name: "protects", Event: hook.EventPreToolUse, Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) {
			return hook.Denied("hands off"), nil
		})}}
		reg := open(t, opts)
		l := state(t, reg, "managed/protects")
		out := dispatch(t, reg, bash("ls"))
		if (out.Verdict == hook.Deny) != tc.on || (l.State == hook.StateReady) != tc.on || l.Hook.Scope != hook.ScopeManaged {
			t.Errorf("%s: %v, %s %q", name, out.Verdict, l.State, l.Why)
		}
		if others := state(t, reg, "user/user"); (others.State == hook.StateReady) == tc.noHooks {
			t.Errorf("%s: another hook is %s: %q", name, others.State, others.Why)
		}
		if !tc.on {
			file := map[hook.Scope]string{hook.ScopeManaged: opts.ManagedDir, hook.ScopeUser: opts.UserDir, hook.ScopeDir: opts.Dirs[0]}[tc.off]
			if want := "it is switched off (self_protection in " + filepath.Join(file, "settings.toml") + ")"; l.Why != want {
				t.Errorf("%s: %q, want %q", name, l.Why, want)
			}
		}
	}
}

// A reload that changes self_protection reaches the guards, and those of other
// scopes' settings do too.
func TestReloadSwitchesTheHostsGuards(t *testing.T) {
	opts := machine(t, "")
	opts.Guards = []*hook.Hook{{Name: "protects", Event: hook.EventPreToolUse, Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) {
		return hook.Denied("hands off"), nil
	})}}
	file := filepath.Join(opts.UserDir, "settings.toml")
	reg := open(t, opts)
	for _, step := range []struct {
		text string
		want hook.Verdict
	}{{"", hook.Deny}, {"self_protection = false", hook.NoOpinion}, {"self_protection = true", hook.Deny}} {
		write(t, file, step.text)
		reload(t, reg)
		if out := dispatch(t, reg, bash("ls")); out.Verdict != step.want {
			t.Errorf("%q: %v", step.text, out.Verdict)
		}
	}
}

// Every key of a workspace's settings that has no say is named, and IDs in a
// bounded number.
func TestWorkspaceIsToldOfEachKeyThatHasNoSay(t *testing.T) {
	opts := machine(t, "")
	var ids []string
	for i := range 25 {
		ids = append(ids, fmt.Sprintf("%q", fmt.Sprintf("user/h%02d", i)))
	}
	ids = append(ids, `"project/one"`, `"local/two"`)
	text := `allow_managed_hooks_only = true
allow_no_hooks = true
allowed_http_hook_urls = []
http_hook_allowed_env_vars = []
allow_local_http_hook_targets = false
max_async = 3
packs = ["x"]
self_protection = true
default_on_failure = "continue"
disabled = [` + strings.Join(ids, ", ") + `]
[breaker]
cooldown = 9
[mcp_servers.a]
command = "x"
[model]
model = "m"
[journal]
record = "off"
`
	for _, dir := range []string{"", "local"} {
		write(t, filepath.Join(opts.Workspace, ".tenterhook", dir, "settings.toml"), text)
		var keys []string
		for _, d := range open(t, opts).Diagnostics() {
			if d.Code == "setting_ignored" && filepath.Dir(d.Path) == filepath.Join(opts.Workspace, ".tenterhook", dir) {
				keys = append(keys, strings.TrimSuffix(d.Message, " is ignored: a workspace has no say in it"))
			}
		}
		want := []string{"allow_local_http_hook_targets", "allow_managed_hooks_only", "allow_no_hooks", "allowed_http_hook_urls", "breaker", "http_hook_allowed_env_vars",
			"journal", "max_async", "mcp_servers", "model", "packs", "self_protection"}
		for i := range 20 {
			want = append(want, fmt.Sprintf("disabled is ignored: a workspace can't switch user/h%02d off", i))
		}
		want = append(want, "disabled is ignored: a workspace can't switch 5 more hooks off")
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%q: -want +got:\n%s", dir, diff)
		}
	}
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.toml"), "disable_all_hooks = false\n")
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "local", "settings.toml"), "")
	if notes := open(t, opts).Diagnostics(); has(notes, "setting_ignored", "") {
		t.Errorf("nothing is ignored: %v", notes)
	}
}

// IDs that no hook has are named with the nearest that one has, in a bounded
// number.
func TestDisabledIDsThatNoHookHasAreNamedInABoundedNumber(t *testing.T) {
	for _, many := range []int{1, 20, 21, 30} {
		opts := machine(t, "")
		put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
		list := []string{`"user/guard"`}
		for i := range many {
			list = append(list, fmt.Sprintf("%q", fmt.Sprintf("user/none-%02d", i)))
		}
		write(t, filepath.Join(opts.UserDir, "settings.toml"), "disabled = ["+strings.Join(list, ", ")+"]")
		var said []hook.Diagnostic
		for _, d := range open(t, opts).Diagnostics() {
			if d.Code == "unknown_hook" {
				said = append(said, d)
			}
		}
		if len(said) != min(many, 21) || said[0].Message != `disabled: no hook has the ID "user/none-00"` || said[0].Hint != "`tenterhook list` shows the IDs" {
			t.Fatalf("%d: %d diagnostics: %v", many, len(said), said)
		}
		last := said[len(said)-1].Message
		if want := fmt.Sprintf("nor %d others that stand there", many-21); strings.Contains(last, "nor ") != (many > 20) || many > 20 && !strings.HasSuffix(last, want) {
			t.Errorf("%d: %q", many, last)
		}
	}
}

// Lists of a reload are in order, whatever the order of loading.
func TestReloadNamesWhatChangedInOrder(t *testing.T) {
	opts := machine(t, "")
	names := []string{"e", "b", "d", "a", "c"}
	each := func(prefix, text string) {
		for _, name := range names {
			write(t, filepath.Join(opts.UserDir, "hooks", prefix+name, "HOOK.md"), text)
		}
	}
	const good, other, broken = "+++\nevent = \"Stop\"\ncommand = \"true\"\n+++\n", "+++\nevent = \"Stop\"\ncommand = \"false\"\n+++\n", "+++\nevent = \n+++\n"
	for _, prefix := range []string{"changed-", "kept-", "removed-"} {
		each(prefix, good)
	}
	reg := open(t, opts)
	each("added-", good)
	each("changed-", other)
	each("kept-", broken)
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(opts.UserDir, "hooks", "removed-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	changed := reload(t, reg)
	for prefix, got := range map[string][]string{"added-": changed.Added, "changed-": changed.Changed, "kept-": changed.Kept, "removed-": changed.Removed} {
		if !slices.IsSorted(got) || len(got) != len(names) || got[0] != "user/"+prefix+"a" {
			t.Errorf("%s%v", prefix, got)
		}
	}
	if !changed.Any() || (&registry.Reloaded{}).Any() {
		t.Error("Any does not say whether anything changed")
	}
	for field, c := range map[string]*registry.Reloaded{"Added": {Added: names}, "Removed": {Removed: names}, "Changed": {Changed: names}, "Kept": {Kept: names},
		"States": {States: []registry.StateChange{{}}}, "Settings": {Settings: true}} {
		if !c.Any() {
			t.Errorf("%s is no change", field)
		}
	}
}

// What settings say of sandboxes counts by scope, the managed ones first; those of
// a workspace make its own hooks stricter, and nothing less strict.
func TestSandboxOfAScopeIsThatOfWhoMaySayIt(t *testing.T) {
	const strict, reads, reaps, none = hook.SandboxStrict, hook.SandboxReadOnly, hook.SandboxReap, hook.SandboxNone
	box := func(scope, mode string) string { return "[sandbox]\n" + scope + " = \"" + mode + "\"\n" }
	others := strict
	if runtime.GOOS == "windows" {
		others = reaps // nothing else can be enforced there
	}
	plain := map[hook.Scope]hook.SandboxMode{hook.ScopeManaged: none, hook.ScopeUser: none, hook.ScopeDir: none, hook.ScopeProject: others, hook.ScopeLocal: others}
	for name, tc := range map[string]struct {
		settings map[hook.Scope]string
		want     map[hook.Scope]hook.SandboxMode // where it is another than plain
	}{
		"nothing is said":                  {},
		"the user, of a project":           {map[hook.Scope]string{hook.ScopeUser: box("project", "read-only")}, map[hook.Scope]hook.SandboxMode{hook.ScopeProject: reads}},
		"the user, of managed hooks":       {map[hook.Scope]string{hook.ScopeUser: box("managed", "strict")}, nil},
		"managed, of managed hooks":        {map[hook.Scope]string{hook.ScopeManaged: box("managed", "reap")}, map[hook.Scope]hook.SandboxMode{hook.ScopeManaged: reaps}},
		"managed goes before the user":     {map[hook.Scope]string{hook.ScopeManaged: box("user", "read-only"), hook.ScopeUser: box("user", "strict")}, map[hook.Scope]hook.SandboxMode{hook.ScopeUser: reads}},
		"a folder goes before the user":    {map[hook.Scope]string{hook.ScopeDir: box("user", "reap"), hook.ScopeUser: box("user", "strict")}, map[hook.Scope]hook.SandboxMode{hook.ScopeUser: reaps}},
		"a project, less strict":           {map[hook.Scope]string{hook.ScopeProject: box("project", "none")}, nil},
		"a project, of others":             {map[hook.Scope]string{hook.ScopeProject: box("user", "strict")}, nil},
		"a project, stricter than allowed": {map[hook.Scope]string{hook.ScopeUser: box("project", "reap"), hook.ScopeProject: box("project", "read-only")}, map[hook.Scope]hook.SandboxMode{hook.ScopeProject: reads}},
		"both of the workspace":            {map[hook.Scope]string{hook.ScopeUser: box("local", "none"), hook.ScopeProject: box("local", "strict"), hook.ScopeLocal: box("local", "reap")}, map[hook.Scope]hook.SandboxMode{hook.ScopeLocal: strict}},
	} {
		reg := open(t, everywhere(t, tc.settings))
		for _, l := range reg.List() {
			want, ok := tc.want[l.Hook.Scope]
			if !ok {
				want = plain[l.Hook.Scope]
			}
			got := none
			if l.Hook.Sandbox != nil {
				got = l.Hook.Sandbox.Mode
			}
			if got != want {
				t.Errorf("%s: %s has %q, want %q", name, l.Hook.ID, got, want)
			}
		}
	}
}

// Hooks of Options.GuardDirs count as far as they refuse or ask. Their settings
// make hooks stricter, switch nothing off and allow nothing.
func TestGuardDirsOnlyRefuse(t *testing.T) {
	says := func(decision string) string {
		return "+++\nevent = \"PreToolUse\"\ncommand = '''echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"" + decision + "\",\"updatedInput\":{\"command\":\"x\"},\"additionalContext\":\"c\"}}' '''\n+++\n"
	}
	for name, tc := range map[string]struct {
		file, text string
		want       []string
		verdict    hook.Verdict
	}{
		"a denial":       {"hooks/a/HOOK.md", says("deny"), []string{"user/a blocked"}, hook.Deny},
		"a question":     {"hooks/a/HOOK.md", says("ask"), []string{"user/a success"}, hook.Ask},
		"an allow":       {"hooks/a/HOOK.md", says("allow"), []string{"user/a success"}, hook.NoOpinion},
		"a declaration":  {"hooks/a/HOOK.md", strings.Replace(says("allow"), "command", "rewrites = true\ncommand", 1), []string{"user/a success"}, hook.NoOpinion},
		"a rule":         {"hooks/a/HOOK.md", "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n", []string{"user/a blocked"}, hook.Deny},
		"a rule's allow": {"hooks/a/HOOK.md", "+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Bash(ls)\"\ndecision = \"allow\"\n+++\n", []string{"user/a success"}, hook.NoOpinion},
		"in background":  {"hooks/a/HOOK.md", "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\nasync = true\n+++\n", nil, hook.NoOpinion},
		"an observer":    {"hooks/a/HOOK.md", "+++\nevent = \"PostToolUse\"\ncommand = \"true\"\n+++\n", nil, hook.NoOpinion},
		"a broken one":   {"hooks/a/HOOK.md", "+++\nevent = \n+++\n", []string{"user/a skipped"}, hook.NoOpinion},
		"settings":       {"settings.toml", "disable_all_hooks = true\nallow_managed_hooks_only = true\ndisabled = [\"in-process/own\"]\n[[hooks.PreToolUse]]\nname = \"s\"\ncommand = \"exit 2\"\n", []string{"user/s blocked"}, hook.Deny},
		"stricter ones":  {"settings.toml", "default_on_failure = \"block\"\n", nil, hook.Deny},
	} {
		opts := machine(t, "")
		guards := t.TempDir()
		opts.GuardDirs = []string{guards}
		write(t, filepath.Join(guards, tc.file), tc.text)
		if name == "stricter ones" {
			write(t, filepath.Join(opts.UserDir, "hooks", "fails", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"exit 3\"\n+++\n")
			tc.want = []string{"user/fails failed"}
		}
		reg := open(t, opts)
		out := dispatch(t, reg, bash("ls"))
		if diff := cmp.Diff(tc.want, statuses(out)); diff != "" || out.Verdict != tc.verdict || out.UpdatedInput != nil || len(out.Contexts) > 0 {
			t.Errorf("%s: %v %q %v -want +got:\n%s", name, out.Verdict, out.Reason, out.Contexts, diff)
		}
		for _, l := range reg.List() {
			if strings.HasPrefix(l.Why, "its Check") {
				t.Errorf("%s: %s %s", name, l.Hook.ID, l.Why)
			}
		}
	}
}

// A guard of such a folder is checked as any other is.
func TestGuardOfAGuardDirIsChecked(t *testing.T) {
	opts := machine(t, "")
	guards := t.TempDir()
	opts.GuardDirs = []string{guards}
	write(t, filepath.Join(guards, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"./gone.sh\"\n+++\n")
	if l := state(t, open(t, opts), "user/a"); l.State != hook.StateIneligible || !strings.Contains(l.Why, "gone.sh") {
		t.Errorf("%s %q", l.State, l.Why)
	}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })}
	if l := state(t, open(t, opts), "user/a"); l.State != hook.StateReady {
		t.Errorf("%s %q", l.State, l.Why)
	}
}

// ~ means each of Options.Homes: a hook is concerned if it is for any of them, and
// a rule that allows holds if it does for all.
func TestTildeMeansEachHome(t *testing.T) {
	opts := only(tree(t, "-- script/HOOK.md --\n+++\nevent = \"PreToolUse\"\nif = \"Edit(~/secret)\"\ncommand = \"exit 2\"\n+++\n"+
		"-- rule/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Edit(~/secret)\"\ndecision = \"deny\"\nreason = \"no\"\n+++\n"+
		"-- allows/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nif = \"Edit(~/open)\"\ndecision = \"allow\"\n+++\n"))
	opts.Env, opts.Homes = []string{"HOME=" + onDrive("/own")}, []string{onDrive("/own"), onDrive("/one"), onDrive("/two")}
	reg := open(t, opts)
	edit := func(path string) *hook.Outcome {
		return dispatch(t, reg, hook.PreToolUse{ToolName: "Edit", ToolInput: []byte(`{"file_path":"` + onDrive(path) + `"}`)})
	}
	for path, want := range map[string]int{"/own/secret": 2, "/one/secret": 2, "/two/secret": 2, "/three/secret": 0} {
		if out := edit(path); len(out.Results) != want || (out.Verdict == hook.Deny) != (want == 2) {
			t.Errorf("%s: %v", path, ids(out))
		}
	}
	for _, path := range []string{"/own/open", "/one/open"} {
		if out := edit(path); out.Verdict == hook.Allow {
			t.Errorf("%s is another file of another home, and allowed", path)
		}
	}
}
