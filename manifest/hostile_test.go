package manifest_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

func TestM1BombsAreRefusedSoon(t *testing.T) {
	const size = manifest.MaxSize - 100
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	count := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size-100; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := []struct{ name, text, code string }{
		{"64 KB of [", inTOML(fill("[")), "too_deep"},
		{"64 KB of [ in a value", inTOML("a = " + fill("[")), "too_deep"},
		{"tables within tables", inTOML("a = " + fill("{a=")), "too_deep"},
		{"20 KB dotted key", inTOML(strings.Repeat("a.", 10_000) + "a = 1"), "too_deep"},
		{"dotted header", inTOML("[" + fill("a.") + "a]"), "too_deep"},
		{"dotted key in a table", inTOML("x = {" + fill("a.") + "a = 1}"), "too_deep"},
		{"keys", inTOML(count("k%d = 1\n")), "too_many"},
		{"keys of many parts", inTOML(count("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o%d = 1\n")), "too_many"},
		{"tables of many parts", inTOML(count("[a%d.b.c.d.e.f.g.h.i.j.k.l.m.n]\n")), "too_many"},
		{"one key again and again", inTOML(fill("a = 1\n")), "too_many"},
		{"one key in one table", inTOML("x = {" + fill("a=1,") + "a=1}"), "too_many"},
		{"list of tables", inTOML("a = [" + fill("{},") + "]"), "too_many"},
		{"numbers that no integer holds", inTOML(count("k%d = 99999999999999999999\n")), "syntax"},
		{"fences in a string", "+++\na = '''\n" + fill("+++\n"), "syntax"},

		{"YAML 64 KB of [", inYAML(fill("[")), "too_deep"},
		{"YAML tables within tables", inYAML(fill("{a: ")), "too_deep"},
		{"YAML lists within lists", inYAML(fill("- ")), "too_deep"},
		{"YAML just too deep", inYAML("a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)), "too_deep"},
		{"YAML indentation", inYAML(count("%[1]*[1]da:\n")), "too_deep"},
		{"YAML alias bomb", inYAML("a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]"), "alias"},
		{"YAML alias of itself", inYAML("a: &a [*a]"), "alias"},
		{"YAML keys", inYAML(count("k%d: 1\n")), "too_many"},
		{"YAML one key again and again", inYAML(fill("a: 1\n")), "too_many"},
		{"YAML list", inYAML("a: [" + fill("a,") + "]"), "too_many"},
		{"YAML comments", inYAML(fill("# x\n- a\n")), "too_many"},

		{"JSON lists", ";;;\n" + fill("[") + "\n;;;\n", "too_deep"},
		{"JSON tables", ";;;\n" + fill(`{"a":`) + "\n;;;\n", "too_deep"},
		{"JSON one key again and again", ";;;\n{" + fill(`"a":1,`) + "\"a\":1}\n;;;\n", "too_many"},
		{"JSON keys", ";;;\n{" + count(`"k%d":1,`) + "\"a\":1}\n;;;\n", "too_many"},
		{"JSON list", ";;;\n{\"a\":[" + fill("1,") + "1]}\n;;;\n", "too_many"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if len(test.text) > manifest.MaxSize {
				t.Fatalf("%d bytes are refused for their number alone", len(test.text))
			}
			best, most := time.Hour, uint64(0)
			for range 3 { // the best of three, for machines that are busy
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				hooks, notes := manifest.Parse(source, []byte(test.text))
				best = min(best, time.Since(start))
				runtime.ReadMemStats(&after)
				most = max(most, after.TotalAlloc-before.TotalAlloc)
				if len(hooks) != 1 || hooks[0].State != hook.StateInvalid || len(notes) != 1 || notes[0].Code != test.code {
					t.Fatalf("%d hooks, %d diagnostics, the first %v, want %s", len(hooks), len(notes), notes[:min(1, len(notes))], test.code)
				}
				if len(notes[0].String()) > 1000 {
					t.Errorf("a diagnostic of %d bytes", len(notes[0].String()))
				}
			}
			if best > 100*time.Millisecond {
				t.Errorf("took %v", best)
			}
			if most > 32<<20 {
				t.Errorf("allocated %d MiB", most>>20)
			}
		})
	}
}

// FuzzManifest holds what Parse promises of any bytes at all.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{
		usual,
		inTOML("event = \"PreToolUse\"\ntype = \"http\"\nurl = \"https://x\"\nheaders = {A = \"b\"}\ntimeout = \"5s\""),
		inTOML("events = [\"BeforeToolCall\", \"Stop\"]\ncommand = '''\n+++\n'''\n[[a.b]]\nc = 1979-05-27T07:32:00Z\n[env]\nA = 1"),
		inTOML("a.\"b\".c = [1, 2.5, inf, 99999999999999999999, {d = \"\"\"x\"\"\"}] # c"),
		inYAML("metadata: {\"openclaw\": {\"events\": [\"command:new\",], requires: {bins: [jq]}}}"),
		inYAML("metadata: '{\"openclaw\": {\"events\": [\"command\"]}}'\n"),
		inYAML("trigger: x\nmatcher: {tool: y}\na: &a [*a]\n? b\n: |\n  ---\n  c"),
		"{\n\"event\": \"Stop\", \"command\": [\"x\"], \"if\": \"Bash(x)\"\n}\n\nbody",
		";;;\n{\"event\": [\"Stop\"], \"timeout\": 1e999, \"breaker\": {\"cooldown\": 5}}\n;;;\n",
		"\ufeff\r\n+++\r\nevent = \"Stop\"\r\n+++\r\n",
		"---toml\nevent = \"Stp\"\nenabled = false\n---",
		"---json\n[]\n---\n",
		"# nothing",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hooks, notes := manifest.Parse(source, data)
		if len(hooks) == 0 {
			t.Fatal("no hook")
		}
		lines := 1 + strings.Count(string(data), "\n")
		for i, d := range notes {
			if d.Code == "" || d.Message == "" || d.Path != source.Path || d.Hook != hooks[0].ID || d.Line < 1 || d.Line > lines {
				t.Errorf("diagnostic %+v of %d lines", d, lines)
			}
			if i > 0 && d.Line < notes[i-1].Line {
				t.Errorf("line %d comes after line %d", d.Line, notes[i-1].Line)
			}
		}
		invalid := false
		for _, h := range hooks {
			checkHook(t, h, lines)
			invalid = invalid || h.State == hook.StateInvalid
		}
		if errors, disabled := hook.HasErrors(notes), hooks[0].State == hook.StateDisabled; errors != invalid && !disabled {
			t.Errorf("errors %t, invalid %t: %v", errors, invalid, notes)
		}
		again, moreNotes := manifest.Parse(source, data)
		if diff := cmp.Diff(hooks, again) + cmp.Diff(notes, moreNotes); diff != "" {
			t.Error("the same bytes are read in two ways:", diff)
		}
	})
}

