package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/registry"
)

// machine is a host's directories with a home, all of them the test's own, and
// the files of an archive in them: home/, w/ (the workspace), managed/, user/,
// plugins/.
func machine(t *testing.T, archive string) registry.Options {
	t.Helper()
	opts := scopes(t)
	base := filepath.Dir(opts.Workspace)
	opts.StateDir = filepath.Join(base, "state")
	opts.Env = []string{"HOME=" + filepath.Join(base, "home"), "PATH=" + os.Getenv("PATH")}
	opts.UserDir = filepath.Join(base, "home", ".config", "tenterhook")
	opts.ManagedDir = filepath.Join(base, "etc", "tenterhook")
	put(t, base, archive)
	return opts
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// handlers is a settings file in Claude's shape with a command for each line.
func handlers(event string, commands ...string) string {
	var list []string
	for _, c := range commands {
		list = append(list, fmt.Sprintf(`{"type": "command", "command": %q}`, c))
	}
	return fmt.Sprintf(`{"hooks": {%q: [{"hooks": [%s]}]}}`, event, strings.Join(list, ", "))
}

func has(notes []hook.Diagnostic, code, part string) bool {
	return slices.ContainsFunc(notes, func(d hook.Diagnostic) bool { return d.Code == code && strings.Contains(d.Message, part) })
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("managed hooks must be root's, whom Windows does not have: run as root to see them run")
	}
}

func TestSettingsOfAScopeDeclareHooks(t *testing.T) {
	opts := machine(t, `
-- home/.config/tenterhook/settings.toml --
[[hooks.PreToolUse]]
matcher = "Bash"
name = "no-curl"
if = "Bash(curl *)"
command = "echo refused >&2; exit 2"
-- w/.tenterhook/settings.json --
`+handlers("PreToolUse", "exit 2")+`
`)
	reg := open(t, opts)
	out := dispatch(t, reg, bash("curl http://x"))
	want := []string{"user/no-curl blocked", "project/settings.json:PreToolUse[0].0 skipped untrusted"}
	if diff := cmp.Diff(want, ids(out)); diff != "" || out.Reason != "refused" {
		t.Errorf("%q -want +got:\n%s", out.Reason, diff)
	}
	approve(t, reg)
	if got := ids(dispatch(t, reg, bash("ls"))); !slices.Contains(got, "project/settings.json:PreToolUse[0].0 blocked") {
		t.Errorf("approved: %v", got)
	}
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), handlers("PreToolUse", "exit 2 # edited"))
	if reg := open(t, opts); state(t, reg, "project/settings.json:PreToolUse[0].0").State != hook.StateUntrusted {
		t.Error("an edited definition is still approved")
	}
}

func TestFilesOfOtherProductsAreReadIfAskedFor(t *testing.T) {
	archive := `
-- home/.claude/settings.json --
` + handlers("PreToolUse", "exit 2") + `
-- w/.claude/settings.local.json --
` + handlers("PreToolUse", "true") + `
-- home/.codex/hooks.json --
` + handlers("PreToolUse", "true codex") + `
-- home/.config/caliban/settings.toml --
[[hooks.PreToolUse]]
matcher = "*"
[[hooks.PreToolUse.handlers]]
type = "command"
command = "true caliban"
-- home/.config/caliban/hooks.toml --
[[hooks.PreToolUse]]
[[hooks.PreToolUse.handlers]]
type = "command"
command = "true old"
`
	opts := machine(t, archive)
	if n := len(open(t, opts).List()); n != 0 {
		t.Errorf("%d hooks of others, unasked", n)
	}
	opts.Compat = []string{"claude", "caliban"}
	reg := open(t, opts)
	want := []string{"user/claude/settings.json:PreToolUse[0].0 blocked", "user/caliban/settings.toml:PreToolUse[0].0 success",
		"local/claude/settings.local.json:PreToolUse[0].0 skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !has(reg.Diagnostics(), "superseded", "it is not read") {
		t.Errorf("nothing says that hooks.toml is not read: %v", reg.Diagnostics())
	}
	opts.Compat = []string{"all"}
	if state(t, open(t, opts), "user/codex/hooks.json:PreToolUse[0].0").State != hook.StateReady {
		t.Error("all does not take codex in")
	}
	opts.Compat = []string{"cladue"}
	if _, err := registry.Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "claude") {
		t.Errorf("a product that nobody knows: %v", err)
	}
}

