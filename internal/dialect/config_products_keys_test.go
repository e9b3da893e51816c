package dialect

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// keysOfHandlers are the keys of handlers that only some products have: a
// handler, the key's value in it, and the products in whose files it counts.
var keysOfHandlers = []struct{ handler, key, value, products string }{
	{`"command": "a"`, "if", `"Bash(x)"`, "tenterhook caliban claude factory qwen"},
	{`"command": "a"`, "shell", `"bash"`, "tenterhook claude factory qwen"},
	{`"command": "a"`, "async", `true`, "tenterhook caliban claude codex factory qwen"},
	{`"command": "a"`, "asyncRewake", `true`, "tenterhook claude factory"},
	{`"command": "a"`, "once", `true`, "tenterhook claude factory qwen"},
	{`"command": "a"`, "statusMessage", `"s"`, "tenterhook claude codex factory qwen"},
	{`"command": "a"`, "onFailure", `"continue"`, "tenterhook caliban claude factory"},
	{`"command": "a"`, "env", `{"A": "b"}`, "tenterhook caliban gemini copilot qwen"},
	{`"command": "a"`, "cwd", `"/x"`, "copilot"},
	{`"command": "a"`, "working_directory", `"/x"`, "windsurf"},
	{`"command": "a"`, "failClosed", `true`, "cursor"},
	{`"command": "a"`, "timeoutSec", `3`, "copilot"},
	{`"command": "a"`, "timeout_ms", `3000`, "kiro"},
	{`"command": "a"`, "priority", `3`, "tenterhook"},
	{`"command": "a"`, "rewrites", `true`, "tenterhook"},
	{`"command": "a"`, "protocol", `"moltis"`, "tenterhook"},
	{`"command": "a"`, "enabled", `false`, "tenterhook"},
	{`"command": "a"`, "requires", `{"bins": ["x"]}`, "tenterhook"},
	{`"command": "a"`, "breaker", `{"failures": 2}`, "tenterhook"},
	{`"command": "a"`, "sandbox", `"strict"`, "tenterhook"},
	{`"command": "a"`, "worker", `true`, "tenterhook"},
	{`"type": "http"`, "url", `"u"`, "tenterhook caliban claude copilot factory qwen"},
	{`"type": "http"`, "headers", `{"A": "b"}`, "tenterhook caliban claude copilot factory qwen"},
	{`"type": "http"`, "allowedEnvVars", `["A"]`, "tenterhook caliban claude copilot factory qwen"},
	{`"type": "http"`, "method", `"PUT"`, "tenterhook"},
	{`"type": "mcp_tool"`, "server", `"s"`, "tenterhook caliban claude codex factory"},
	{`"type": "mcp_tool"`, "mcp", `"s"`, "caliban"},
	{`"type": "mcp"`, "tool", `"t"`, "tenterhook caliban claude codex factory"},
	{`"type": "mcp"`, "input", `{"a": 1}`, "tenterhook caliban claude codex factory"},
	{`"type": "prompt"`, "prompt", `"p"`, "tenterhook caliban claude codex copilot cursor factory"},
	{`"type": "agent"`, "prompt", `"p"`, "tenterhook caliban claude codex copilot cursor factory"},
	{`"type": "prompt"`, "model", `"m"`, "tenterhook caliban claude codex cursor factory"},
	{`"type": "prompt"`, "schema", `{}`, "tenterhook caliban"},
	{`"type": "prompt"`, "continueOnBlock", `true`, "tenterhook claude factory"},
	{`"type": "agent"`, "agent", `"x"`, "caliban"},
	{`"type": "plugin"`, "plugin", `"p"`, "tenterhook"},
	{`"type": "plugin"`, "hook", `"h"`, "tenterhook"},
	{`"type": "rule", "reason": "r"`, "decision", `"deny"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "reason", `"r"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "when", `"true"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "unless", `"Bash(y)"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "touches", `"a"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "reads", `["a"]`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "writes", `"a"`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "network", `true`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "destructive", `true`, "tenterhook"},
	{`"type": "rule", "decision": "context"`, "text", `"t"`, "tenterhook"},
	{`"type": "rule", "decision": "rewrite"`, "set", `{"a": "b"}`, "tenterhook"},
	{`"type": "rule", "decision": "deny"`, "suppressPrompt", `true`, "tenterhook"},
}

// readHandler reads a file of the product with one handler before a tool.
func readHandler(p *product, handler string) Config {
	path := "/w/" + strings.ReplaceAll(p.files[0].pattern, "*", "x")
	path = strings.TrimSuffix(path, ".toml") + map[bool]string{true: ".json"}[strings.HasSuffix(path, ".toml")]
	events := map[string]string{"gemini": "BeforeTool", "copilot": "preToolUse", "cursor": "preToolUse", "kiro": "preToolUse", "windsurf": "pre_run_command"}
	list := `{"` + cmp.Or(events[p.name], "PreToolUse") + `": [{"hooks": [{` + handler + `}]}]}`
	if p == &antigravityConfig {
		return readText(path, `{"named": `+list+`}`)
	}
	return readText(path, `{"hooks": `+list+`}`)
}

func TestABareTimeoutIsInTheProductsUnit(t *testing.T) {
	got := make(map[string][2]time.Duration)
	for _, p := range products {
		var is [2]time.Duration
		for i, value := range []string{"7", "7000"} {
			if c := readHandler(p, `"command": "a", "timeout": `+value); len(c.Hooks) == 1 && c.Product == p.name {
				is[i] = c.Hooks[0].Timeout
			}
		}
		got[p.name] = is
	}
	seconds := [2]time.Duration{7 * time.Second, 7000 * time.Second}
	milliseconds := [2]time.Duration{7 * time.Millisecond, 7 * time.Second}
	want := map[string][2]time.Duration{
		"tenterhook": seconds, "caliban": seconds, "claude": seconds, "codex": seconds, "gemini": milliseconds, "copilot": seconds, "cursor": seconds,
		"windsurf": seconds, "kiro": milliseconds, "factory": seconds, "antigravity": seconds, "qwen": {7 * time.Second, 7 * time.Second},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Nothing but the key of a handler says whose file it is.
func TestAKeyThatOneProductHasTellsItsFiles(t *testing.T) {
	for key, want := range map[string]string{
		"commandWindows": "codex", "bash": "copilot", "timeoutSec": "copilot", "failClosed": "cursor", "loop_limit": "cursor",
		"cache_ttl_seconds": "kiro", "show_output": "windsurf", "working_directory": "windsurf", "command": "claude",
	} {
		if got := readText("/w/templates/x.json", `{"hooks": {"SessionStart": [{"hooks": [{"command": "a", "`+key+`": "b"}]}]}}`); got.Product != want {
			t.Errorf("%s: a file of %q, want %q", key, got.Product, want)
		}
	}
	if got := readText("/w/templates/x.json", `{"hooks": {"SessionStart": [{"handlers": [{"command": "a"}]}]}}`); got.Product != "caliban" {
		t.Errorf("handlers: a file of %q", got.Product)
	}
}

func TestATableOfHooksWithinTheHooksIsRead(t *testing.T) {
	checkConfigs(t, []configCase{{"nested", ".claude/settings.json", `{"hooks": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}}`,
		"claude", []string{`Stop command "a"`}, []string{"1 w nested_hooks"}}})
}

// A key that counts changes the hook; of any other the reader says that it has
// no effect, and it has none.
func TestAKeyCountsForTheProductsThatHaveItAndForNoOther(t *testing.T) {
	for _, p := range products {
		for _, k := range keysOfHandlers {
			without, with := readHandler(p, k.handler), readHandler(p, k.handler+`, "`+k.key+`": `+k.value)
			if len(without.Hooks) != 1 || len(with.Hooks) != 1 || with.Product != p.name {
				t.Fatalf("%s %s: %v %v of %s", p.name, k.key, describeAll(without), describeAll(with), with.Product)
			}
			counts := slices.Contains(strings.Fields(k.products), p.name)
			changes := !reflect.DeepEqual(without.Hooks[0], with.Hooks[0])
			told := slices.ContainsFunc(with.Notes, func(d hook.Diagnostic) bool {
				return d.Code == "unknown_key" && strings.Contains(d.Message, "."+k.key+":")
			})
			if changes != counts || told == counts {
				t.Errorf("%s: %s counts: %v; it changes the hook: %v; it is told to have no effect: %v", p.name, k.key, counts, changes, told)
			}
		}
	}
}

// A file of settings need not have hooks; a file of hooks says that it has none.
func TestOnlyFilesOfSettingsMayLackHooks(t *testing.T) {
	var got []string
	for _, p := range products {
		for _, f := range p.files {
			text := `{"x": {}}`
			if strings.HasSuffix(f.pattern, ".toml") {
				text = "[x]\n"
			}
			if c := readText("/w/"+strings.ReplaceAll(f.pattern, "*", "x"), text); len(c.Notes) == 0 {
				got = append(got, f.pattern)
			}
		}
	}
	want := []string{
		".caliban/settings.toml", ".caliban/settings.json", "caliban/settings.toml", "caliban/settings.json",
		".claude/settings.json", ".claude/settings.local.json", ".claude-plugin/plugin.json", "managed-settings.json",
		".codex/config.toml", ".codex-plugin/plugin.json", ".gemini/settings.json", ".cursor-plugin/plugin.json", ".kiro/agents/*.json",
		".factory/settings.json", ".factory/settings.local.json", ".factory-plugin/plugin.json", ".qwen/settings.json",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, old := range []string{".caliban/hooks.toml", "caliban/hooks.toml"} {
		if got := codes(readText("/w/"+old, "[x]\n")); !slices.Equal(got, []string{"1 w deprecated"}) {
			t.Errorf("%s: %v", old, got)
		}
	}
}

func TestKeysAreSpeltInSnakeCase(t *testing.T) {
	for key, want := range map[string]string{
		"": "", "continue": "continue", "stopReason": "stop_reason", "updatedMCPToolOutput": "updated_mcp_tool_output",
		"hookID": "hook_id", "MCPTool": "mcp_tool", "OK": "ok", "aB": "a_b",
	} {
		if got := snakeCase(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestAFileIsReadByWhatItHoldsAndNoMore(t *testing.T) {
	const event = `"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]`
	const untyped = `"Stop": [{"hooks": [{"command": "a"}, {"command": "b"}]}]`
	for _, test := range []struct{ path, text, product, hooks, notes string }{
		{"hooks.json", `{` + event + `}`, "claude", "1", "unwrapped"},
		{"hooks.json", `{"$schema": "s", "properties": {}, ` + event + `}`, "", "0", "no_hooks"}, // a JSON Schema
		{"hooks.json", `{"$schema": "s", ` + event + `}`, "claude", "1", "unwrapped"},
		{"hooks.json", `{"$schema": "s", "properties": {}, "hooks": {` + event + `}}`, "claude", "1", ""},
		{"hooks.json", `{` + untyped + `}`, "claude", "2", "unwrapped missing_type"}, // once, and nothing about hooks that are missing
		{"hooks.json", `{"Stop": [{"hooks": [{"type": "", "command": "a"}]}]}`, "claude", "1", "unwrapped"},
		{"hooks.json", `{}`, "", "0", "no_hooks"},
		{"x.json", `{"beforeSubmitPrompt": [{"command": "a"}]}`, "cursor", "1", "unwrapped"},
		{"x.json", `{"noEvent": [{"command": "a"}]}`, "", "0", "no_hooks"},
		{"x.json", `{"Stop": "now"}`, "", "0", "no_hooks"},
		{"x.json", `{"Stop": null, "Setup": 7}`, "", "0", "no_hooks"},
		{"x.json", `{"Stop": {"hooks": [{"type": "command", "command": "a"}]}}`, "claude", "1", "unwrapped wrong_type"},
		{"x.json", `{"then": {}}`, "", "0", "no_hooks"},
		{"x.json", `{"when": {}}`, "", "0", "no_hooks"},
		{".claude/settings.json", `{"hooks": {"Stop": {"hooks": [{"type": "command", "command": "a"}]}}}`, "claude", "1", "wrong_type"},
		{".claude/settings.json", `{"hooks": null}`, "claude", "0", ""},
		{".claude/settings.json", `{"hooks": 7}`, "claude", "0", "wrong_type"},
		{".claude/settings.json", `[]`, "claude", "1", "wrong_type"},
		{".claude/settings.json", `7`, "claude", "1", "wrong_type"},
	} {
		c := readText("/w/"+test.path, test.text)
		var notes []string
		for _, n := range c.Notes {
			notes = append(notes, n.Code)
		}
		if c.Product != test.product || strconv.Itoa(len(c.Hooks)) != test.hooks || strings.Join(notes, " ") != test.notes {
			t.Errorf("%s %s: %q, %v, %v", test.path, test.text, c.Product, describeAll(c), c.Notes)
		}
	}
}

