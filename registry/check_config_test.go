package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	said := []string{fmt.Sprintf("%d files, %d hooks", report.Files, report.Hooks)}
	for _, d := range report.Diagnostics {
		if d.Severity != hook.SeverityInfo && d.Code != "cannot_start" {
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
-- broken/settings.json --
{"hooks": 
-- other/package.json --
{"name": "x"}
-- .cursor/hooks.json --
{"version": 1, "hooks": {"afterAgentResponse": [{"command": "true"}]}}
-- .codex/config.toml --
[[hooks.Stop]]
hooks = [{type = "command", command = "true"}]
`)
	for path, want := range map[string][]string{
		"claude/settings.json":  {"1 files, 1 hooks"},
		"matcher/settings.json": {"1 files, 1 hooks", "settings.json:1 matcher_invalid"},
		"broken/settings.json":  {"1 files, 0 hooks", "settings.json:1 syntax"},
		"other/package.json":    {"1 files, 0 hooks", "package.json:1 no_hooks"},
		".cursor/hooks.json":    {"1 files, 1 hooks"},
		".codex/config.toml":    {"1 files, 1 hooks"},
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
