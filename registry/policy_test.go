package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
)

// everywhere has a hook in each scope, and settings for some of them.
func everywhere(t *testing.T, settings map[hook.Scope]string) registry.Options {
	t.Helper()
	needsRoot(t)
	opts := machine(t, "")
	dir := t.TempDir()
	opts.Dirs = []string{dir}
	at := map[hook.Scope]string{
		hook.ScopeManaged: opts.ManagedDir, hook.ScopeUser: opts.UserDir, hook.ScopeDir: dir,
		hook.ScopeProject: filepath.Join(opts.Workspace, ".tenterhook"),
		hook.ScopeLocal:   filepath.Join(opts.Workspace, ".tenterhook", "local"),
	}
	for scope, dir := range at {
		write(t, filepath.Join(dir, "hooks", scope.String(), "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
		if text, ok := settings[scope]; ok {
			write(t, filepath.Join(dir, "settings.toml"), text)
		}
	}
	return opts
}

// running are the scopes whose hooks run for a call, after approval.
func running(t *testing.T, opts registry.Options) string {
	t.Helper()
	reg := open(t, opts)
	approve(t, reg)
	on(t, reg, "go", answer(nil))
	var scopes []string
	for _, r := range dispatch(t, reg, bash("ls")).Results {
		switch {
		case r.Status == hook.StatusSuccess:
			scopes = append(scopes, r.Hook.Scope.String())
		case r.Status != hook.StatusSkipped || r.Failure != "" || !strings.HasPrefix(r.Reason, "disabled: "):
			t.Errorf("%s: %s %s %s", r.Hook.ID, r.Status, r.Failure, r.Reason)
		}
	}
	return strings.Join(scopes, " ")
}

// A host that runs the hooks of another scope from a named folder gives them that scope's
// sandbox. A declared sandbox stays.
func TestTheHostsSandboxOfNamedFoldersIsForHooksThatDeclareNone(t *testing.T) {
	for declared, want := range map[string]hook.SandboxMode{"": hook.SandboxStrict, "sandbox = \"read-only\"\n": hook.SandboxReadOnly} {
		opts := machine(t, "")
		opts.Dirs, opts.DirSandbox = []string{t.TempDir()}, &hook.Sandbox{Mode: hook.SandboxStrict, Optional: true}
		write(t, filepath.Join(opts.Dirs[0], "a", "HOOK.md"), "+++\nevent = \"Stop\"\ncommand = \"true\"\n"+declared+"+++\n")
		if l := state(t, open(t, opts), "dir/a"); l.Hook.Sandbox == nil || l.Hook.Sandbox.Mode != want || !l.Hook.Sandbox.Optional {
			t.Errorf("%q: %+v", declared, l.Hook.Sandbox)
		}
	}
}

func TestGatesReachAsFarAsWhoSetThem(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const off, only = "disable_all_hooks = true", "allow_managed_hooks_only = true"
	const all = "managed user project local dir in-process"
	tests := []struct {
		name  string
		scope hook.Scope
		text  string
		want  string
	}{
		{"nothing is said", hook.ScopeUser, "", all},
		{"off, says managed", hook.ScopeManaged, off, "in-process"},
		{"off, says the user", hook.ScopeUser, off, "managed in-process"},
		{"off, says a named folder", hook.ScopeDir, off, "managed in-process"},
		{"off, says the project", hook.ScopeProject, off, "managed user dir in-process"},
		{"off, says the local folder", hook.ScopeLocal, off, "managed user dir in-process"},
		{"managed only, says managed", hook.ScopeManaged, only, "managed in-process"},
		{"managed only, says the user", hook.ScopeUser, only, all},
		{"managed only, says the project", hook.ScopeProject, only, all},
		{"one off, says managed", hook.ScopeManaged, `disabled = ["user/user", "managed/managed"]`, "project local dir in-process"},
		{"one off, says the user", hook.ScopeUser, `disabled = ["project/project", "managed/managed"]`, "managed user local dir in-process"},
		{"one off, says the project", hook.ScopeProject, `disabled = ["project/project", "user/user", "managed/managed", "dir/dir"]`, "managed user local dir in-process"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := running(t, everywhere(t, map[hook.Scope]string{test.scope: test.text})); got != test.want {
				t.Errorf("run: %s\nwant: %s", got, test.want)
			}
		})
	}
}

// A caller that finds a hook switched off reads by which file.
func TestGateNamesTheFileThatSetIt(t *testing.T) {
	for text, scope := range map[string]hook.Scope{
		"disable_all_hooks = true": hook.ScopeUser, `disabled = ["user/user"]`: hook.ScopeDir, "allow_managed_hooks_only = true": hook.ScopeManaged,
		`disabled = ["user/user"] # all`: hook.ScopeManaged, "disable_all_hooks = true # all": hook.ScopeDir,
	} {
		opts := everywhere(t, map[hook.Scope]string{scope: text})
		file := filepath.Join(map[hook.Scope]string{hook.ScopeManaged: opts.ManagedDir, hook.ScopeUser: opts.UserDir, hook.ScopeDir: opts.Dirs[0]}[scope], "settings.toml")
		if l := state(t, open(t, opts), "user/user"); l.State != hook.StateDisabled || !strings.Contains(l.Why, " in "+file+")") {
			t.Errorf("%s of %s: %s %q", text, scope, l.State, l.Why)
		}
	}
}

func TestGatesOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		variable string
		compat   []string
		want     string
	}{
		{"TENTERHOOK_NO_HOOKS=1", nil, "managed in-process"},
		{"TENTERHOOK_NO_HOOKS=0", nil, "managed user project local dir in-process"},
		{"TENTERHOOK_NO_HOOKS=false", nil, "managed user project local dir in-process"},
		{"TENTERHOOK_NO_HOOKS=", nil, "managed user project local dir in-process"},
		{"TENTERHOOK_NO_HOOKS=yes", nil, "managed in-process"},
		{"CALIBAN_NO_HOOKS=1", nil, "managed user project local dir in-process"},
		{"CALIBAN_NO_HOOKS=1", []string{"caliban"}, "managed in-process"},
	} {
		opts := everywhere(t, nil)
		opts.Env, opts.Compat = append(opts.Env, test.variable), test.compat
		if got := running(t, opts); got != test.want {
			t.Errorf("%s %v: run %s, want %s", test.variable, test.compat, got, test.want)
		}
	}
}

