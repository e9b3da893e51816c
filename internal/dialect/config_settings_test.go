package dialect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// A value that is no flag is an error, and counts as what protects more.
func TestSlipSwitchesNoProtectionOff(t *testing.T) {
	for _, value := range []string{`"of"`, `0`, `""`, `[]`, `{}`} {
		got := readText("/w/.tenterhook/settings.json", `{"self_protection": `+value+`, "allow_managed_hooks_only": `+value+`, "hooks": {"PreToolUse": [
			{"command": "guard", "enabled": `+value+`, "on_failure": "block"}]}}`)
		if s := got.Settings; s.SelfProtection != nil || s.AllowManagedHooksOnly == nil || !*s.AllowManagedHooksOnly {
			t.Errorf("%s switches a protection off: %+v", value, s)
		}
		if h := got.Hooks[0]; h.State != hook.StateInvalid || h.OnFailure != hook.FailureBlock {
			t.Errorf("enabled = %s: %s %q", value, h.State, h.Why)
		}
		if len(got.Notes) != 3 || !hook.HasErrors(got.Notes) {
			t.Errorf("%s: %v", value, got.Notes)
		}
	}
	for value, on := range map[string]bool{`true`: true, `"true"`: true, `false`: false, `"false"`: false} {
		got := readText("/w/.tenterhook/settings.json", `{"self_protection": `+value+`, "hooks": {"Stop": [{"command": "a", "enabled": `+value+`}]}}`)
		if s := got.Settings; s.SelfProtection == nil || *s.SelfProtection != on || (got.Hooks[0].State == hook.StateReady) != on {
			t.Errorf("%s: %+v, %s", value, s, got.Hooks[0].State)
		}
	}
}

// A word of a setting that protects counts as the strictest, if it is none, and is an
// error.
func TestWordThatIsNoneProtects(t *testing.T) {
	for _, value := range []string{`"blok"`, `""`, `5`, `["x"]`} {
		got := readText("/w/.tenterhook/settings.json", `{"default_on_failure": `+value+`, "audit": {"on_failure": `+value+`}, "sandbox": {"user": `+value+`},
			"fleet": {"name": "a", "keys": {"k": {"channel": "guard", "key": "x"}}, "on_stale": `+value+`}}`)
		s := got.Settings
		if s.DefaultOnFailure != hook.FailureBlock || s.AuditOnFailure != hook.FailureBlock || s.Sandbox["user"] != hook.SandboxStrict || s.Fleet.Wrong == "" {
			t.Errorf("%s protects nothing: %+v", value, s)
		}
		errors := slices.DeleteFunc(got.Notes, func(d hook.Diagnostic) bool { return d.Severity != hook.SeverityError })
		if len(errors) != 4 {
			t.Errorf("%s: %v", value, got.Notes)
		}
	}
}

// What may not be kept and cannot be read as such says how to correct it, and masks all.
func TestRedactThatIsNoListOfExpressionsMasksAllAndHasARemedy(t *testing.T) {
	for value, says := range map[string]string{`"a"`: `got the string "a"`, `5`: "got the number 5", `["a", 5]`: "got the number 5",
		`{"a": 1}`: "got a table", `["a", "("]`: "is not a regular expression", `["a", ""]`: "an empty expression"} {
		got := readText("/w/.tenterhook/settings.json", "{\"packs\": 5, \"journal\": {\n\"redact\": "+value+"}}") // also if something else is wrong before it
		if redact := got.Settings.Journal.Redact; !slices.Equal(redact, []string{maskAll}) {
			t.Errorf("%s masks %q", value, redact)
		}
		i := slices.IndexFunc(got.Notes, func(d hook.Diagnostic) bool { return strings.Contains(d.Message, "redact") })
		if i < 0 || got.Notes[i].Severity != hook.SeverityError || got.Notes[i].Line != 2 || !strings.Contains(got.Notes[i].Message, says) || !strings.Contains(got.Notes[i].Hint, "redact = [") {
			t.Errorf("%s: %v", value, got.Notes)
		}
	}
}

func TestEventsBesideHooksAreAnError(t *testing.T) {
	for path, text := range map[string]string{
		"/w/.claude/settings.json":     `{"hooks": {}, "PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}`,
		"/w/.tenterhook/settings.toml": "[[PreToolUse]]\ncommand = 'guard'\n[[hooks.Stop]]\ncommand = 'a'",
		"/w/.cursor/hooks.json":        `{"hooks": {}, "beforeShellExecution": [{"command": "guard"}]}`,
		"/x/.cursor/hooks.json":        `{"hooks": {}, "stop": {"command": "guard"}}`,
	} {
		got := readText(path, text)
		if len(got.Notes) != 1 || got.Notes[0].Code != "misplaced_event" || got.Notes[0].Severity != hook.SeverityError || got.Notes[0].Hint == "" {
			t.Errorf("%s: %v", path, got.Notes)
		}
	}
}