// checkHook holds what is true of any hook that Parse returns.
func checkHook(t *testing.T, h *hook.Hook, lines int) {
	t.Helper()
	if h.ID != "project/"+h.Name || h.Name == "" || h.Source.Path != source.Path || h.Source.Line < 1 || h.Source.Line > lines {
		t.Errorf("hook %q at %+v", h.ID, h.Source)
	}
	if (h.State == hook.StateReady) == (h.Why != "") || h.State == "" {
		t.Errorf("state %q, why %q", h.State, h.Why)
	}
	if h.Timeout < 0 || h.Breaker.Cooldown < 0 {
		t.Errorf("times %v, %v", h.Timeout, h.Breaker.Cooldown)
	}
	for key, raw := range h.Params {
		if !json.Valid(raw) {
			t.Errorf("%s is no JSON: %s", key, raw)
		}
	}
	if h.State != hook.StateReady {
		return
	}
	if h.Event == "" || !hook.Info(h.Event).Takes(h.Kind) || len(h.If) > 0 && !hook.Info(h.Event).TakesIf {
		t.Errorf("a %s hook with rule %q is ready for %q", h.Kind, h.If, h.Event)
	}
	if h.Kind == hook.KindCommand && (h.Command == nil || h.Command.Line == "") {
		t.Error("a command hook is ready without a command")
	}
}