// Managed hooks run on with --no-hooks, unless the managed settings, and no one
// else's, allow it.
func TestNoHooksLeavesManagedHooksUnlessTheManagedSettingsAllowIt(t *testing.T) {
	const allow = "allow_no_hooks = true"
	for _, scope := range []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopeLocal, hook.ScopeDir} {
		want := "managed in-process"
		if scope == hook.ScopeManaged {
			want = "in-process"
		}
		opts := everywhere(t, map[hook.Scope]string{scope: allow})
		opts.NoHooks = true
		if got := running(t, opts); got != want {
			t.Errorf("allowed by %s: run %s, want %s", scope, got, want)
		}
		if notes := open(t, opts).Diagnostics(); has(notes, "setting_ignored", "allow_no_hooks") == (scope == hook.ScopeManaged) {
			t.Errorf("%s: %v", scope, notes)
		}
	}
	opts := everywhere(t, map[hook.Scope]string{hook.ScopeManaged: "allow_no_hooks = false"})
	opts.NoHooks = true
	if got := running(t, opts); got != "managed in-process" {
		t.Errorf("refused by managed: run %s", got)
	}
}

// What a settings file says of breakers is about the hooks that it reaches.
func TestBreakerOfTheUserIsNotThatOfManagedHooks(t *testing.T) {
	opts := everywhere(t, map[hook.Scope]string{hook.ScopeUser: "[breaker]\nfailures = 1\ncooldown = 3600", hook.ScopeDir: "[breaker]\nfailures = 2"})
	for _, l := range open(t, opts).List() {
		want := hook.BreakerSettings{Failures: 2, Cooldown: time.Hour}
		if l.Hook.Scope == hook.ScopeManaged {
			want = hook.BreakerSettings{}
		}
		if l.Hook.Breaker != want {
			t.Errorf("%s: %+v, want %+v", l.Hook.ID, l.Hook.Breaker, want)
		}
	}
}

// An empty list of variables allows none, which is not the same as no list.
func TestEmptyListOfVariablesAllowsNone(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "http_hook_allowed_env_vars = []": {}, `http_hook_allowed_env_vars = ["A"]`: {"A"}} {
		opts := everywhere(t, map[hook.Scope]string{hook.ScopeUser: text})
		handler := &configured{}
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: handler}
		open(t, opts)
		if diff := cmp.Diff(want, handler.got.HTTPHookAllowedEnvVars); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// A workspace that switches its own hook off must not, by that, switch off the
