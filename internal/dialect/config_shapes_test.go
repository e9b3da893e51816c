package dialect

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestShapesThatAreNearlyRight(t *testing.T) {
	const a = `{"type": "command", "command": "a"}`
	one := []string{`Stop command "a"`}
	checkConfigs(t, []configCase{
		{"a handler without a group", "settings.json", `{"hooks": {"Stop": [` + a + `]}}`, "claude", one, []string{"1 w flat_handler"}},
		{"events without hooks around them", ".claude/hooks.json", `{"Stop": [{"hooks": [` + a + `]}]}`, "claude", one, []string{"1 w unwrapped"}},
		{"hooks within hooks", ".claude-plugin/plugin.json", `{"name": "p", "hooks": {"version": 1, "hooks": {"Stop": [{"hooks": [` + a + `]}]}}}`,
			"claude", one, []string{"1 w nested_hooks"}},
		{"a command that is a list", "settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": ["py", "x.py"]}]}]}}`,
			"claude", []string{`Stop command "py"["x.py"]`}, nil},
		{"a group in no list", "settings.json", `{"hooks": {"Stop": {"hooks": [` + a + `]}}}`, "claude", one, []string{"1 w wrong_type"}},
		{"a handler in no list", "settings.json", `{"hooks": {"Stop": [{"hooks": ` + a + `}]}}`, "claude", one, []string{"1 w wrong_type"}},
		{"no type", "settings.json", `{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"url": "u"}]}]}}`, "claude",
			[]string{`Stop command "a"`, `Stop http`}, []string{"1 w missing_type"}},
		{"an unknown type", "settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "comand", "command": "a"}]}]}}`, "claude",
			[]string{`Stop comand (unsupported)`}, []string{"1 w unknown_type"}},
		{"a command for each system", ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "bash": "a", "powershell": "a"}]}]}}`, "claude",
			[]string{`Stop command "a" in ` + forSystem("bash", "powershell")}, []string{"1 w foreign_key"}},
		{"a matcher that is a table", "settings.json", `{"hooks": {"PreToolUse": [{"matcher": {"tool_name": "Bash"}, "hooks": [` + a + `]}]}}`, "claude",
			[]string{`PreToolUse "Bash" command "a"`}, []string{"1 w matcher_table"}},
		{"a matcher that is a list", "settings.json", `{"hooks": {"PreToolUse": [{"matcher": ["Bash", "Write"], "hooks": [` + a + `]}]}}`, "claude",
			[]string{`PreToolUse "Bash|Write" command "a"`}, []string{"1 w matcher_list"}},
		{"a matcher of another product", "settings.json", `{"hooks": {"PostToolUse": [{"matcher": "tools:Write AND file_paths:**/*.ts", "hooks": [` + a + `]}]}}`,
			"claude", []string{`PostToolUse command "a" (unsupported)`}, []string{"1 w matcher_expression"}},
		{"a matcher where nothing is tested", "settings.json", `{"hooks": {"UserPromptSubmit": [{"matcher": "x", "hooks": [` + a + `]}, {"matcher": "*", "hooks": [` + a + `]}]}}`,
			"claude", []string{`UserPromptSubmit "x" command "a"`, `UserPromptSubmit "*" command "a"`}, []string{"1 w no_effect"}},
		{"the same twice", "settings.json", `{"hooks": {"Stop": [{"hooks": [` + a + `,` + a + `]}]}}`, "claude",
			[]string{one[0], one[0]}, []string{"1 w duplicate_hook"}},
		{"an event twice", "settings.json", `{"hooks": {"Stop": [{"hooks": [` + a + `]}], "Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}`,
			"claude", []string{one[0], `Stop command "b"`}, []string{"1 w duplicate_key"}},
		{"hooks twice", "settings.json", `{"hooks": {"Stop": [{"hooks": [` + a + `]}]}, "hooks": {"Setup": [{"hooks": [` + a + `]}]}}`,
			"claude", []string{one[0], `Setup command "a"`}, []string{"1 w duplicate_key"}},
		{"comments, commas and a mark", "settings.json", "\ufeff{ // note\n\"hooks\": {\"Stop\": [{\"hooks\": [" + a + ",], /* \" */},],},\n}", "claude", one,
			[]string{"1 w byte_order_mark", "1 w json_comment", "2 w trailing_comma"}},
		{"keys that are remarks", "settings.json", `{"$schema": "s", "_comment": "c", "hooks": {"_note": "n", "Stop": [{"_x": 1, "hooks": [{"type": "command", "command": "a", "_y": 2}]}]}}`,
			"claude", one, nil},
		{"an unknown key, said once", "settings.json", `{"hooks": {"Stop": [{"hooks": [
			{"type": "command", "command": "a", "colour": 1}, {"type": "command", "command": "b", "colour": 1, "timout": 3}]}]}}`, "claude",
			[]string{one[0], `Stop command "b"`}, []string{"2 w unknown_key", "2 w unknown_key"}},
		{"nothing in it", "settings.json", `{"hooks": {"Stop": [{"hooks": []}], "Setup": [], "PreToolUse": null}}`, "claude", nil, []string{"1 w missing_hooks"}},
	})
}