func TestNearerSettingsCountKeyByKey(t *testing.T) {
	near := JournalSettings{Record: "off", Redact: []string{"a"}}
	far := JournalSettings{Record: "full", Keep: time.Hour, MaxSize: 7, Redact: []string{"b"}}
	if diff := cmp.Diff(JournalSettings{Record: "off", Keep: time.Hour, MaxSize: 7, Redact: []string{"a", "b"}}, near.Over(far)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(JournalSettings{Record: "full", Keep: time.Hour, MaxSize: 7, Redact: []string{"b", "a"}}, far.Over(near)); diff != "" {
		t.Error(diff)
	}
	full := ModelSettings{Provider: "openai", Model: "m", BaseURL: "u", APIKeyEnv: "K"}
	for _, tt := range []struct{ near, far, want ModelSettings }{
		{ModelSettings{}, full, full}, {full, ModelSettings{Provider: "openai", Model: "x", BaseURL: "x", APIKeyEnv: "x"}, full},
		{ModelSettings{Model: "n"}, full, ModelSettings{Provider: "openai", Model: "n", BaseURL: "u", APIKeyEnv: "K"}},
		{ModelSettings{Provider: "anthropic"}, full, ModelSettings{Provider: "anthropic"}}, // another provider's key means nothing to it
		{ModelSettings{Provider: "openai"}, ModelSettings{Model: "m", BaseURL: "u", APIKeyEnv: "K"}, full},
	} {
		if diff := cmp.Diff(tt.want, tt.near.Over(tt.far)); diff != "" {
			t.Errorf("%+v over %+v: %s", tt.near, tt.far, diff)
		}
	}
}

func TestFileThatCouldNotBeReadIsAnInvalidHookOfItsProduct(t *testing.T) {
	src := ConfigSource{Source: hook.Source{Path: "/w/.codex/hooks.json"}, Scope: hook.ScopeProject, Product: "codex"}
	got := BrokenConfig(src, hook.Diagnostic{Code: "unreadable", Line: 1, Message: "no permission", Hint: "chmod"})
	if len(got.Hooks) != 1 || len(got.Notes) != 1 || got.Product != "codex" {
		t.Fatalf("%+v", got)
	}
	if h := got.Hooks[0]; h.ID != "project/codex/hooks.json" || h.State != hook.StateInvalid || h.Why != "no permission" || h.Source.Line != 1 {
		t.Errorf("%+v", h)
	}
	if diff := cmp.Diff(hook.Diagnostic{Severity: hook.SeverityError, Code: "unreadable", Path: src.Path, Line: 1, Message: "no permission", Hint: "chmod"}, got.Notes[0]); diff != "" {
		t.Error(diff)
	}
}

// Two hooks are the same to Claude Code only if nothing tells them apart.
func TestLegacyKeyTellsHooksApart(t *testing.T) {
	base := func(change func(h *hook.Hook)) string {
		h := &hook.Hook{Kind: hook.KindCommand, Command: &hook.Command{Line: "a"}}
		change(h)
		return LegacyKey(h)
	}
	seen := map[string]string{}
	for name, change := range map[string]func(h *hook.Hook){
		"itself": func(*hook.Hook) {}, "line": func(h *hook.Hook) { h.Command.Line = "b" }, "args": func(h *hook.Hook) { h.Command.Args = []string{} },
		"worker": func(h *hook.Hook) { h.Command.Worker = true }, "if": func(h *hook.Hook) { h.If = hook.Rules{"Read"} },
		"env": func(h *hook.Hook) { h.Env = map[string]string{"A": "b"} }, "dir": func(h *hook.Hook) { h.Source.Dir = "/d" },
		"protocol": func(h *hook.Hook) { h.Protocol = hook.ProtocolMoltis }, "kind": func(h *hook.Hook) { h.Kind = hook.KindPlugin },
	} {
		key := base(change)
		if other := seen[key]; key == "" || other != "" {
			t.Errorf("%s is as %q", name, other)
		}
		seen[key] = name
	}
	if base(func(h *hook.Hook) { h.Name, h.Event, h.Timeout = "n", hook.EventStop, time.Second }) != base(func(*hook.Hook) {}) {
		t.Error("a name, an event or a time limit tells hooks apart")
	}
	if got := LegacyKey(&hook.Hook{Kind: hook.KindHTTP}); got != "" {
		t.Errorf("no command: %q", got)
	}
}

// Each bound of a file is as large as it says: what just fits is read whole, one
// more is said.
func TestBoundsOfAConfigFileAreExact(t *testing.T) {
	x := strings.Repeat
	hooks := func(n int) string {
		return `{"hooks": {"Stop": [{"hooks": [` + strings.TrimSuffix(x(`{"type":"command","command":"a"},`, n), ",") + `]}]}}`
	}
	events := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"E%d": [],`, i)
		}
		return `{"hooks": {` + b.String() + `"Stop": []}}`
	}
	for name, tt := range map[string]struct{ path, fits, over, code string }{
		"depth of JSON":  {".claude/settings.json", `{"a":` + x("[", 63) + x("]", 63) + "}", `{"a":` + x("[", 64) + x("]", 64) + "}", "too_deep"},
		"depth of TOML":  {".codex/config.toml", "a = " + x("[", 64) + x("]", 64), "a = " + x("[", 65) + x("]", 65), "too_deep"},
		"parts of a key": {".codex/config.toml", x("a.", 15) + "b = 1", x("a.", 16) + "b = 1", "too_deep"},
		"values of JSON": {".claude/settings.json", `{"a":[` + x("1,", 19_997) + "1]}", `{"a":[` + x("1,", 19_998) + "1]}", "too_many"},
		"values of TOML": {".codex/config.toml", "a = [" + x("1,", 19_999) + "1]", "a = [" + x("1,", 20_000) + "1]", "too_many"},
		"bytes":          {".claude/settings.json", "{}" + x(" ", MaxConfig-2), "{}" + x(" ", MaxConfig-1), "too_large"},
		"events":         {".claude/settings.json", events(499), events(500), "too_many"},
		"hooks":          {".claude/settings.json", hooks(2000), hooks(2001), "too_many"},
	} {
		says := func(text string) bool {
			return slices.ContainsFunc(readText(tt.path, text).Notes, func(n hook.Diagnostic) bool {
				return n.Code == tt.code && !strings.Contains(n.Message, "more things to say")
			})
		}
		if says(tt.fits) {
			t.Errorf("%s: what fits is too much", name)
		}
		if !says(tt.over) {
			t.Errorf("%s: one more is not said", name)
		}
	}
	if got := readText(".claude/settings.json", "{}"+x(" ", MaxConfig-1)); got.Hooks[0].Why != "larger than 1024 KiB" {
		t.Errorf("%q", got.Hooks[0].Why)
	}
	// The line of a key is known as long as its path has at most 256 letters.
	for n, line := range map[int]int{250: 2, 251: 1} {
		got := readText(".tenterhook/settings.toml", "[mcp_servers]\n"+x("k", n-len("mcp_servers.")+5)+" = 7")
		if len(got.Notes) != 1 || got.Notes[0].Line != line {
			t.Errorf("a path of %d letters: %v", n, got.Notes)
		}
	}
	if got := readText(".claude/settings.json", hooks(2001)); len(got.Hooks) != 2000 {
		t.Errorf("%d hooks", len(got.Hooks))
	}
}

func TestUnknownKeysAreToldUpToABound(t *testing.T) {
	for _, n := range []int{20, 21, 60} {
		var keys strings.Builder
		for i := range n {
			fmt.Fprintf(&keys, `"odd%d": 1, `, i)
		}
		got := readText(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{`+keys.String()+`"type": "command", "command": "a"}]}]}}`)
		more := slices.ContainsFunc(got.Notes, func(n hook.Diagnostic) bool { return strings.HasSuffix(n.Message, "more keys without effect") })
		if want := min(n, 20); more != (n > 20) || len(got.Notes)-want > 1 || len(got.Notes) < want {
			t.Errorf("%d keys: %d notes, more %v", n, len(got.Notes), more)
		}
	}
}

func TestNotesAreBoundedAndTheRestIsCounted(t *testing.T) {
	twice := strings.Repeat(`{"type": "command", "command": "a"},`, 700)
	got := readText(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [`+strings.TrimSuffix(twice, ",")+`]}]}}`)
	last := slices.IndexFunc(got.Notes, func(n hook.Diagnostic) bool { return n.Code == "too_many" })
	if len(got.Notes) != 501 || last < 0 || got.Notes[last].Message != "there are 199 more things to say of this file" || got.Notes[last].Hint == "" {
		t.Errorf("%d notes, %+v", len(got.Notes), got.Notes[max(last, 0)])
	}
}

func TestPublishedSchemaOfTheSettingsIsThisOne(t *testing.T) {
	published, err := os.ReadFile("../../schemas/settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(published) != string(SettingsSchema()) {
		t.Error("schemas/settings.schema.json is another one: run go test -run TestGenerated -update . in the root")
	}
}

func TestEachMistakeOfASandboxIsReported(t *testing.T) {
	got := readText("/w/.tenterhook/settings.json", `{"hooks": {"Stop": [{"command": "a", "sandbox": {"colour": 1, "memory": true}}]}}`)
	if notes := codes(got); len(notes) != 2 || got.Hooks[0].State != hook.StateInvalid {
		t.Errorf("%v: %v", got.Hooks[0].State, got.Notes)
	}
}