// user's of the same name, which its hook had taken the place of.
func TestF7SwitchedOffHookShadowsNothing(t *testing.T) {
	opts := scopes(t)
	opts.StateDir = t.TempDir()
	project := filepath.Join(opts.Workspace, ".tenterhook")
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	put(t, filepath.Join(project, "hooks"), denies("guard"))
	approve(t, open(t, opts))
	for _, settings := range []string{"disable_all_hooks = true", `disabled = ["project/guard"]`} {
		write(t, filepath.Join(project, "settings.toml"), settings)
		want := []string{"user/guard blocked", "project/guard skipped"}
		if diff := cmp.Diff(want, ids(dispatch(t, open(t, opts), bash("ls")))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", settings, diff)
		}
	}
}

// configured keeps what it got.
type configured struct {
	hook.HandlerFunc
	got dialect.Settings
}

func (c *configured) Configure(s dialect.Settings) []hook.Diagnostic {
	c.got = s
	return nil
}

func TestF7WhatOpensSomethingIsNotForAWorkspaceToSet(t *testing.T) {
	const opens = `allowed_http_hook_urls = ["https://%[1]s/*"]
http_hook_allowed_env_vars = ["%[1]s"]
allow_local_http_hook_targets = %[2]s
max_async = 3
[breaker]
failures = 9
[mcp_servers.shared]
command = "%[1]s"
[mcp_servers.%[1]s]
command = "x"
[model]
provider = "openai"
model = "%[1]s"
`
	text := func(who, local string) string {
		return strings.NewReplacer("%[1]s", who, "%[2]s", local).Replace(opens)
	}
	opts := everywhere(t, map[hook.Scope]string{
		hook.ScopeManaged: text("managed", "false"), hook.ScopeUser: text("user", "true"),
		hook.ScopeProject: text("project", "true"), hook.ScopeLocal: text("local", "true")})
	handler := &configured{}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: handler}
	reg := open(t, opts)
	got := handler.got
	if diff := cmp.Diff([]string{"https://managed/*", "https://user/*"}, got.AllowedHTTPHookURLs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"managed", "user"}, got.HTTPHookAllowedEnvVars); diff != "" {
		t.Error(diff)
	}
	if got.AllowLocalHTTPHookTargets == nil || *got.AllowLocalHTTPHookTargets {
		t.Error("managed settings say no to local targets, the others open them")
	}
	if got.Model.Model != "managed" || got.MCPServers["shared"].Command != "managed" {
		t.Errorf("%+v %+v", got.Model, got.MCPServers)
	}
	for name, want := range map[string]bool{"managed": true, "user": true, "project": false, "local": false} {
		if _, ok := got.MCPServers[name]; ok != want {
			t.Errorf("server of %s: %v", name, ok)
		}
	}
	ignored := 0
	for _, d := range reg.Diagnostics() {
		if d.Code == "setting_ignored" && strings.HasPrefix(d.Path, opts.Workspace) {
			ignored++
		}
	}
	if ignored != 2*7 {
		t.Errorf("%d settings of the workspace are said to be ignored, want 14: %v", ignored, reg.Diagnostics())
	}
}

func TestDefaultPolicyIsThatOfTheSettings(t *testing.T) {
	const fails = "+++\nevent = \"PreToolUse\"\ncommand = \"exit 3\"\n%s+++\n"
	opts := machine(t, "")
	for name, line := range map[string]string{"unsaid": "", "says": "on_failure = \"continue\"\n"} {
		write(t, filepath.Join(opts.UserDir, "hooks", name, "HOOK.md"), strings.Replace(fails, "%s", line, 1))
	}
	write(t, filepath.Join(opts.UserDir, "settings.toml"), `default_on_failure = "block"`)
	reg := open(t, opts)
	out := dispatch(t, reg, bash("ls"))
	if out.Verdict != hook.Deny || !strings.Contains(out.Reason, "user/unsaid") || strings.Contains(out.Reason, "user/says") {
		t.Errorf("%v %q", out.Verdict, out.Reason)
	}
	var policies []string
	for _, l := range reg.List() {
		policies = append(policies, l.Hook.Name+" "+string(l.Hook.OnFailure))
	}
	if diff := cmp.Diff([]string{"says continue", "unsaid block"}, policies); diff != "" {
		t.Error(diff)
	}
}

