package registry_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// check returns what Check says of paths: how many files and hooks, and the
// codes of its diagnostics with the names of their files.
func check(t *testing.T, paths ...string) []string {
	t.Helper()
	report, err := registry.Check(t.Context(), only(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	remedied(t, report.Diagnostics)
	said := []string{fmt.Sprintf("%d files, %d hooks", report.Files, report.Hooks)}
	for _, d := range report.Diagnostics {
		here := d.Severity == hook.SeverityWarning && d.Code == "cannot_start" // said of this machine
		if d.Severity != hook.SeverityInfo && !here {
			said = append(said, fmt.Sprintf("%s:%d %s", filepath.Base(d.Path), d.Line, d.Code))
		}
	}
	return said
}

const stopHook = `{"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}`

func TestCheckReadsConfigFilesOfOtherProducts(t *testing.T) {
	dir := tree(t, `
-- claude/settings.json --
{"hooks": `+stopHook+`}
-- matcher/settings.json --
{"hooks": {"PreToolUse": [{"matcher": "*.py", "hooks": [{"type": "command", "command": "true"}]}]}}
-- gone/settings.json --
{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./gone.sh"}]}]}, "statusLine": {"type": "command", "command": "./gone.sh"}}
-- broken/settings.json --
{"hooks": 
-- other/package.json --
{"name": "x"}
-- noted/settings.jsonc --
{"hooks": `+stopHook+`} // noted
-- five/hooks.json5 --
{"hooks": `+stopHook+`}
-- action/lint.kiro.hook --
{"name": "lint", "when": {"type": "agentStop"}, "then": {"type": "runCommand", "command": "true"}}
-- plain/HOOK.markdown --
+++
event = "Stop"
command = "true"
+++
-- .cursor/hooks.json --
{"version": 1, "hooks": {"afterAgentResponse": [{"command": "true"}]}}
-- .codex/config.toml --
[[hooks.Stop]]
hooks = [{type = "command", command = "true"}]
`)
	for path, want := range map[string][]string{
		"claude/settings.json":  {"1 files, 1 hooks"},
		"matcher/settings.json": {"1 files, 1 hooks", "settings.json:1 matcher_invalid"},
		"gone/settings.json":    {"1 files, 1 hooks"},
		"broken/settings.json":  {"1 files, 0 hooks", "settings.json:1 syntax"},
		"other/package.json":    {"1 files, 0 hooks", "package.json:1 no_hooks"},
		".cursor/hooks.json":    {"1 files, 1 hooks"},
		".codex/config.toml":    {"1 files, 1 hooks"},
		"noted/settings.jsonc":  {"1 files, 1 hooks"},
		"five/hooks.json5":      {"1 files, 1 hooks"},
		"action/lint.kiro.hook": {"1 files, 1 hooks"},
		"plain/HOOK.markdown":   {"1 files, 1 hooks"},
		"none.json":             {"0 files, 0 hooks", "none.json:0 unreadable"},
	} {
		if diff := cmp.Diff(want, check(t, filepath.Join(dir, path))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestCheckFindsTheConfigFilesOfAFolder(t *testing.T) {
	dir := tree(t, `
-- .claude/settings.json --
{"hooks": `+stopHook+`}
-- .github/hooks/a.json --
{"hooks": {"sessionStart": [{"bash": "true"}]}}
-- .gemini/settings.json --
{}
-- guard/HOOK.md --
+++
event = "PreToolUse"
command = "true"
+++
`)
	if diff := cmp.Diff([]string{"4 files, 3 hooks"}, check(t, dir)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCheckFollowsAPluginsManifestWithinItsRoot(t *testing.T) {
	dir := tree(t, `
-- p/.claude-plugin/plugin.json --
{"name": "p", "hooks": ["./more.json", "./gone.json", "../out.json", "./linked.json"]}
-- p/more.json --
{"hooks": `+stopHook+`}
-- out.json --
{"hooks": `+stopHook+`}
-- p/hooks/hooks.json --
{"hooks": `+stopHook+`}
`)
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(dir, "out.json"), filepath.Join(dir, "p/linked.json")); err != nil {
			t.Fatal(err)
		}
	}
	missing := []string{"plugin.json:1 ref_escapes", "plugin.json:1 ref_missing", "plugin.json:1 ref_missing"}
	manifest := filepath.Join(dir, "p/.claude-plugin/plugin.json")
	sorted := func(list []string) map[string]int {
		count := map[string]int{}
		for _, s := range list {
			count[s]++
		}
		return count
	}
	if diff := cmp.Diff(sorted(append(missing, "2 files, 1 hooks")), sorted(check(t, manifest))); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(append(missing, "3 files, 2 hooks")), sorted(check(t, filepath.Join(dir, "p")))); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
}

func TestF1CheckOfWhatIsNoFileDoesNotHang(t *testing.T) {
	dir := t.TempDir()
	parent := filepath.Join(dir, "w", ".claude")
	if err := os.MkdirAll(filepath.Join(parent, "settings.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0 files, 0 hooks", "settings.json:0 unreadable"}, check(t, filepath.Join(dir, "w"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A path is a manifest, its folder, or a folder of such folders; what is wrong
// with a hook stands in the report with its line, and that it blocks.
func TestCheckOfManifestsSaysWhatIsWrongAndWhatFollows(t *testing.T) {
	dir := tree(t, strings.Replace(`
-- good/HOOK.md --
+++
event = "PreToolUse"
command = "true"
+++
-- several/HOOK.md --
+++
events = ["PreToolUse", "Stop"]
command = "true"
+++
-- matcher/HOOK.md --
+++
event = "PreToolUse"
matcher = "Ba(sh"
command = "true"
+++
-- late/HOOK.md --
+++
event = "PreToolUse"
matcher = '(?=LONG)'
command = "true"
+++
-- needs/HOOK.md --
+++
event = "PreToolUse"
command = "true"
[requires]
bins = ["no-such-program"]
+++
-- guards/HOOK.md --
+++
event = "PreToolUse"
command = "true"
on_failure = "block"
[requires]
bins = ["no-such-program"]
+++
-- kind/HOOK.md --
+++
event = "PreToolUse"
type = "prompt"
prompt = "p"
+++
-- broken/HOOK.md --
+++
event = 
+++
-- empty/none.txt --
-- folder/HOOK.md/x --
`, "LONG", strings.Repeat("a", 5000), 1))
	var missing *fs.PathError
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.As(err, &missing) {
		t.Fatal(err)
	}
	const blocks = " and blocks every PreToolUse that it concerns"
	for path, want := range map[string][]string{
		"good":            {"1 1"},
		"good/HOOK.md":    {"1 1"},
		"several/HOOK.md": {"1 2"},
		"matcher":         {"1 1", "error matcher_invalid"},
		"late":            {"1 1", "error matcher_invalid"},
		"needs":           {"1 1", "warning ineligible it cannot run: needs no-such-program on PATH: not found"},
		"guards":          {"1 1", "error ineligible it cannot run" + blocks + ": needs no-such-program on PATH: not found"},
		"kind":            {"1 1", "warning unsupported it cannot run: nothing here runs prompt hooks"},
		"broken":          {"1 0", "error syntax"},
		"folder":          {"1 0", "error not_a_file"},
		"none":            {"0 0", "error unreadable it cannot be read: no such file or directory"},
		"empty/none.txt":  {"1 0", "error no_frontmatter"},
	} {
		full := filepath.Join(dir, path)
		report, err := registry.Check(t.Context(), only(), full)
		if err != nil {
			t.Fatal(err)
		}
		remedied(t, report.Diagnostics)
		got := []string{fmt.Sprint(report.Files, " ", report.Hooks)}
		for _, d := range report.Diagnostics {
			line := string(d.Severity) + " " + d.Code
			if len(want) > 1 && len(strings.Fields(want[1])) > 2 {
				line += " " + strings.SplitN(d.Message, ",", 2)[0]
			}
			got = append(got, strings.Replace(line, missing.Err.Error(), "no such file or directory", 1))
			if file := strings.TrimSuffix(full, "/HOOK.md"); !strings.HasPrefix(d.Path, file) {
				t.Errorf("%s: %s is about %s", path, d.Code, d.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
	}
	if report, err := registry.Check(t.Context(), only(), dir); err != nil || report.Files != 9 || report.Hooks != 8 {
		t.Errorf("the folder: %+v, %v", report, err)
	}
}

func TestCheckOfAllScopesCountsFilesAndHooks(t *testing.T) {
	dir := tree(t, `
-- a/HOOK.md --
+++
events = ["PreToolUse", "Stop"]
command = "true"
+++
-- b/HOOK.md --
+++
event = "PreToolUse"
command = 5
+++
-- settings.json --
{"hooks": `+stopHook+`}
`)
	report, err := registry.Check(t.Context(), only(dir))
	if err != nil || report.Files != 3 || report.Hooks != 3 || report.Workspace == "" || !hook.HasErrors(report.Diagnostics) {
		t.Errorf("%+v, %v", report, err)
	}
	opts := only(dir)
	opts.Compat = []string{"nobody's"}
	for _, paths := range [][]string{nil, {dir}} {
		if _, err := registry.Check(t.Context(), opts, paths...); err == nil {
			t.Errorf("%v: a product that nobody knows is no error", paths)
		}
	}
}

// What stands twice is said once, also where one file leads to another.
func TestCheckSaysOnceWhatTwoPathsLeadTo(t *testing.T) {
	dir := tree(t, `
-- p/.claude-plugin/plugin.json --
{"name": "p", "hooks": ["./hooks/hooks.json", "./hooks/hooks.json"]}
-- p/hooks/hooks.json --
{"hooks": {"PreToolUse": [{"matcher": "Ba(sh", "hooks": [{"type": "command", "command": "true"}]}]}}
`)
	p := filepath.Join(dir, "p")
	if diff := cmp.Diff([]string{"2 files, 1 hooks", "hooks.json:1 matcher_invalid"}, check(t, p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"4 files, 2 hooks", "hooks.json:1 matcher_invalid"}, check(t, p, p)); diff != "" {
		t.Errorf("twice: -want +got:\n%s", diff)
	}
}

// checker notes where it was asked to look.
type checker struct {
	hook.HandlerFunc
	dirs []string
}

func (c *checker) Check(call *hook.Call) []hook.Diagnostic {
	c.dirs = append(c.dirs, call.ProjectDir+" "+call.Dir)
	return nil
}

// A file is checked in the project that it is in; one of the home directory in
// the workspace.
func TestCheckLooksInTheProjectOfAFile(t *testing.T) {
	dir := tree(t, "-- w/.claude/settings.json --\n{\"hooks\": "+stopHook+"}\n-- home/.claude/settings.json --\n{\"hooks\": "+stopHook+"}\n-- plain/settings.json --\n{\"hooks\": "+stopHook+"}\n-- .hidden/home/.claude/settings.json --\n{\"hooks\": "+stopHook+"}\n")
	here := t.TempDir()
	for path, want := range map[string]string{"w/.claude/settings.json": filepath.Join(dir, "w"), "home/.claude/settings.json": here, "plain/settings.json": here, ".hidden/home/.claude/settings.json": here} {
		c := &checker{}
		opts := only()
		opts.Workspace, opts.Env = here, []string{"HOME=" + filepath.Join(dir, "home")}
		if strings.HasPrefix(path, ".hidden") {
			opts.Env = []string{"HOME=" + filepath.Join(dir, ".hidden", "home")}
		}
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindCommand: c}
		if _, err := registry.Check(t.Context(), opts, filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want + " " + want}, c.dirs); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
	}
}