// Files of several products may share a scope, and those of a package do not.
func TestHooksWithoutNamesAreNamedAfterTheirFile(t *testing.T) {
	for _, test := range []struct {
		src  ConfigSource
		want string
	}{
		{ConfigSource{Product: "claude"}, "claude/hooks.json"},
		{ConfigSource{Product: "claude", Package: "p"}, "hooks.json"},
		{ConfigSource{Product: "tenterhook"}, "hooks.json"},
		{ConfigSource{}, "hooks.json"},
	} {
		test.src.Source, test.src.Scope = hook.Source{Path: "/w/.claude/hooks.json"}, hook.ScopeProject
		c := ReadConfig(test.src, []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`))
		if len(c.Hooks) != 1 || !strings.HasPrefix(c.Hooks[0].Name, test.want) {
			t.Errorf("%+v: %+v", test.src, c.Hooks)
		}
	}
}

func TestAGroupGivesWhatItsHandlersLack(t *testing.T) {
	for text, want := range map[string]string{
		`{"matcher": "A", "if": "Bash(x)", "hooks": [{"type": "command", "command": "a"}]}`:                                  `PreToolUse "A" if Bash(x) command "a"`,
		`{"matcher": "A", "if": "Bash(x)", "hooks": [{"type": "command", "command": "a", "matcher": "B", "if": "Bash(y)"}]}`: `PreToolUse "B" if Bash(y) command "a" matcher_twice`,
		`{"hooks": [{"type": "command", "command": "a", "matcher": "B"}]}`:                                                   `PreToolUse "B" command "a"`,
		`{"matcher": "*", "hooks": [{"type": "command", "command": "a", "matcher": "B"}]}`:                                   `PreToolUse "B" command "a"`,
		`{"matcher": "B", "hooks": [{"type": "command", "command": "a", "matcher": "B"}]}`:                                   `PreToolUse "B" command "a"`,
	} {
		c := readText("/w/.tenterhook/settings.json", `{"hooks": {"PreToolUse": [`+text+`]}}`)
		got := describeAll(c)
		for _, n := range c.Notes {
			got = append(got, n.Code)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// A matcher that is compiled to see which tools it means is of a bounded length.
func TestLongMatchersKeepTheNamesOfTheirTools(t *testing.T) {
	for size, want := range map[int]bool{512: true, 513: false} {
		pattern := "^write_file$|" + strings.Repeat("x", size-len("^write_file$|"))
		c := readText("/w/.gemini/settings.json", `{"hooks": {"BeforeTool": [{"matcher": "`+pattern+`", "hooks": [{"type": "command", "command": "a"}]}]}}`)
		if len(c.Hooks) != 1 || strings.Contains(c.Hooks[0].Matcher, "Write") != want || (len(c.Notes) == 0) != want {
			t.Errorf("%d bytes: %v %v", size, describeAll(c), c.Notes)
		}
	}
}

// Two hundred and fifty-six matchers of a file are compiled, and no more.
func TestManyMatchersKeepTheNamesOfTheirTools(t *testing.T) {
	for others, want := range map[int]bool{255: true, 256: false} {
		var groups strings.Builder
		for i := range others {
			groups.WriteString(`{"matcher": "^x` + strconv.Itoa(i) + `$", "hooks": [{"type": "command", "command": "a"}]},`)
		}
		c := readText("/w/.gemini/settings.json", `{"hooks": {"BeforeTool": [`+groups.String()+`{"matcher": "^write_file$", "hooks": [{"type": "command", "command": "a"}]}]}}`)
		if len(c.Hooks) != others+1 || strings.Contains(c.Hooks[others].Matcher, "Write") != want || (len(c.Notes) == 0) != want {
			t.Errorf("behind %d: %s %v", others, describe(c.Hooks[others]), c.Notes)
		}
	}
}

func TestAServerWithAURLHasNoSandbox(t *testing.T) {
	c := readText("/w/.tenterhook/settings.toml", "[mcp_servers.x]\nurl = \"https://a\"\nsandbox = \"strict\"\n")
	if got := codes(c); len(c.Settings.MCPServers) > 0 || !slices.Equal(got, []string{"3 e no_effect"}) {
		t.Errorf("%+v %v", c.Settings.MCPServers, c.Notes)
	}
}

func TestAnMCPServerHasTheSandboxThatItDeclares(t *testing.T) {
	c := readText("/w/.tenterhook/settings.toml", "[mcp_servers.x]\ncommand = \"a\"\nsandbox = \"strict\"\n")
	if s := c.Settings.MCPServers["x"]; s.Sandbox == nil || s.Sandbox.Mode != hook.SandboxStrict || s.Command != "a" || s.Source.Line != 1 {
		t.Errorf("%+v %v", s, c.Notes)
	}
}

func TestADurationIsUpToADay(t *testing.T) {
	for text, want := range map[string]time.Duration{"1": time.Millisecond, "0.5": 500 * time.Microsecond, "86400000": 24 * time.Hour, "86400001": 0, "0": 0, "-1": 0, "x": 0} {
		if got, ok := milliseconds([]byte(text)); got != want || ok != (want > 0) {
			t.Errorf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
}

func TestAnInterruptionAloneNamesItsEventToo(t *testing.T) {
	for text, want := range map[string]string{
		`{"hookSpecificOutput":{"decision":{"interrupt":true}}}`:                                     "does not count without its hookEventName",
		`{"hookSpecificOutput":{"hookEventName":"Stop","decision":{"interrupt":true}}}`:              "is for",
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"interrupt":true}}}`: "behavior is",
	} {
		_, err := Read(newCall(t, hook.EventPermissionRequest), Reply{Stdout: []byte(text)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