func TestEachHookThatAListDisablesIsOff(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.UserDir, "hooks"), strings.ReplaceAll(denies("a"), "guard", "a")+strings.ReplaceAll(denies("b"), "guard", "b")+strings.ReplaceAll(denies("c"), "guard", "c"))
	write(t, filepath.Join(opts.UserDir, "settings.toml"), `disabled = ["user/a", "user/b", "user/c"]`)
	reg := open(t, opts)
	if has(reg.Diagnostics(), "unknown_hook", "") {
		t.Errorf("%v", reg.Diagnostics())
	}
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.NoOpinion || strings.Join(statuses(out), " ") != "user/a skipped user/b skipped user/c skipped" {
		t.Errorf("%v %v", out.Verdict, statuses(out))
	}
}

// What settings say of sandboxes is about hooks that come from files.
func TestSettingsLeaveTheSandboxOfARegisteredHookAlone(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), "sandbox_required = false\n")
	reg := open(t, opts)
	var got *hook.Sandbox
	declared := &hook.Sandbox{Mode: hook.SandboxStrict}
	err := reg.Register(&hook.Hook{Name: "own", Event: hook.EventPreToolUse, Kind: hook.KindCommand, Sandbox: declared, Handler: hook.HandlerFunc(
		func(_ context.Context, c *hook.Call) (*hook.Output, error) { got = c.Hook.Sandbox; return nil, nil })})
	if err != nil {
		t.Fatal(err)
	}
	dispatch(t, reg, bash("ls"))
	if diff := cmp.Diff(&hook.Sandbox{Mode: hook.SandboxStrict}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDisabledNamesAHookThatIsThere(t *testing.T) {
	opts := machine(t, "")
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	write(t, filepath.Join(opts.UserDir, "settings.toml"), `disabled = ["user/gaurd"]`)
	notes := open(t, opts).Diagnostics()
	if !slices.ContainsFunc(notes, func(d hook.Diagnostic) bool {
		return d.Code == "unknown_hook" && strings.Contains(d.Hint, "user/guard")
	}) {
		t.Errorf("%v", notes)
	}
}

// A managed guard cannot be switched off, shadowed, deduplicated away, or
// overruled by any other scope.
func TestManagedGuardStandsAgainstEveryOtherScope(t *testing.T) {
	needsRoot(t)
	const guard = `"command": "echo managed >&2; exit 2"`
	opts := machine(t, "")
	dir := t.TempDir()
	opts.Dirs, opts.Compat = []string{dir}, []string{"all"}
	home := filepath.Join(filepath.Dir(opts.Workspace), "home")
	put(t, filepath.Join(opts.ManagedDir, "hooks"), denies("guard"))
	write(t, filepath.Join(opts.ManagedDir, "settings.json"), entry(guard))
	id := "managed/settings.json:PreToolUse[0].0"
	for _, at := range []string{opts.UserDir, filepath.Join(opts.Workspace, ".tenterhook"), filepath.Join(opts.Workspace, ".tenterhook", "local"), dir} {
		write(t, filepath.Join(at, "settings.toml"), `disable_all_hooks = true
disabled = ["managed/guard", "`+id+`"]
[[hooks.PreToolUse]]
command = "echo managed >&2; exit 2"
async = true
timeout = 1
`)
		write(t, filepath.Join(at, "hooks", "guard", "HOOK.md"), `+++
event = "PreToolUse"
command = '''echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}' '''
priority = 1000000
+++
`)
	}
	for _, file := range []string{filepath.Join(home, ".claude", "settings.json"), filepath.Join(opts.Workspace, ".claude", "settings.local.json")} {
		write(t, file, `{"disableAllHooks": true, "allowManagedHooksOnly": false, `+entry(guard)[1:])
	}
	reg := open(t, opts)
	approve(t, reg)
	out := dispatch(t, reg, bash("ls"))
	results := make(map[string]hook.Status)
	for _, r := range out.Results {
		results[r.Hook.ID] = r.Status
	}
	if out.Verdict != hook.Deny || results["managed/guard"] != hook.StatusBlocked || results[id] != hook.StatusBlocked {
		t.Errorf("%v %v", out.Verdict, ids(out))
	}
	if first := out.Results[0].Hook.Scope; first != hook.ScopeManaged {
		t.Errorf("a %s hook comes first", first)
	}
}

// Even with nothing else switched off, a hook of a nearer scope that does the same
// changes nothing: one that differs in any respect runs too.
func TestManagedGuardIsNoTwinsToDisplace(t *testing.T) {
	needsRoot(t)
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	guard := entry(`"command": "exit 2"`)
	write(t, filepath.Join(opts.ManagedDir, "settings.json"), guard)
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 2", "timeout": 1`))
	write(t, filepath.Join(opts.Workspace, ".claude", "settings.json"), guard)
	reg := open(t, opts)
	approve(t, reg)
	want := []string{"managed/settings.json:PreToolUse[0].0 blocked", "user/settings.json:PreToolUse[0].0 blocked", "project/claude/settings.json:PreToolUse[0].0 skipped"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A workspace must not switch the user's hooks off by declaring some itself.
func TestF7OldFileOfTheUserIsNotForAWorkspaceToSupersede(t *testing.T) {
	const guard = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.handlers]]\ntype = \"command\"\ncommand = \"exit 2\"\n"
	opts := machine(t, "")
	opts.Compat = []string{"caliban"}
	write(t, filepath.Join(filepath.Dir(opts.UserDir), "caliban", "hooks.toml"), guard)
	write(t, filepath.Join(opts.Workspace, ".caliban", "settings.toml"), strings.Replace(guard, "exit 2", "true", 1))
	want := []string{"user/caliban/hooks.toml:PreToolUse[0].0 blocked", "project/caliban/settings.toml:PreToolUse[0].0 skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, open(t, opts), bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestGatesSwitchBrokenHooksOffToo(t *testing.T) {
	const broken = "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\ntimeout = \"soon\"\non_failure = \"block\"\n+++\n"
	for _, test := range []struct {
		name, settings string
		off            bool
		want           string
	}{
		{"nothing is said", "", false, "user/a skipped invalid"},
		{"all are", "disable_all_hooks = true", false, "user/a skipped"},
		{"it is", `disabled = ["user/a"]`, false, "user/a skipped"},
		{"for this run", "", true, "user/a skipped"},
	} {
		opts := machine(t, "")
		opts.NoHooks = test.off
		write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), broken)
		write(t, filepath.Join(opts.UserDir, "settings.toml"), test.settings)
		out := dispatch(t, open(t, opts), bash("ls"))
		if diff := cmp.Diff([]string{test.want}, ids(out)); diff != "" || (out.Verdict == hook.Deny) != strings.HasSuffix(test.want, "invalid") {
			t.Errorf("%s: %v -want +got:\n%s", test.name, out.Verdict, diff)
		}
	}
}