func TestBadEntryCostsItselfAlone(t *testing.T) {
	const good = `{"hooks": [{"type": "command", "command": "good"}]}`
	for name, c := range map[string]struct{ entry, code, want string }{
		"text":               {`"x"`, "wrong_type", `PreToolUse command (invalid)`},
		"number":             {`7`, "wrong_type", `PreToolUse command (invalid)`},
		"no handler":         {`{"matcher": "Bash"}`, "missing_hooks", `PreToolUse command (invalid)`},
		"hooks are text":     {`{"hooks": "x"}`, "wrong_type", `PreToolUse command (invalid)`},
		"handler is text":    {`{"hooks": ["x"]}`, "wrong_type", `PreToolUse command (invalid)`},
		"no command":         {`{"hooks": [{"type": "command"}]}`, "missing_command", `PreToolUse command (invalid)`},
		"empty command":      {`{"hooks": [{"type": "command", "command": " "}]}`, "missing_command", `PreToolUse command (invalid)`},
		"command is a table": {`{"hooks": [{"type": "command", "command": {}}]}`, "wrong_type", `PreToolUse command (invalid)`},
		"args are text":      {`{"hooks": [{"type": "command", "command": "a", "args": "b"}]}`, "wrong_type", `PreToolUse command "a"[] (invalid)`},
		"two lists":          {`{"hooks": [{"type": "command", "command": ["a"], "args": ["b"]}]}`, "wrong_type", `PreToolUse command (invalid)`},
		"no url":             {`{"hooks": [{"type": "http"}]}`, "missing_url", `PreToolUse http (invalid)`},
		"no tool":            {`{"hooks": [{"type": "mcp_tool", "server": "s"}]}`, "missing_tool", `PreToolUse mcp (invalid)`},
		"no prompt":          {`{"hooks": [{"type": "prompt", "prompt": ""}]}`, "missing_prompt", `PreToolUse prompt (invalid)`},
		"headers":            {`{"hooks": [{"type": "http", "url": "u", "headers": {"A": 1}}]}`, "wrong_type", `PreToolUse http (invalid)`},
		"matcher is a table": {`{"matcher": {"a": "b"}, "hooks": [{"type": "command", "command": "a"}]}`, "wrong_type", `PreToolUse command "a" (invalid)`},
		"matcher is false":   {`{"matcher": false, "hooks": [{"type": "command", "command": "a"}]}`, "wrong_type", `PreToolUse command "a" (invalid)`},
		"a key twice":        {`{"hooks": [{"type": "command", "command": "a", "command": "b"}]}`, "duplicate_key", `PreToolUse command "a" (invalid)`},
		"two spellings":      {`{"hooks": [{"type": "command", "command": "a", "onFailure": "block", "on_failure": "continue"}]}`, "duplicate_key", `PreToolUse command "a" or block (invalid)`},
		"misspelt policy":    {`{"hooks": [{"type": "command", "command": "a", "onFailure": "blok"}]}`, "unknown_value", `PreToolUse command "a" or block (invalid)`},
		"async is a number":  {`{"hooks": [{"type": "command", "command": "a", "async": 1}]}`, "wrong_type", `PreToolUse command "a" (invalid)`},
	} {
		got := readText("settings.json", `{"hooks": {"PreToolUse": [`+c.entry+`, `+good+`]}}`)
		want := []string{c.want, `PreToolUse command "good"`}
		if diff := cmp.Diff(want, describeAll(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
			continue
		}
		if got.Hooks[0].Why == "" || len(got.Notes) == 0 || got.Notes[0].Code != c.code || got.Notes[0].Severity != hook.SeverityError {
			t.Errorf("%s: why %q, notes %v, want an error %s", name, got.Hooks[0].Why, got.Notes, c.code)
		}
	}
}

func TestMisspeltEventIsAnInvalidHook(t *testing.T) {
	got := readText("settings.json", `{"hooks": {"PreTooluse": [{"hooks": [{"type": "command", "command": "a"}]}], "Mine": [{"hooks": [{"type": "command", "command": "b"}]}]}}`)
	want := []string{`PreTooluse command "a" (invalid)`, `Mine command "b"`}
	if diff := cmp.Diff(want, describeAll(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(got.Notes) != 2 || !strings.Contains(got.Notes[0].Hint, "PreToolUse") || got.Notes[0].Severity != hook.SeverityError || got.Notes[1].Severity != hook.SeverityWarning {
		t.Errorf("notes %v", got.Notes)
	}
}

func TestListOfHooksIsRefusedButNotSilent(t *testing.T) {
	got := readText("hooks/hooks.json", `{"hooks": [{"event": "Stop", "command": "a"}, {"type": "PreToolUse", "command": "b"}, {"command": "c"}]}`)
	want := []string{`Stop command (invalid)`, `PreToolUse command (invalid)`}
	if diff := cmp.Diff(want, describeAll(got)); diff != "" || !hook.HasErrors(got.Notes) {
		t.Errorf("-want +got:\n%s\n%v", diff, got.Notes)
	}
}

func TestFileThatCannotBeReadIsAnInvalidHook(t *testing.T) {
	for name, c := range map[string]struct {
		path, text, code string
		line             int
	}{
		"a conflict":     {".claude/settings.json", "{\n<<<<<<< ours\n\"hooks\": {}\n}", "syntax", 2},
		"a path":         {".github/hooks/hooks.json", "/home/u/hooks.json", "syntax", 1},
		"a bad word":     {"settings.json", "{\n\"a\": 1,\n\n\"b\": tru\n}", "syntax", 4},
		"an open string": {"settings.json", "{\n\"a\": \"x\n}", "syntax", 2},
		"no comma":       {"settings.json", "{\n\"a\": 1\n\"b\": 2}", "syntax", 3},
		"cut off":        {"settings.json", "{\"hooks\": {\n\"Stop\": [", "syntax", 2},
		"two values":     {"settings.json", "{}\n{}", "syntax", 2},
		"empty":          {"settings.json", " \n", "empty", 1},
		"UTF-16":         {"settings.json", "\xff\xfe{\x00}\x00", "not_utf8", 1},
		"not UTF-8":      {"settings.json", "{\n\"a\": \"\xe4\"}", "not_utf8", 2},
		"a list":         {".claude/settings.json", "[]", "wrong_type", 1},
		"TOML":           {".codex/config.toml", "a = 1\nb = = 2", "syntax", 2},
		"TOML, twice":    {".codex/config.toml", "a = 1\na = 2", "duplicate_key", 2},
		"larger":         {"settings.json", strings.Repeat(" ", MaxConfig+1), "too_large", 1},
	} {
		got := readText(c.path, c.text)
		if len(got.Hooks) != 1 || got.Hooks[0].State != hook.StateInvalid || got.Hooks[0].Event != "" || got.Hooks[0].Why == "" {
			t.Errorf("%s: hooks %v", name, describeAll(got))
		}
		if len(got.Notes) == 0 || got.Notes[0].Code != c.code || got.Notes[0].Line != c.line || got.Notes[0].Severity != hook.SeverityError {
			t.Errorf("%s: notes %v, want %s on line %d", name, got.Notes, c.code, c.line)
		}
	}
}

func TestFileThatDeclaresNothingIsSaidToBeNone(t *testing.T) {
	for name, c := range map[string]struct{ path, text string }{
		"a package":      {"package.json", `{"name": "x", "scripts": {}}`},
		"a schema":       {"schema/settings.schema.json", `{"$schema": "s", "properties": {"hooks": {}}}`},
		"a part of one":  {".claude/hooks/off.json", `{"_why": "off", "hook_config": {"matcher": "Task", "hooks": []}}`},
		"patterns":       {"hooks/patterns.json", `{"patterns": {"a": {"hooks": {"Stop": []}}}}`},
		"other TOML":     {"Cargo.toml", "[package]\nname = \"x\""},
		"a bare list":    {"x.json", `[{"hooks": {}}]`},
		"a bare string":  {"x.json", `"hooks"`},
		"a hooks folder": {"hooks/hooks.json", `{}`},
	} {
		got := readText(c.path, c.text)
		if len(got.Hooks) > 0 || got.Product != "" || len(got.Notes) != 1 || got.Notes[0].Code != "no_hooks" {
			t.Errorf("%s: %q %v %v", name, got.Product, describeAll(got), got.Notes)
		}
	}
}

func TestSettingsOfNobodyInParticularAreSaidToHaveNoHooks(t *testing.T) {
	for path, want := range map[string]int{"x/settings.json": 1, "x/plugin.json": 1, ".claude/settings.json": 0, ".claude-plugin/plugin.json": 0} {
		got := readText(path, `{"name": "x"}`)
		if len(got.Notes) != want || hook.HasErrors(got.Notes) {
			t.Errorf("%s: %v", path, got.Notes)
		}
	}
}

func TestRecognizeByPathAndShape(t *testing.T) {
	group := func(event string) string {
		return `{"hooks": {"` + event + `": [{"hooks": [{"type": "command", "command": "a"}]}]}}`
	}
	for _, c := range []struct{ path, text, want string }{
		{`C:\w\.claude\settings.json`, `{}`, "claude"},
		{"/etc/claude-code/managed-settings.json", `{}`, "claude"},
		{"examples/any.json", group("PreToolUse"), "claude"},
		{".gemini/settings.json", group("PreToolUse"), "gemini"},
		{".claude/settings.json", group("BeforeTool"), "gemini"},
		{".claude/hooks.json", group("pre_run_command"), "windsurf"},
		{"x/settings.json", group("AfterAgent"), "gemini"},
		{".codex/hooks.json", group("Stop"), "codex"},
		{".cursor/hooks.windows.json", group("stop"), "cursor"},
		{"x/hooks.json", group("sessionStart"), "cursor"},
		{"x/hooks.json", group("beforeReadFile"), "cursor"},
		{"x/hooks.json", group("agentSpawn"), "kiro"},
		{"x/hooks.json", group("errorOccurred"), "copilot"},
		{".github/hooks/x.json", group("PreToolUse"), "copilot"},
		{".github/x.json", group("PreToolUse"), "claude"},
		{"/home/u/.config/tenterhook/settings.toml", "", "tenterhook"},
		{".tenterhook/local/settings.json", "{}", "tenterhook"},
		{"/home/u/.config/caliban/settings.json", "{}", "caliban"},
		{"x/hooks.toml", "[[hooks.Stop]]\nhandlers = [{command = 'a'}]", "caliban"},
		{"x.json", `{"x": {"PreInvocation": [{"command": "a"}]}}`, "antigravity"},
		{"x.json", `{"when": {"type": "fileEdited"}, "then": {"type": "runCommand", "command": "a"}}`, "kiro"},
		{".cursor-plugin/plugin.json", `{}`, "cursor"},
		{"plugin.json", `{"name": "x"}`, "claude"},
		{".claude/settings.json", `{"hooks": `, "claude"},
	} {
		if got := readText(c.path, c.text).Product; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.path, c.text, got, c.want)
		}
	}
}

func TestNamedProductHoldsUnlessTheContentIsSurelyAnothers(t *testing.T) {
	read := func(product, text string) string {
		return ReadConfig(ConfigSource{Source: hook.Source{Path: "/x/settings.json"}, Product: product}, []byte(text)).Product
	}
	if got := read("tenterhook", `{"max_async": 3}`); got != "tenterhook" {
		t.Errorf("settings without hooks: %q", got)
	}
	if got := read("codex", `{"hooks": {"Stop": []}}`); got != "codex" {
		t.Errorf("the common shape: %q", got)
	}
	if got := read("claude", `{"hooks": {"beforeShellExecution": []}}`); got != "cursor" {
		t.Errorf("Cursor's event: %q", got)
	}
	if got := read("claude", `{"hooks": {"BeforeTool": [], "pre_run_command": []}}`); got != "claude" {
		t.Errorf("an event of Gemini and one of Windsurf: %q", got)
	}
}

func TestAFileOfANamedProductThatDeclaresNothing(t *testing.T) {
	for name, c := range map[string]struct{ product, path, text, note string }{
		"settings under another name": {"tenterhook", "/x/my-settings.toml", "max_async = 3", ""},
		"a hooks file":                {"codex", "/x/.codex/hooks.json", `{"a": 1}`, "1 e no_hooks"},
	} {
		got := ReadConfig(ConfigSource{Source: hook.Source{Path: c.path}, Product: c.product}, []byte(c.text))
		if got.Product != c.product || len(got.Hooks) > 0 || strings.Join(codes(got), " ") != c.note {
			t.Errorf("%s: %q %v %v", name, got.Product, describeAll(got), got.Notes)
		}
		if c.note != "" && !strings.Contains(got.Notes[0].Hint, `"hooks"`) {
			t.Errorf("%s: %v", name, got.Notes)
		}
		if c.note == "" && got.Settings.MaxAsync != 3 {
			t.Errorf("%s: %+v", name, got.Settings)
		}
	}
}

func TestAnActionOfAnEditorWithoutItsPartsIsNoHookThatRuns(t *testing.T) {
	for _, text := range []string{`{"then": {"type": "runCommand", "command": "a"}}`, `{"when": {"type": "fileEdited"}}`, `{"name": "x"}`} {
		got := ReadConfig(ConfigSource{Source: hook.Source{Path: "/x/.kiro/hooks/a.kiro.hook"}, Product: "kiro"}, []byte(text))
		if len(got.Hooks) != 1 || got.Hooks[0].State == hook.StateReady || !hook.HasErrors(got.Notes) && got.Hooks[0].Why == "" {
			t.Errorf("%s: %v %v", text, describeAll(got), got.Notes)
		}
	}
}

// A name that cannot be one is said, and the hook is called after its place, of
// which a hundred letters are taken.
func TestNamesOfHooks(t *testing.T) {
	long := strings.Repeat("E", 95)
	for _, c := range []struct{ path, text, want, note string }{
		{".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "name": "b\u0007"}]}]}}`, "settings.json:Stop[0].0", "1 w unknown_value"},
		{".claude/settings.json", `{"hooks": {"Stop": [{"name": "g\u0007", "hooks": [{"type": "command", "command": "a"}]}]}}`, "settings.json:Stop[0].0", "1 w unknown_value"},
		{".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "name": "\u0007", "id": "c"}]}]}}`, "c", "1 w unknown_value"},
		{".claude/settings.json", `{"hooks": {"Stop": [{"id": "g", "hooks": [{"type": "command", "command": "a"}]}]}}`, "g", ""},
		{".claude/settings.json", `{"hooks": {"Stop": [{"name": "g", "hooks": [{"type": "command", "command": "a", "name": "b"}]}]}}`, "b", ""},
		{".claude/settings.json", `{"hooks": {"` + long + `": [{"hooks": [{"type": "command", "command": "a"}]}]}}`, "settings.json:" + long + "[0].0", "1 w unknown_event"},
		{".claude/settings.json", `{"hooks": {"` + long + `E": [{"hooks": [{"type": "command", "command": "a"}]}]}}`, "settings.json:" + long + "E[0].…", "1 w unknown_event"},
		{".agents/hooks.json", `{"` + long[:60] + `": {"Stop": [{"type": "command", "command": "a"}]}}`, "hooks.json:" + long[:60] + ".Stop[0]", ""},
		{".agents/hooks.json", `{"` + long[:61] + `": {"Stop": [{"type": "command", "command": "a"}]}}`, "hooks.json:" + long[:60] + "….Stop[0]", ""},
	} {
		got := readText(c.path, c.text)
		if len(got.Hooks) != 1 || got.Hooks[0].Name != c.want || strings.Join(codes(got), " ") != c.note {
			t.Errorf("%s: %q, want %q; %v", c.text, got.Hooks[0].Name, c.want, got.Notes)
		}
	}
}

func TestPluginManifests(t *testing.T) {
	const inline = `{"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}`
	for name, c := range map[string]struct {
		path, hooks string
		want        []string
		refs        []Ref
		notes       []string
	}{
		"none":           {".claude-plugin/plugin.json", `null`, nil, nil, nil},
		"empty":          {".claude-plugin/plugin.json", `{}`, nil, nil, nil},
		"a path":         {".claude-plugin/plugin.json", `"./hooks/hooks.json"`, nil, []Ref{{"hooks/hooks.json", "claude", 1}}, nil},
		"with a root":    {".claude-plugin/plugin.json", `"${CLAUDE_PLUGIN_ROOT}/a/../h.json"`, nil, []Ref{{"h.json", "claude", 1}}, nil},
		"of another":     {"p/.cursor-plugin/plugin.json", `"hooks.json"`, nil, []Ref{{"hooks.json", "cursor", 1}}, nil},
		"in place":       {".claude-plugin/plugin.json", inline, []string{`Stop command "a"`}, nil, nil},
		"several":        {".claude-plugin/plugin.json", `["a.json", ` + inline + `, 3]`, []string{`Stop command "a"`}, []Ref{{"a.json", "claude", 1}}, []string{"1 e wrong_type"}},
		"nested":         {".claude-plugin/plugin.json", `{"hooks": ` + inline + `}`, []string{`Stop command "a"`}, nil, []string{"1 w nested_hooks"}},
		"nested, listed": {".claude-plugin/plugin.json", `[{"hooks": ` + inline + `}]`, []string{`Stop command "a"`}, nil, []string{"1 w nested_hooks"}},
		"nested twice": {".claude-plugin/plugin.json", `{"hooks": {"hooks": ` + inline + `}}`, []string{`hooks command (invalid)`}, nil,
			[]string{"1 w nested_hooks", "1 w unknown_event", "1 w wrong_type", "1 e missing_hooks"}},
		"out of it":      {".claude-plugin/plugin.json", `"../../etc/hooks.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"in disguise":    {".claude-plugin/plugin.json", `"a/../../b.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"absolute":       {".claude-plugin/plugin.json", `"/etc/hooks.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"a drive":        {".claude-plugin/plugin.json", `"C:\\hooks.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"a backslash":    {".claude-plugin/plugin.json", `"..\\hooks.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"a variable":     {".claude-plugin/plugin.json", `"${HOME}/hooks.json"`, nil, nil, []string{"1 e ref_escapes"}},
		"the root":       {".claude-plugin/plugin.json", `"."`, nil, nil, []string{"1 e wrong_type"}},
		"no path at all": {".claude-plugin/plugin.json", `true`, nil, nil, []string{"1 e wrong_type"}},
	} {
		got := readText(c.path, `{"name": "p", "version": "1", "hooks": `+c.hooks+`}`)
		if diff := cmp.Diff(c.want, describeAll(got), cmpEmpty); diff != "" {
			t.Errorf("%s: hooks (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.refs, got.Refs); diff != "" {
			t.Errorf("%s: refs (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.notes, codes(got), cmpEmpty); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
	}
	for manifest, root := range map[string]string{
		"/p/.claude-plugin/plugin.json": "/p", "/p/plugin.json": "/p", `C:\p\.codex-plugin\plugin.json`: "C:/p", ".claude-plugin/plugin.json": ".",
	} {
		if got := PluginRoot(manifest); got != root {
			t.Errorf("root of %s: %q, want %q", manifest, got, root)
		}
	}
}

func TestSettings(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		path, text string
		want       Settings
		notes      []string
	}{
		"ours, in TOML": {".tenterhook/settings.toml", `
disable_all_hooks = true
allow_managed_hooks_only = false
allow_no_hooks = true
allowed_http_hook_urls = ["https://a/*"]
http_hook_allowed_env_vars = []
allow_local_http_hook_targets = true
default_on_failure = "block"
disabled = ["user/x"]
max_async = 4
[breaker]
failures = 2
cooldown = 30
`, Settings{DisableAllHooks: &yes, AllowManagedHooksOnly: &no, AllowNoHooks: &yes, AllowedHTTPHookURLs: []string{"https://a/*"},
			HTTPHookAllowedEnvVars: []string{}, AllowLocalHTTPHookTargets: &yes, DefaultOnFailure: hook.FailureBlock,
			Disabled: []string{"user/x"}, MaxAsync: 4, Breaker: hook.BreakerSettings{Failures: 2, Cooldown: 30e9}}, nil},
		"servers and a model": {".tenterhook/settings.toml", `[mcp_servers.policy]
command = "policy-server"
args = ["--stdio"]
env = { LEVEL = "2" }
[mcp_servers.far]
url = "https://mcp.example.com"
headers = { Authorization = "Bearer ${TOKEN}" }
allowed_env_vars = ["TOKEN"]
[mcp_servers.both]
command = "x"
url = "https://y"
[mcp_servers.odd]
command = "x"
arg = ["y"]
[model]
provider = "anthropic"
model = "small"
api_key_env = "KEY"
`, Settings{MCPServers: map[string]MCPServer{
			"policy": {Command: "policy-server", Args: []string{"--stdio"}, Env: map[string]string{"LEVEL": "2"}, Source: hook.Source{Path: ".tenterhook/settings.toml", Line: 1}},
			"far": {URL: "https://mcp.example.com", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, AllowedEnvVars: []string{"TOKEN"},
				Source: hook.Source{Path: ".tenterhook/settings.toml", Line: 5}},
			"odd": {Command: "x", Source: hook.Source{Path: ".tenterhook/settings.toml", Line: 12}},
		}, Model: ModelSettings{Provider: "anthropic", Model: "small", APIKeyEnv: "KEY"}}, []string{"9 e missing_command", "14 w unknown_key"}},
		"a model by its name": {".tenterhook/settings.json", `{"model": "small"}`,
			Settings{Model: ModelSettings{Model: "small"}}, nil},
		"no such provider": {".tenterhook/settings.json", `{"model": {"provider": "antropic", "model": "small"}}`,
			Settings{Model: ModelSettings{Model: "small"}}, []string{"1 e unknown_value"}},
		"ours, in camelCase": {".tenterhook/settings.json", `{"disableAllHooks": true, "defaultOnFailure": "continue", "maxAsync": 2}`,
			Settings{DisableAllHooks: &yes, DefaultOnFailure: hook.FailureContinue, MaxAsync: 2}, nil},
		"Claude's": {".claude/settings.json", `{"model": "m", "disableAllHooks": false, "allowedHttpHookUrls": [], "disabled": ["x"]}`,
			Settings{DisableAllHooks: &no, AllowedHTTPHookURLs: []string{}}, nil},
		"a wrong list allows nothing": {".claude/settings.json", `{"allowedHttpHookUrls": "*"}`,
			Settings{AllowedHTTPHookURLs: []string{}}, []string{"1 e wrong_type"}},
		"in quotes":                 {".claude/settings.json", `{"disableAllHooks": "true"}`, Settings{DisableAllHooks: &yes}, []string{"1 w wrong_type"}},
		"nearly":                    {".claude/settings.json", `{"disableAllHook": true}`, Settings{}, []string{"1 w unknown_key"}},
		"unknown":                   {".tenterhook/settings.json", `{"colour": 1, "max_async": -1}`, Settings{}, []string{"1 e unknown_value", "1 w unknown_key"}},
		"twice":                     {".claude/settings.json", `{"disableAllHooks": true, "disable_all_hooks": false}`, Settings{DisableAllHooks: &yes}, []string{"1 e duplicate_key"}},
		"a hooks file sets nothing": {"hooks/hooks.json", `{"hooks": {}, "disableAllHooks": true}`, Settings{}, nil},
	} {
		got := readText(c.path, c.text)
		if diff := cmp.Diff(c.want, got.Settings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.notes, codes(got), cmpEmpty); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
	}
}

func TestMapEventKnowsConfigNames(t *testing.T) {
	for name, want := range map[string]Mapping{
		"BeforeTool":           {Event: hook.EventPreToolUse, Product: "gemini"},
		"beforeShellExecution": {Event: hook.EventPreToolUse, Matcher: "Bash", Product: "cursor"},
		"pre_run_command":      {Event: hook.EventPreToolUse, Matcher: "Bash", Product: "windsurf"},
		"errorOccurred":        {Event: "errorOccurred", Product: "copilot"},
		"agentSpawn":           {Event: hook.EventSessionStart, Product: "kiro"},
		"PreInvocation":        {Event: "PreInvocation", Product: "antigravity"},
		"Interrupt":            {Event: "Interrupt", Product: "codex"},
	} {
		got, ok := MapEvent(name)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
	for _, slip := range []string{"preToolUse", "sessionStart", "stop", "subagentStop"} {
		if got, ok := MapEvent(slip); ok {
			t.Errorf("%s, a slip elsewhere, is %+v", slip, got)
		}
	}
}

func TestJSONOfANodeIsWhatItWasReadFrom(t *testing.T) {
	const text = `{"a":[1,1.5,-2e9,true,null,"x\u00e9\n"],"b":{"c":{}}}`
	got, _ := parseConfig("x.json", []byte(text)).Root.JSON()
	var want, have any
	if json.Unmarshal([]byte(text), &want) != nil || json.Unmarshal(got, &have) != nil || !cmp.Equal(want, have) {
		t.Errorf("%s became %s", text, got)
	}
}

func TestEnvironmentOfAHook(t *testing.T) {
	read := func(env string) Config {
		return readText(".github/hooks/x.json", `{"hooks": {"sessionStart": [{"command": "a", "env": `+env+`}]}}`)
	}
	got := read(`{"A": "b", "N": 1, "B": true}`).Hooks[0].Env
	if diff := cmp.Diff(map[string]string{"A": "b", "N": "1", "B": "true"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, env := range []string{`{"A": {}}`, `{"A=B": "c"}`, `{"": "c"}`, `{"A": "\u0000"}`, `{"A": "b", "A": "c"}`, `"A=b"`, `["A"]`} {
		if c := read(env); c.Hooks[0].State != hook.StateInvalid || !hook.HasErrors(c.Notes) {
			t.Errorf("%s: %s, %v", env, c.Hooks[0].State, c.Notes)
		}
	}
	if c := readText(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "env": {"A": "b"}}]}]}}`); len(c.Hooks[0].Env) > 0 {
		t.Errorf("a key that the product has not counts: %v", c.Hooks[0].Env)
	}
}

func TestOurOwnMistakesAreErrors(t *testing.T) {
	for _, key := range []string{
		`"priority": "high"`, `"priority": 1.5`, `"protocol": "clade"`, `"rewrites": "maybe"`, `"breaker": 3`,
		`"breaker": {"failures": "x"}`, `"breaker": {"cooldown": "x"}`, `"requires": {"bins": 7}`, `"requires": []`, `"if": 1`,
	} {
		got := readText(".tenterhook/settings.json", `{"hooks": {"PreToolUse": [{"command": "a", `+key+`}]}}`)
		if len(got.Hooks) != 1 || got.Hooks[0].State != hook.StateInvalid || !hook.HasErrors(got.Notes) {
			t.Errorf("%s: %v %v", key, describeAll(got), got.Notes)
		}
	}
}

func TestPolicyWithoutEffectIsTold(t *testing.T) {
	for _, handler := range []string{`{"Stop": [{"hooks": [{"type": "command", "command": "a", "onFailure": "block"}]}]}`,
		`{"PreToolUse": [{"hooks": [{"type": "command", "command": "a", "onFailure": "block", "async": true}]}]}`} {
		if diff := cmp.Diff([]string{"1 w no_effect"}, codes(readText(".claude/settings.json", `{"hooks": `+handler+`}`))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", handler, diff)
		}
	}
}

func TestConfigFilesAreThoseOfTheProducts(t *testing.T) {
	for _, product := range Products() {
		for _, pattern := range ConfigFiles(product) {
			name := strings.NewReplacer("*", "x").Replace(pattern)
			if f, ok := byPath("/w/" + name); !ok || f.product.name != product || f.by != byFile {
				t.Errorf("%s of %s is taken for %s's", name, product, f.product.name)
			}
		}
	}
}

func TestPlacesAreThoseOfTheProductsScopes(t *testing.T) {
	bases := map[Base]string{BaseWorkspace: ".", BaseHome: "~", BaseConfigHome: "~/.config", BaseManaged: "/etc"}
	var got []string
	seen := make(map[string]bool)
	for _, p := range ConfigPlaces(Products()...) {
		if place := fmt.Sprint(p.Product, p.Base, p.Scope, p.Legacy); seen[place] {
			t.Errorf("%s has two places in one", place)
		} else {
			seen[place] = true
		}
		for _, name := range p.Names {
			line := fmt.Sprintf("%s %v %s/%s", p.Product, p.Scope, bases[p.Base], name)
			if p.Legacy {
				line += " legacy"
			}
			got = append(got, line)
		}
	}
	want := []string{
		"claude managed /etc/" + map[bool]string{true: "claude-code", false: "ClaudeCode"}[runtime.GOOS == "linux"] + "/managed-settings.json",
		"caliban user ~/.config/caliban/settings.toml", "caliban user ~/.config/caliban/settings.json", "caliban user ~/.config/caliban/hooks.toml legacy",
		"claude user ~/.claude/settings.json", "claude user ~/.claude/hooks.json",
		"codex user ~/.codex/hooks.json", "codex user ~/.codex/config.toml", "gemini user ~/.gemini/settings.json",
		"copilot user ~/.copilot/hooks/*.json", "cursor user ~/.cursor/hooks.json",
		"windsurf user ~/.windsurf/hooks.json", "windsurf user ~/.codeium/windsurf/hooks.json",
		"kiro user ~/.kiro/agents/*.json", "kiro user ~/.kiro/hooks/*.kiro.hook",
		"factory user ~/.factory/settings.json", "factory user ~/.factory/hooks.json",
		"antigravity user ~/.agents/hooks.json", "antigravity user ~/.antigravitycli/hooks.json", "antigravity user ~/.gemini/config/hooks.json",
		"qwen user ~/.qwen/settings.json",
		"caliban project ./.caliban/settings.toml", "caliban project ./.caliban/settings.json", "caliban project ./.caliban/hooks.toml legacy",
		"claude project ./.claude/settings.json", "claude project ./.claude/hooks.json",
		"codex project ./.codex/hooks.json", "codex project ./.codex/config.toml", "gemini project ./.gemini/settings.json",
		"copilot project ./.github/hooks/*.json", "copilot project ./.github/hooks.json", "cursor project ./.cursor/hooks.json",
		"windsurf project ./.windsurf/hooks.json", "kiro project ./.kiro/agents/*.json", "kiro project ./.kiro/hooks/*.kiro.hook",
		"factory project ./.factory/settings.json", "factory project ./.factory/hooks.json",
		"antigravity project ./.agents/hooks.json", "antigravity project ./.antigravitycli/hooks.json", "antigravity project ./.gemini/config/hooks.json",
		"qwen project ./.qwen/settings.json",
		"claude local ./.claude/settings.local.json", "factory local ./.factory/settings.local.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, product := range map[string]string{
		".tenterhook/settings.json": "tenterhook", ".tenterhook/local/settings.toml": "tenterhook", "tenterhook/settings.toml": "tenterhook", "tenterhook/settings.json": "tenterhook",
		".claude-plugin/plugin.json": "claude", ".codex-plugin/plugin.json": "codex", ".cursor-plugin/plugin.json": "cursor", ".factory-plugin/plugin.json": "factory",
	} {
		if f, ok := byPath("/w/" + name); !ok || f.product.name != product || f.by != byFile {
			t.Errorf("%s is taken for %s's", name, f.product.name)
		}
	}
	if places := ConfigPlaces(); len(places) > 0 {
		t.Errorf("places of no product: %+v", places)
	}
}
