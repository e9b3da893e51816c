package dialect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// readText reads a config file as if it lay at path, in a scope of its own.
func readText(path, text string) Config {
	return ReadConfig(ConfigSource{Source: hook.Source{Path: path}, Scope: hook.ScopeUser}, []byte(text))
}

// describe is a hook in a line: event, matcher, rule, what runs and how.
func describe(h *hook.Hook) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", h.Event)
	if h.Matcher != "" {
		fmt.Fprintf(&b, " %q", h.Matcher)
	}
	if h.Syntax != "" {
		fmt.Fprintf(&b, "/%s", h.Syntax)
	}
	if len(h.If) > 0 {
		fmt.Fprintf(&b, " if %s", h.If)
	}
	fmt.Fprintf(&b, " %s", h.Kind)
	if c := h.Command; c != nil {
		fmt.Fprintf(&b, " %q", c.Line)
		if c.Args != nil {
			fmt.Fprintf(&b, "%q", c.Args)
		}
		if c.Shell != "" {
			fmt.Fprintf(&b, " in %s", c.Shell)
		}
	}
	if h.Timeout > 0 {
		fmt.Fprintf(&b, " %v", h.Timeout)
	}
	if h.OnFailure != "" {
		fmt.Fprintf(&b, " or %s", h.OnFailure)
	}
	if h.State != hook.StateReady {
		fmt.Fprintf(&b, " (%s)", h.State)
	}
	return b.String()
}

func describeAll(c Config) []string {
	lines := make([]string, len(c.Hooks))
	for i, h := range c.Hooks {
		lines[i] = describe(h)
	}
	return lines
}

// codes are the notes of a config, without info: line, severity's initial, code.
func codes(c Config) []string {
	var list []string
	for _, n := range c.Notes {
		if n.Severity != hook.SeverityInfo {
			list = append(list, fmt.Sprintf("%d %c %s", n.Line, n.Severity[0], n.Code))
		}
	}
	return list
}

// configCase is a file, and what must come of it.
type configCase struct {
	name    string
	path    string
	text    string
	product string
	hooks   []string
	notes   []string
}

func checkConfigs(t *testing.T, cases []configCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := readText(c.path, c.text)
			if got.Product != c.product {
				t.Errorf("product %q, want %q", got.Product, c.product)
			}
			if diff := cmp.Diff(c.hooks, describeAll(got), cmpEmpty); diff != "" {
				t.Errorf("hooks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, codes(got), cmpEmpty); diff != "" {
				t.Errorf("notes (-want +got):\n%s\n%v", diff, got.Notes)
			}
		})
	}
}

// cmpEmpty makes no list and an empty one the same.
var cmpEmpty = cmp.Transformer("empty", func(list []string) string { return strings.Join(list, "\n") })