func TestDefaultPolicyIsThatOfAMisspeltEventToo(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "hooks", "a", "HOOK.md"), "+++\nevent = \"PreTolUse\"\ncommand = \"true\"\n+++\n")
	write(t, filepath.Join(opts.UserDir, "settings.toml"), `default_on_failure = "block"`)
	if out := dispatch(t, open(t, opts), bash("ls")); out.Verdict != hook.Deny {
		t.Errorf("%v %v", out.Verdict, ids(out))
	}
}

// A file that no one can read as hooks does not say what its failure means, nor
// which events it concerns: the default counts, for each that can be blocked.
func TestDefaultPolicyIsThatOfFilesThatAreNoHooks(t *testing.T) {
	for name, text := range map[string]string{
		"hooks/a/HOOK.md":   "+++\nevent = \"PreToolUse\"\ncommand = \n+++\n",
		"hooks/b/HOOK.md":   "no front matter\n",
		"hooks/c/HOOK.md":   "---\nevent: [PreToolUse\n---\n",
		"hooks/d/HOOK.md":   "+++\ncommand = \"true\"\n+++\n",
		"hooks/e/HOOK.md/x": "a folder in its place",
		"settings.json":     "{\"hooks\": ",
		"hooks/f/HOOK.md":   strings.Repeat("x", 2<<20),
		"hooks/g/HOOK.md":   "",
	} {
		t.Run(name, func(t *testing.T) {
			opts := machine(t, "")
			write(t, filepath.Join(opts.UserDir, filepath.FromSlash(name)), text)
			if out := dispatch(t, open(t, opts), bash("ls")); out.Verdict != hook.NoOpinion {
				t.Errorf("without the setting: %v", out.Verdict)
			}
			write(t, filepath.Join(opts.UserDir, "settings.toml"), `default_on_failure = "block"`)
			reg := open(t, opts)
			if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
				t.Errorf("%v %v", out.Verdict, ids(out))
			}
			if out := dispatch(t, reg, hook.Notification{Message: "x"}); out.Verdict == hook.Deny {
				t.Errorf("a notification cannot be blocked: %+v", out)
			}
		})
	}
}