func TestCalibansOldFileCountsWhereNothingElseHasHooks(t *testing.T) {
	opts := machine(t, `
-- home/.config/caliban/settings.toml --
disable_all_hooks = false
-- home/.config/caliban/hooks.toml --
[[hooks.PreToolUse]]
[[hooks.PreToolUse.handlers]]
type = "command"
command = "exit 2"
`)
	opts.Compat = []string{"caliban"}
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !has(reg.Diagnostics(), "deprecated", "no settings of caliban") {
		t.Errorf("%v %v", ids(out), reg.Diagnostics())
	}
}

func TestPluginHooksAreThoseOfItsManifestToo(t *testing.T) {
	opts := machine(t, `
-- plugins/pack/.claude-plugin/plugin.json --
{"name": "pack", "hooks": ["./extra.json", "./gone.json", "../../escape.json"]}
-- plugins/pack/extra.json --
`+handlers("PreToolUse", "true extra")+`
-- plugins/pack/hooks/hooks.json --
`+handlers("PreToolUse", "true own")+`
-- escape.json --
`+handlers("PreToolUse", "true escape")+`
`)
	reg := open(t, opts)
	var got []string
	for _, l := range reg.List() {
		got = append(got, l.Hook.ID+" "+l.Hook.Command.Line+" "+string(l.State))
	}
	want := []string{"plugin/pack/extra.json:PreToolUse[0].0 true extra untrusted", "plugin/pack/hooks.json:PreToolUse[0].0 true own untrusted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !has(reg.Diagnostics(), "ref_missing", "gone.json") {
		t.Errorf("nothing says that a file is missing: %v", reg.Diagnostics())
	}
}