func TestConfigHookHasItsPlaceAsNameAndLine(t *testing.T) {
	got := readText("/w/.claude/settings.json", `{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "./a"},
        {"type": "command", "command": "./b", "name": "second", "timeout": 5}
      ]}
    ],
    "Stop": [{"name": "group", "hooks": [
      {"type": "command", "command": "./c"}]}]
  }
}`)
	type placed struct {
		ID, Name string
		Line     int
	}
	want := []placed{
		{"user/settings.json:PreToolUse[0].0", "settings.json:PreToolUse[0].0", 5},
		{"user/second", "second", 6},
		{"user/group", "group", 10},
	}
	var have []placed
	for _, h := range got.Hooks {
		have = append(have, placed{h.ID, h.Name, h.Source.Line})
		if h.Source.Path != "/w/.claude/settings.json" || h.Source.Dir != "" || h.Scope != hook.ScopeUser {
			t.Errorf("%s: source %+v, scope %v", h.ID, h.Source, h.Scope)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestConfigHookOfAPackageHasItInTheID(t *testing.T) {
	src := ConfigSource{Source: hook.Source{Path: "/p/hooks/hooks.json", Root: "/p", Data: "/d"}, Scope: hook.ScopePlugin, Package: "fmt"}
	got := ReadConfig(src, []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`))
	h := got.Hooks[0]
	if h.ID != "plugin/fmt/hooks.json:Stop[0].0" || h.Source.Root != "/p" || h.Source.Data != "/d" {
		t.Errorf("ID %s, source %+v", h.ID, h.Source)
	}
}

func TestConfigNamesAreUniqueInAFile(t *testing.T) {
	got := readText("settings.json", `{"hooks": {"Stop": [{"hooks": [
		{"type": "command", "command": "a", "name": "x"}, {"type": "command", "command": "b", "name": "x"},
		{"type": "command", "command": "c", "name": "x#2"}, {"type": "command", "command": "d", "name": "x"}]}]}}`)
	seen := map[string]bool{}
	for _, h := range got.Hooks {
		if seen[h.Name] {
			t.Errorf("%q stands twice", h.Name)
		}
		seen[h.Name] = true
	}
	if len(seen) != 4 {
		t.Errorf("names %v, want 4", seen)
	}
}

func TestConfigNotesNameTheirHook(t *testing.T) {
	got := readText("settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "timeout": -1}]}]}}`)
	if len(got.Notes) != 1 || got.Notes[0].Hook != got.Hooks[0].ID {
		t.Errorf("notes %v, want one about %s", got.Notes, got.Hooks[0].ID)
	}
	if got.Hooks[0].State != hook.StateInvalid || !strings.Contains(got.Hooks[0].Why, "negative") {
		t.Errorf("state %s: %s", got.Hooks[0].State, got.Hooks[0].Why)
	}
}

func TestConfigTimes(t *testing.T) {
	for _, c := range []struct {
		path, handler string
		want          time.Duration
		notes         []string
	}{
		{".claude/settings.json", `"timeout": 5`, 5 * time.Second, nil},
		{".claude/settings.json", `"timeout": 0.5`, 500 * time.Millisecond, nil},
		{".claude/settings.json", `"timeout": "2m"`, 2 * time.Minute, nil},
		{".claude/settings.json", `"timeout": 5000`, 5000 * time.Second, []string{"1 w milliseconds"}},
		{".claude/settings.json", `"timeout": 0`, 0, []string{"1 w zero_timeout"}},
		{".claude/settings.json", `"timeout": null`, 0, nil},
		{".claude/settings.json", `"timeout": -1`, 0, []string{"1 e bad_timeout"}},
		{".claude/settings.json", `"timeout": 1e300`, 0, []string{"1 e bad_timeout"}},
		{".claude/settings.json", `"timeout": "soon"`, 0, []string{"1 e bad_timeout"}},
		{".claude/settings.json", `"timeout": [5]`, 0, []string{"1 e bad_timeout"}},
		{".gemini/settings.json", `"timeout": 5000`, 5 * time.Second, nil},
		{".gemini/settings.json", `"timeout": 30`, 30 * time.Millisecond, []string{"1 w milliseconds"}},
		{".gemini/settings.json", `"name": "x"`, time.Minute, nil},
		{".qwen/settings.json", `"timeout": 20`, 20 * time.Second, nil},
		{".qwen/settings.json", `"timeout": 999`, 999 * time.Second, nil},
		{".qwen/settings.json", `"timeout": 1000`, time.Second, nil},
		{".qwen/settings.json", `"timeout": 20000`, 20 * time.Second, nil},
		{".github/hooks/a.json", `"timeoutSec": 7`, 7 * time.Second, nil},
		{".github/hooks/a.json", `"name": "x"`, 30 * time.Second, nil},
		{".kiro/agents/a.json", `"timeout_ms": 1500`, 1500 * time.Millisecond, nil},
		{".kiro/agents/a.json", `"name": "x"`, 30 * time.Second, nil},
	} {
		got := readText(c.path, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "a", `+c.handler+`}]}]}}`)
		if len(got.Hooks) != 1 || got.Hooks[0].Timeout != c.want {
			t.Errorf("%s %s: %v, want %v", c.path, c.handler, describeAll(got), c.want)
		}
		if diff := cmp.Diff(c.notes, codes(got), cmpEmpty); diff != "" {
			t.Errorf("%s %s: notes (-want +got):\n%s", c.path, c.handler, diff)
		}
	}
}

func ExampleReadConfig() {
	config := ReadConfig(ConfigSource{Source: hook.Source{Path: ".gemini/settings.json"}, Scope: hook.ScopeProject}, []byte(`{
  "hooks": {
    "BeforeTool": [{"matcher": "run_shell_command", "hooks": [
      {"type": "command", "command": "./guard.sh", "timeout": 5000}
    ]}]
  }
}`))
	for _, h := range config.Hooks {
		fmt.Println(h.ID, "on", h.Event, "of", h.Matcher, "runs", h.Command.Line, "for", h.Timeout)
	}
	// Output: project/settings.json:BeforeTool[0].0 on PreToolUse of run_shell_command|^(?:Bash)$ runs ./guard.sh for 5s
}