// Settings that a reload reads are those of hooks registered before, too.
func TestReloadedSettingsReachHooksThatWereRegistered(t *testing.T) {
	opts := machine(t, "")
	file := filepath.Join(opts.UserDir, "settings.toml")
	reg := open(t, opts)
	fails := func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, errors.New("fails") }
	on(t, reg, "callback", fails)
	if err := registry.OnSession(reg, "s", "function", fails); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ settings, want string }{
		{"", ""}, {`default_on_failure = "block"`, "block block"}, {"", ""}, {"[breaker]\nfailures = 1", ""},
	} {
		write(t, file, step.settings)
		reload(t, reg)
		out := dispatch(t, reg, inSession("s"))
		var got []string
		for _, r := range out.Results {
			got = append(got, string(r.Hook.OnFailure))
		}
		if text := strings.TrimSpace(strings.Join(got, " ")); text != step.want || (out.Verdict == hook.Deny) != (step.want != "") {
			t.Errorf("%s: %q %v", step.settings, text, out.Verdict)
		}
	}
	for _, r := range dispatch(t, reg, inSession("s")).Results {
		if r.Failure != hook.FailureBreakerOpen {
			t.Errorf("%s: %s", r.Hook.ID, r.Failure)
		}
	}
}

// A hook that cannot run here takes no hook's place that can.
func TestUnsupportedHookShadowsNothing(t *testing.T) {
	opts := machine(t, "")
	dir := tree(t, "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"prompt\"\nprompt = \"fine?\"\n+++\n")
	put(t, filepath.Join(opts.UserDir, "hooks"), denies("guard"))
	opts.Dirs = []string{dir}
	want := []string{"user/guard blocked", "dir/guard skipped unsupported"}
	if diff := cmp.Diff(want, ids(dispatch(t, open(t, opts), bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A workspace can't make loading slow by what it says in a file.
func TestManyHooksOfOneNameAndManyDisabledOnesAreSoonLoaded(t *testing.T) {
	built.NotUnderWine(t, "it takes minutes for so many folders")
	if testing.Short() {
		t.Skip("long: loads thousands of hooks")
	}
	opts := machine(t, "")
	own := filepath.Join(opts.Workspace, ".tenterhook")
	var disabled []string
	for i := range 1000 {
		write(t, filepath.Join(own, "hooks", fmt.Sprint("a", i), "HOOK.md"), "+++\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
		write(t, filepath.Join(own, "hooks", fmt.Sprintf("b%s%d", strings.Repeat("b", 40), i), "HOOK.md"), "+++\nevent = \"PreToolUse\"\ncommand = \"true\"\n+++\n")
	}
	for i := range 8000 {
		disabled = append(disabled, fmt.Sprintf("%q", fmt.Sprintf("project/b%s.%d", strings.Repeat("c", 40), i)))
	}
	write(t, filepath.Join(own, "settings.toml"), "disabled = ["+strings.Join(disabled, ",\n")+"]\n")
	began := time.Now()
	reg := open(t, opts)
	if n := len(reg.Diagnostics()); n > 1100 {
		t.Errorf("%d diagnostics", n)
	}
	for range 10 {
		dispatch(t, reg, bash("ls"))
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it takes %s", took)
	}
}

// What a named folder leaves open the user's settings say.
func TestSettingsOfANamedFolderGoBeforeTheUsers(t *testing.T) {
	opts := everywhere(t, map[hook.Scope]string{
		hook.ScopeDir:  "max_async = 4\nsandbox_required = false\n[model]\nmodel = \"dir\"\n[journal]\nrecord = \"results\"\nredact = [\"a\"]\n",
		hook.ScopeUser: "max_async = 5\nsandbox_required = true\n[model]\nmodel = \"user\"\nprovider = \"openai\"\n[journal]\nrecord = \"off\"\nkeep = \"1h\"\nredact = [\"b\"]\n",
	})
	handler := &configured{}
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: handler}
	open(t, opts)
	got := handler.got
	if got.MaxAsync != 4 || got.SandboxRequired == nil || *got.SandboxRequired {
		t.Errorf("max_async %d, sandbox_required %v", got.MaxAsync, got.SandboxRequired)
	}
	if diff := cmp.Diff(dialect.ModelSettings{Provider: "openai", Model: "dir"}, got.Model); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(dialect.JournalSettings{Record: "results", Keep: time.Hour, Redact: []string{"a", "b"}}, got.Journal); diff != "" {
		t.Error(diff)
	}
}