func TestBrokenSettingsAreAHookThatFails(t *testing.T) {
	opts := machine(t, `
-- home/.config/tenterhook/settings.toml --
[[hooks.PreToolUse
`)
	reg := open(t, opts)
	if diff := cmp.Diff([]string{"user/settings.toml skipped invalid"}, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestF5SettingsThatOthersCanWriteDoNotCount(t *testing.T) {
	built.NotOnWindows(t, "no mode says who may write, and access lists are not judged")
	opts := machine(t, `
-- home/.config/tenterhook/settings.toml --
disable_all_hooks = true
[[hooks.PreToolUse]]
command = "exit 2"
`)
	if err := os.Chmod(filepath.Join(opts.UserDir, "settings.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	reg := open(t, opts)
	want := []string{"user/settings.toml:PreToolUse[0] skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// entry is a settings file with one handler on PreToolUse.
func entry(fields string) string {
	return `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", ` + fields + `}]}]}}`
}

// The two files are of one scope; Claude's comes first, by its path.
func TestDedupeRunsTheLastTwinInTheFirstsPlace(t *testing.T) {
	const same = `"command": "true same"`
	both, first, last := []string{"claude success", "own success"}, []string{"claude success", "own skipped"}, []string{"own success", "claude skipped"}
	tests := []struct {
		name, claude, own string
		want              []string
	}{
		{"the same", same, same, last},
		{"another space", same, `"command": "true  same"`, both},
		{"another if", same, same + `, "if": "Bash(ls *)"`, both},
		{"another list of rules", same + `, "if": "Bash(ls *)"`, same + `, "if": ["Bash(ls *)", "Bash(rm *)"]`, both},
		{"args and none", same, `"command": "true", "args": ["same"]`, both},
		{"no args and empty ones", `"command": "true"`, `"command": "true", "args": []`, both},
		{"the same args", `"command": "true", "args": ["a"]`, `"command": "true", "args": ["a"]`, last},
		{"another timeout", same, same + `, "timeout": 3`, last},
		{"another status message", same, same + `, "statusMessage": "x"`, last},
		{"another shell", same, same + `, "shell": "bash"`, last},
		{"the last in the background", same, same + `, "async": true`, first},
		{"the first in the background", same + `, "async": true`, same, last},
		{"another environment", same, same + `, "env": {"A": "1"}`, both},
		{"one that cannot run here", same, same + `, "requires": {"bins": ["no-such-program"]}`, []string{"claude success", "own skipped ineligible"}},
		{"both in the background", same + `, "async": true`, same + `, "async": true, "timeout": 3`, []string{"own async", "claude skipped"}},
		{"both wake", same + `, "asyncRewake": true`, same + `, "asyncRewake": true, "timeout": 3`, []string{"own async", "claude skipped"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts := machine(t, "")
			opts.Compat = []string{"claude"}
			write(t, filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude", "settings.json"), entry(test.claude))
			write(t, filepath.Join(opts.UserDir, "settings.json"), entry(test.own))
			reg := open(t, opts)
			out := dispatch(t, reg, bash("ls -l"))
			var got []string
			for _, line := range ids(out) {
				line = strings.Replace(line, "user/claude/settings.json:PreToolUse[0].0", "claude", 1)
				got = append(got, strings.Replace(line, "user/settings.json:PreToolUse[0].0", "own", 1))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, r := range out.Results {
				if r.Status == hook.StatusSkipped && r.Failure == "" && !strings.HasPrefix(r.Reason, "disabled: ") && (!strings.HasPrefix(r.Reason, "duplicate: ") || !strings.Contains(r.Reason, "settings.json:1")) {
					t.Errorf("the drop does not name the twin: %q", r.Reason)
				}
			}
		})
	}
}

// Equal hooks of two scopes are reported at load, as those of one are.
func TestEqualHooksOfTwoScopesAreReported(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "true same"`))
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(`"command": "true same"`))
	notes := slices.DeleteFunc(open(t, opts).Diagnostics(), func(d hook.Diagnostic) bool { return d.Code != "duplicate_hook" })
	if len(notes) != 1 || notes[0].Hook != "project/settings.json:PreToolUse[0].0" || !strings.Contains(notes[0].Message, "user/settings.json:PreToolUse[0].0") {
		t.Errorf("%v", notes)
	}
}

func TestDedupeHoldsTheStricterPolicy(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	write(t, filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude", "settings.json"), entry(`"command": "exit 3", "onFailure": "block", "timeout": 5`))
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 3"`))
	reg := open(t, opts)
	out := dispatch(t, reg, bash("ls"))
	if out.Verdict != hook.Deny || out.Results[0].Hook.Source.Path != filepath.Join(opts.UserDir, "settings.json") {
		t.Errorf("%v %v", out.Verdict, ids(out))
	}
	skipped := reg.Select(bash("ls")).Skipped()
	if len(skipped) != 1 || skipped[0].Why != "duplicate" {
		t.Errorf("%+v", skipped)
	}
	if !slices.ContainsFunc(reg.Diagnostics(), func(d hook.Diagnostic) bool {
		return d.Code == "duplicate_hook" && d.Hook != "" && d.Hook != "user/settings.json:PreToolUse[0].0" && strings.Contains(d.Message, "one of them runs")
	}) {
		t.Errorf("%v", reg.Diagnostics())
	}
}

func TestDedupeKeepsPluginsApart(t *testing.T) {
	same := entry(`"command": "true same"`)
	opts := machine(t, "")
	write(t, filepath.Join(opts.PluginsDir, "a", "hooks", "hooks.json"), same)
	write(t, filepath.Join(opts.PluginsDir, "b", "hooks", "hooks.json"), same)
	write(t, filepath.Join(opts.UserDir, "settings.json"), same)
	reg := open(t, opts)
	approve(t, reg)
	want := []string{"user/settings.json:PreToolUse[0].0 success", "plugin/a/hooks.json:PreToolUse[0].0 success", "plugin/b/hooks.json:PreToolUse[0].0 success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUnapprovedTwinTakesNoPlace(t *testing.T) {
	opts := machine(t, "")
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 2"`))
	write(t, filepath.Join(opts.Workspace, ".tenterhook", "settings.json"), entry(`"command": "exit 2"`))
	want := []string{"user/settings.json:PreToolUse[0].0 blocked", "project/settings.json:PreToolUse[0].0 skipped untrusted"}
	if diff := cmp.Diff(want, ids(dispatch(t, open(t, opts), bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The first of two that are the same is switched off: it takes no place.
func TestTwinThatIsSwitchedOffTakesNoPlace(t *testing.T) {
	for off, want := range map[string][]string{
		"user/claude/settings.json:PreToolUse[0].0": {"skipped", "blocked"},
		"user/settings.json:PreToolUse[0].0":        {"blocked", "skipped"},
	} {
		opts := machine(t, "")
		opts.Compat = []string{"claude"}
		write(t, filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude", "settings.json"), entry(`"command": "exit 2"`))
		write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 2"`))
		write(t, filepath.Join(opts.UserDir, "settings.toml"), `disabled = ["`+off+`"]`)
		var got []string
		for _, r := range dispatch(t, open(t, opts), bash("ls")).Results {
			got = append(got, string(r.Status))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", off, diff)
		}
	}
}

// Three of one command: one runs, and blocks on failure if any of them does.
func TestDedupeHoldsTheStricterPolicyOfMany(t *testing.T) {
	for i := range 4 {
		opts := machine(t, "")
		opts.Compat = []string{"claude"}
		policy := func(of int) string {
			if of == i {
				return `"command": "exit 3", "onFailure": "block"`
			}
			return `"command": "exit 3"`
		}
		write(t, filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude", "settings.json"), entry(policy(0)))
		write(t, filepath.Join(opts.UserDir, "settings.json"), entry(policy(1)))
		write(t, filepath.Join(opts.UserDir, "settings.toml"), "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"exit 3\"\n"+
			map[bool]string{true: "on_failure = \"block\"\n"}[i == 2])
		out := dispatch(t, open(t, opts), bash("ls"))
		if blocks := i < 3; len(out.Results) != 3 || len(out.Failures()) != 1 || (out.Verdict == hook.Deny) != blocks {
			t.Errorf("policy of %d: %v %v", i, out.Verdict, ids(out))
		}
	}
}

// A hook of a config file that is the same as no other keeps its own policy.
func TestDedupeMakesNoOtherHookBlock(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	write(t, filepath.Join(filepath.Dir(opts.Workspace), "home", ".claude", "settings.json"), entry(`"command": "exit 3"`))
	write(t, filepath.Join(opts.UserDir, "settings.json"), entry(`"command": "exit 4"`))
	if out := dispatch(t, open(t, opts), bash("ls")); out.Verdict != hook.NoOpinion || len(out.Failures()) != 2 {
		t.Errorf("%v %v", out.Verdict, ids(out))
	}
}

// What a handler of any kind warns of reaches the outcome.
func TestWarningsOfAHandlerReachTheOutcome(t *testing.T) {
	reg := open(t, only())
	warns := hook.HandlerFunc(func(_ context.Context, c *hook.Call) (*hook.Output, error) {
		c.Warn("odd", "it is odd", "look")
		return nil, nil
	})
	if err := reg.Register(&hook.Hook{Name: "warns", Event: hook.EventPreToolUse, Handler: warns}); err != nil {
		t.Fatal(err)
	}
	if out := dispatch(t, reg, bash("ls")); !has(out.Diagnostics, "odd", "it is odd") {
		t.Errorf("%v", out.Diagnostics)
	}
}

// Hooks that replace a tool's output side by side each get what the last one left,
// and so does a declared one: no redaction is lost.
func TestEveryReplacementOfAnOutputCounts(t *testing.T) {
	for name, configure := range map[string]func(*hook.Hook){"undeclared": func(*hook.Hook) {}, "declared": rewrites} {
		reg := open(t, only())
		for _, word := range []string{"one", "two", "three"} {
			redact := func(_ context.Context, in hook.PostToolUse) (*hook.Output, error) {
				text := strings.ReplaceAll(string(in.ToolResponse), word, "…")
				return &hook.Output{Verdict: hook.Deny, Reason: word, UpdatedToolOutput: []byte(text)}, nil
			}
			if err := registry.On(reg, word, redact, configure); err != nil {
				t.Fatal(err)
			}
		}
		if err := registry.On(reg, "silent", func(context.Context, hook.PostToolUse) (*hook.Output, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		out := dispatch(t, reg, hook.PostToolUse{ToolName: "Bash", ToolResponse: []byte(`"one two three four"`)})
		if string(out.UpdatedToolOutput) != `"… … … four"` || out.Verdict != hook.Deny {
			t.Errorf("%s: %s, %v", name, out.UpdatedToolOutput, out.Verdict)
		}
	}
	reg := open(t, only())
	if err := registry.On(reg, "broken", func(context.Context, hook.PostToolUse) (*hook.Output, error) {
		return &hook.Output{UpdatedToolOutput: []byte(`{oops`)}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if out := dispatch(t, reg, hook.PostToolUse{ToolName: "Bash", ToolResponse: []byte(`"x"`)}); out.UpdatedToolOutput != nil || len(out.Failures()) != 1 {
		t.Errorf("%s %v", out.UpdatedToolOutput, ids(out))
	}
}

// Each file that a product keeps in a project marks the project's root, for a
// registry that reads the product's files, and for no other.
func TestFilesOfProductsMarkTheRootOfAProject(t *testing.T) {
	places := 0
	for _, product := range dialect.Products() {
		for _, place := range dialect.ConfigPlaces(product) {
			if place.Base != dialect.BaseWorkspace {
				continue
			}
			for _, name := range place.Names {
				places++
				opts := machine(t, "")
				sub := filepath.Join(opts.Workspace, "a", "b")
				write(t, filepath.Join(opts.Workspace, filepath.FromSlash(strings.ReplaceAll(name, "*", "x"))), "{}")
				write(t, filepath.Join(sub, "x"), "")
				root := opts.Workspace
				opts.Workspace = sub
				if got := open(t, opts).Workspace(); got != sub {
					t.Errorf("%s: of nobody's files the root is %s", name, got)
				}
				opts.Compat = []string{product}
				if got := open(t, opts).Workspace(); got != root {
					t.Errorf("%s of %s: the root is %s", name, product, got)
				}
			}
		}
	}
	if places < 12 {
		t.Errorf("only %d places", places)
	}
}

// Hooks of every kind that differ are no duplicates, and copies of each kind are.
func TestDedupeOfEveryKindDropsCopiesAlone(t *testing.T) {
	fields := map[hook.Kind]func(i int) string{
		hook.KindCommand: func(i int) string { return fmt.Sprintf(`"type": "command", "command": "true %d"`, i) },
		hook.KindHTTP:    func(i int) string { return fmt.Sprintf(`"type": "http", "url": "https://example.com/%d"`, i) },
		hook.KindMCP:     func(i int) string { return fmt.Sprintf(`"type": "mcp_tool", "server": "s", "tool": "t%d"`, i) },
		hook.KindPrompt:  func(i int) string { return fmt.Sprintf(`"type": "prompt", "prompt": "p%d"`, i) },
		hook.KindAgent:   func(i int) string { return fmt.Sprintf(`"type": "agent", "prompt": "p%d"`, i) },
	}
	answers := hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })
	for kind, of := range fields {
		opts := machine(t, "")
		opts.Handlers = map[hook.Kind]hook.Handler{}
		for kind := range fields {
			opts.Handlers[kind] = answers
		}
		one, two, same := of(1), of(2), fields[hook.KindCommand](9)
		if kind == hook.KindCommand {
			same = fields[hook.KindPrompt](9)
		}
		write(t, filepath.Join(opts.UserDir, "settings.json"), `{"hooks": {"PreToolUse": [{"hooks": [{`+one+`}, {`+two+`}, {`+one+`}, {`+same+`}]}]}}`)
		var got []string
		for _, r := range dispatch(t, open(t, opts), bash("ls")).Results {
			got = append(got, string(r.Status))
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"skipped", "success", "success", "success"}, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", kind, diff)
		}
	}
}

// An administrator's settings for Claude Code are beside the managed folder.
func TestManagedSettingsOfAnotherProductLieBesideOurs(t *testing.T) {
	opts := machine(t, "")
	opts.Compat = []string{"claude"}
	beside := filepath.Dir(opts.ManagedDir)
	for _, folder := range []string{"claude-code", "ClaudeCode"} {
		write(t, filepath.Join(beside, folder, "managed-settings.json"), `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}`)
	}
	reg := open(t, opts)
	var found []string
	for _, l := range reg.List() {
		if l.Hook.Scope == hook.ScopeManaged && l.State == hook.StateReady {
			found = append(found, filepath.Base(filepath.Dir(l.Hook.Source.Path)))
		}
	}
	if len(found) != 1 || !strings.EqualFold(strings.ReplaceAll(found[0], "-", ""), "claudecode") {
		t.Errorf("found %q", found)
	}
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
		t.Errorf("%+v", out)
	}
}

// finder is a handler that finds the same wrong with each of its hooks.
type finder struct{ found hook.Diagnostic }

func (finder) Handle(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }

func (f finder) Check(*hook.Call) []hook.Diagnostic { return []hook.Diagnostic{f.found} }

func TestAHooksStatusIsWhatItsHandlerFindsWrong(t *testing.T) {
	for _, test := range []struct {
		found hook.Diagnostic
		state hook.State
		says  string
	}{
		{hook.Diagnostic{Severity: hook.SeverityError, Code: "bad_expression", Line: 3, Message: "no such field"}, hook.StateInvalid, "line 3, column 1: no such field; correct the expression"},
		{hook.Diagnostic{Severity: hook.SeverityError, Code: "bad_expression", Line: 3, Column: 7, Message: "no such field"}, hook.StateInvalid, "line 3, column 7: no such field; correct the expression"},
		{hook.Diagnostic{Severity: hook.SeverityError, Code: "bad_condition", Message: "it is empty", Hint: "fill it"}, hook.StateInvalid, "it is empty; fill it"},
		{hook.Diagnostic{Severity: hook.SeverityError, Code: "no_server", Message: "no server", Hint: "name one"}, hook.StateIneligible, "no server; name one"},
		{hook.Diagnostic{Severity: hook.SeverityWarning, Code: "no_server", Message: "no server", Hint: "name one"}, hook.StateReady, "; "},
	} {
		opts := only(tree(t, "\n-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"http\"\nurl = \"https://x\"\n+++\n"))
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindHTTP: finder{test.found}}
		list := open(t, opts).List()
		if len(list) != 1 || list[0].State != test.state || list[0].Why+"; "+list[0].Hint != test.says {
			t.Errorf("%+v: %+v", test.found, list)
		}
	}
}
