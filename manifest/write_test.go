package manifest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

// drawHook draws a hook that a HOOK.md can declare.
func drawHook(t *rapid.T) *hook.Hook {
	text := rapid.SampledFrom([]string{"", "a", "it's", `say "hi"`, `C:\x`, "two\nlines", "'''\nthree", "+++\nfence", "tab\there", "\x1b[31m", "über €", `'"\`, "# no comment", "ends '"})
	some := rapid.SampledFrom([]string{"a", "it's", `say "hi" \n`, "two\nlines", "+++", "++\n+++\n++"})
	list := rapid.SliceOfN(some, 0, 3)
	h := &hook.Hook{Name: source.Folder, Description: text.Draw(t, "description"), Event: hook.EventPreToolUse, Matcher: text.Draw(t, "matcher"),
		Kind: rapid.SampledFrom([]hook.Kind{hook.KindCommand, hook.KindHTTP, hook.KindMCP, hook.KindPrompt, hook.KindAgent}).Draw(t, "kind"),
		If:   list.Draw(t, "if"), OnFailure: rapid.SampledFrom([]hook.FailurePolicy{"", hook.FailureContinue, hook.FailureBlock}).Draw(t, "policy"),
		Protocol: rapid.SampledFrom([]hook.Protocol{"", hook.ProtocolGemini, hook.ProtocolCaliban}).Draw(t, "protocol"),
		Timeout:  time.Duration(rapid.IntRange(0, 5000).Draw(t, "timeout")) * 250 * time.Millisecond,
		Priority: rapid.IntRange(-2, 2).Draw(t, "priority"), Once: rapid.Bool().Draw(t, "once"), Rewrites: rapid.Bool().Draw(t, "rewrites"),
		StatusMessage: text.Draw(t, "status"), State: rapid.SampledFrom([]hook.State{hook.StateReady, hook.StateDisabled}).Draw(t, "state"),
		Breaker:  hook.BreakerSettings{Failures: rapid.IntRange(-1, 3).Draw(t, "failures"), Cooldown: time.Duration(rapid.IntRange(0, 3).Draw(t, "cooldown")) * time.Minute},
		Requires: hook.Requires{Bins: list.Draw(t, "bins"), Envs: list.Draw(t, "envs"), OS: rapid.SliceOfN(rapid.SampledFrom([]string{"linux", "macos"}), 0, 2).Draw(t, "os")},
		Env:      rapid.MapOfN(rapid.SampledFrom([]string{"A", "with space", "UML_Ü"}), text, 0, 2).Draw(t, "env"),
		Scope:    source.Scope, Source: source.Source}
	if h.Kind == hook.KindCommand {
		h.Command = &hook.Command{Line: some.Draw(t, "command"), Worker: rapid.Bool().Draw(t, "worker")}
		if rapid.Bool().Draw(t, "exec") {
			h.Command.Args = list.Draw(t, "args")
		} else {
			h.Command.Shell = rapid.SampledFrom([]string{"", "bash", "powershell", "cmd"}).Draw(t, "shell")
		}
		if rapid.Bool().Draw(t, "contained") {
			h.Sandbox = &hook.Sandbox{Mode: rapid.SampledFrom(hook.SandboxModes()[1:]).Draw(t, "mode"), AllowWrite: []string{"~/x", "${HOOK_DIR}/y"}, AllowNet: []string{"tcp:443"}, Memory: int64(rapid.IntRange(64, 4096).Draw(t, "memory")) << 20}
		}
		h.Async, h.AsyncRewake = rapid.Bool().Draw(t, "async"), rapid.Bool().Draw(t, "rewake")
		if rapid.Bool().Draw(t, "queued") {
			h.Queue, h.Async, h.Once, h.Command.Worker = "reviews-2", true, false, false
		}
		if rapid.Bool().Draw(t, "session") {
			h.Source.Dir = ""
		}
		return h
	}
	h.Params = make(hook.Params)
	param := func(key string, v any) { h.Params[key], _ = json.Marshal(v) }
	switch h.Kind {
	case hook.KindHTTP:
		param("url", some.Draw(t, "url"))
		param("headers", rapid.MapOfN(some, text, 1, 2).Draw(t, "headers"))
		param("allowedEnvVars", list.Draw(t, "vars"))
	case hook.KindMCP:
		param("server", some.Draw(t, "server"))
		param("tool", some.Draw(t, "tool"))
		param("input", map[string]any{"a": []any{1, 2.5, "x", []any{true}}, "b c": map[string]any{"d": text.Draw(t, "input")}, "tables": []any{map[string]any{"x": 1}, map[string]any{"y": "z"}}})
	default:
		param("prompt", some.Draw(t, "prompt"))
		param("model", some.Draw(t, "model"))
	}
	return h
}

func TestWrittenHookIsReadAsItWas(t *testing.T) {
	compact := cmp.Transformer("json", func(raw json.RawMessage) any {
		var v any
		_ = json.Unmarshal(raw, &v)
		return v
	})
	drawn := make(map[string]bool) // fields that had a value
	rapid.Check(t, func(t *rapid.T) {
		h := drawHook(t)
		for v, i := reflect.ValueOf(*h), 0; i < v.NumField(); i++ {
			drawn[v.Type().Field(i).Name] = drawn[v.Type().Field(i).Name] || !v.Field(i).IsZero()
		}
		text, err := manifest.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		hooks, notes := manifest.Parse(source, append(text, "\nA body with\n+++\nin it.\n"...))
		if len(hooks) != 1 || hook.HasErrors(notes) {
			t.Fatalf("%s\n%v", text, notes)
		}
		got := *hooks[0]
		got.ID, got.Source.Line, got.Why = "", 0, ""
		empty := cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 && (a == nil) == (b == nil) }, cmp.Ignore())
		want := *h
		for _, list := range []*[]string{&want.Requires.Bins, &want.Requires.Envs, &want.Requires.OS, (*[]string)(&want.If)} {
			if len(*list) == 0 {
				*list = nil
			}
		}
		if len(want.Env) == 0 {
			want.Env = nil
		}
		if diff := cmp.Diff(&want, &got, compact, empty); diff != "" {
			t.Fatalf("%s\n%s", text, diff)
		}
	})
	if testing.Short() {
		return // too few are drawn to have every field
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[hook.Hook]()) {
		if !drawn[f.Name] && !slices.Contains([]string{"ID", "Syntax", "Why", "Handler"}, f.Name) {
			t.Errorf("no hook of this test has %s", f.Name)
		}
	}
}

func TestValueThatTOMLCannotHoldIsAnError(t *testing.T) {
	h := &hook.Hook{Event: hook.EventPreToolUse, Kind: hook.KindMCP, Params: hook.Params{"input": json.RawMessage(`{"a":null}`)}}
	if text, err := manifest.Write(h); err == nil || err.Error() != "input: TOML has no null" {
		t.Errorf("%v\n%s", err, text)
	}
}
