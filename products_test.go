package tenterhook_test

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

const (
	claudeHooks = `{"PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "true", "timeout": 5}]}],
		"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "true"}]}], "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}`
	calibanHooks = "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhandlers = [{type = \"command\", command = \"true\", timeout = \"2s\", on_failure = \"block\"}]\n"
	cursorHooks  = `{"version": 1, "hooks": {"beforeShellExecution": [{"command": "true", "failClosed": true}], "afterFileEdit": [{"command": "true", "matcher": "*"}], "stop": [{"command": "true"}]}}`
	copilotHooks = `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "true", "timeoutSec": 5}], "sessionStart": [{"type": "command", "bash": "true"}]}}`
	geminiHooks  = `{"theme": "x", "hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"matcher": "write_file|replace", "sequential": true, "hooks": [{"type": "command", "command": "true", "timeout": 5000}]}]}}`
	surfHooks    = `{"hooks": {"pre_run_command": [{"command": "true", "show_output": true}], "pre_user_prompt": [{"command": "true"}]}}`
	gravityHooks = `{"lint": {"description": "d", "PostToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "true"}]}], "Stop": [{"command": "true"}]}}`
)

// correct are files as the products' own documentation has them, each with a hook.
var correct = map[string]string{
	".tenterhook/settings.toml":       "default_on_failure = \"block\"\nmax_async = 4\n[breaker]\nfailures = 3\n[[hooks.PreToolUse]]\nname = \"guard\"\nmatcher = \"Bash\"\nif = [\"Bash(rm *)\"]\ncommand = \"true\"\n",
	".tenterhook/settings.json":       `{"disabled": [], "hooks": ` + claudeHooks + `}`,
	".tenterhook/local/settings.toml": "[[hooks.Stop]]\ncommand = \"true\"\n",
	".tenterhook/local/settings.json": `{"hooks": ` + claudeHooks + `}`,

	".caliban/settings.toml": calibanHooks,
	".caliban/settings.json": `{"hooks": {"PreToolUse": [{"matcher": "Bash", "handlers": [{"type": "command", "command": "true"}]}]}}`,
	".caliban/hooks.toml":    calibanHooks,

	".claude/settings.json":       `{"permissions": {"allow": ["Bash"]}, "hooks": ` + claudeHooks + `}`,
	".claude/settings.local.json": `{"hooks": ` + claudeHooks + `}`,
	".claude/hooks.json":          `{"hooks": ` + claudeHooks + `}`,
	".claude-plugin/plugin.json":  `{"name": "p", "version": "1.0.0", "hooks": ` + claudeHooks + `}`,

	".codex/hooks.json":         `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "statusMessage": "s", "timeout": 5}]}]}}`,
	".codex/config.toml":        "model = \"m\"\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"true\"\n",
	".codex-plugin/plugin.json": `{"name": "p", "version": "1.0.0", "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,

	".gemini/settings.json": geminiHooks,

	".github/hooks/a.json":  copilotHooks,
	".github/hooks.json":    copilotHooks,
	".copilot/hooks/a.json": copilotHooks,

	".cursor/hooks.json":         cursorHooks,
	".cursor-plugin/plugin.json": `{"name": "p", "version": "1.0.0", "hooks": {"beforeShellExecution": [{"command": "true"}]}}`,

	".windsurf/hooks.json":         surfHooks,
	".codeium/windsurf/hooks.json": surfHooks,

	".kiro/agents/a.json":     `{"name": "a", "description": "d", "tools": ["*"], "hooks": {"preToolUse": [{"matcher": "execute_bash", "command": "true", "timeout_ms": 2000}], "agentSpawn": [{"command": "true"}]}}`,
	".kiro/hooks/x.kiro.hook": `{"enabled": true, "name": "n", "description": "d", "version": "1", "when": {"type": "preToolUse", "toolTypes": ["read"]}, "then": {"type": "runCommand", "command": "true"}}`,

	".factory/settings.json":       `{"hooks": {"PreToolUse": [{"matcher": "Execute", "hooks": [{"type": "command", "command": "true", "timeout": 5}]}]}}`,
	".factory/settings.local.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
	".factory/hooks.json":          `{"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "true"}]}]}`,
	".factory-plugin/plugin.json":  `{"name": "p", "version": "1.0.0", "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,

	".agents/hooks.json":         gravityHooks,
	".antigravitycli/hooks.json": gravityHooks,
	".gemini/config/hooks.json":  gravityHooks,

	".qwen/settings.json": `{"hooks": {"PreToolUse": [{"matcher": "run_shell_command", "sequential": true, "hooks": [{"type": "command", "command": "true", "timeout": 5000}]}]}}`,
}

// A correct file of each product, in each place where it keeps one, loads and is
// clean. A product or a place without one fails here.
func TestCheckReportsNothingOfACorrectFileOfEachProduct(t *testing.T) {
	left := make(map[string]bool)
	for name := range correct {
		left[name] = true
	}
	for _, product := range dialect.Products() {
		for _, pattern := range dialect.ConfigFiles(product) {
			var names []string
			for name := range correct {
				if ok, _ := path.Match(pattern, name); ok {
					names = append(names, name)
					delete(left, name)
				}
			}
			if len(names) == 0 {
				t.Errorf("%s: no correct file stands for %s", product, pattern)
			}
			slices.Sort(names)
			for _, name := range names {
				root := filepath.Join(t.TempDir(), "project")
				file := filepath.Join(root, filepath.FromSlash(name))
				put(t, file, correct[name])
				opts := hostOf(t)
				opts.Workspace = root
				for _, at := range []string{file, root} {
					report, err := tenterhook.Check(t.Context(), opts, at)
					if err != nil {
						t.Fatal(err)
					}
					notes := slices.DeleteFunc(report.Diagnostics, func(d hook.Diagnostic) bool {
						return name == ".caliban/hooks.toml" && d.Code == "deprecated" // as it is
					})
					if len(notes) > 0 || report.Hooks == 0 {
						t.Errorf("%s: %s, as %s: %d hooks, %v", product, name, strings.TrimPrefix(at, root), report.Hooks, notes)
					}
				}
			}
		}
	}
	for name := range left {
		t.Errorf("%s is no product's file", name)
	}
}

// A correct file of which any part is missing, or is of another type, is read
// without a panic: a workspace may hold anything.
func TestNoFileOfAProductBreaksTheReader(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	read := func(name, text string) {
		t.Helper()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: %v: %s", name, p, text)
			}
		}()
		for _, product := range append(slices.DeleteFunc(dialect.Products(), func(p string) bool { return !owns(p, name) }), "") {
			dialect.ReadConfig(dialect.ConfigSource{Product: product, Source: hook.Source{Path: "/w/" + name, Root: "/w"}}, []byte(text))
		}
	}
	for name, text := range correct {
		for _, text := range []string{"", "{}", "[]", "null", "5", `"x"`, "{\"hooks\": null}", "hooks = 5"} {
			read(name, text)
		}
		var doc any
		if json.Unmarshal([]byte(text), &doc) != nil {
			continue
		}
		all := func() {
			t.Helper()
			changed, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			read(name, string(changed))
		}
		spoil(doc, all)
	}
}

// owns reports whether a file is one of a product.
func owns(product, name string) bool {
	return slices.ContainsFunc(dialect.ConfigFiles(product), func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// spoil puts something else in the place of each part of a document, one at a
// time, and nothing.
func spoil(doc any, then func()) {
	others := []any{nil, 5.5, "x", true, []any{}, map[string]any{}, []any{nil}, []any{5.5, "x"}, map[string]any{"x": nil}, []any{map[string]any{}}}
	switch v := doc.(type) {
	case map[string]any:
		for key, was := range v {
			for _, other := range others {
				v[key] = other
				then()
			}
			delete(v, key)
			then()
			v[key] = was
			spoil(was, then)
		}
	case []any:
		for i, was := range v {
			for _, other := range others {
				v[i] = other
				then()
			}
			v[i] = was
			spoil(was, then)
		}
	}
}
