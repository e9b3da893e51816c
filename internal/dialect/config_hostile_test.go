package dialect

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// fill repeats what each makes until there is a megabyte of it.
func fill(begin string, each func(i int) string, end string) string {
	var b strings.Builder
	b.WriteString(begin)
	for i := 0; b.Len() < MaxConfig-200; i++ {
		b.WriteString(each(i))
	}
	return b.String() + end
}

func same(s string) func(int) string { return func(int) string { return s } }

func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

func TestM1HostileConfigsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for name, c := range map[string]struct{ path, text string }{
		"brackets":         {"settings.json", fill("", same("["), "")},
		"brackets in TOML": {"config.toml", fill("a = ", same("["), "")},
		"tables":           {"settings.json", fill("", same(`{"hooks":`), "")},
		"a dotted key":     {"config.toml", fill("", same("a."), "b = 1")},
		"dotted keys":      {"config.toml", fill("", numbered("a.b.c.d.e.f.g.h.i.j.k.l.m.n%d = 1\n"), "")},
		"a long key":       {"config.toml", "[" + strings.Repeat("k", MaxConfig/2) + "]\n" + strings.Repeat("a = 1\n", 1000)},
		"keys":             {"config.toml", fill("", numbered("k%d = 1\n"), "")},
		"groups":           {"config.toml", fill("", same("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'a'\n"), "")},
		"values":           {"settings.json", fill("[", same("1,"), "1]")},
		"handlers":         {"settings.json", fill(`{"hooks":{"Stop":[{"hooks":[`, same(`{"command":1},`), `{}]}]}}`)},
		"long handlers":    {"settings.json", fill(`{"hooks":{"Stop":[{"hooks":[`, same(`{"command":"`+strings.Repeat("a", 90)+`"},`), `{}]}]}}`)},
		"events":           {"settings.json", fill(`{"hooks":{"Stop":[]`, numbered(`,"PreToolUs%040d":[]`), "}}")},
		"settings":         {".tenterhook/settings.json", fill(`{"hooks":{}`, numbered(`,"disable_all_hooks%040d":1`), "}")},
		"comments":         {"settings.json", fill("", same("/*"), "")},
		"commas":           {"settings.json", fill("[", same(","), "]")},
		"matchers": {".gemini/settings.json", fill(`{"hooks":{"BeforeTool":[`, func(i int) string {
			return fmt.Sprintf(`{"matcher":"%d%s","hooks":[{"command":"a"}]},`, i, strings.Repeat("(a+)+|", 80))
		}, `{}]}}`)},
		"a bound":   {".gemini/settings.json", `{"hooks":{"BeforeTool":[{"matcher":"((a{1000}){1000}){1000}","hooks":[{"command":"a"}]}]}}`},
		"names":     {"settings.json", fill(`{"hooks":{"Stop":[{"hooks":[`, same(`{"command":"a","name":"`+strings.Repeat("x", 90)+`"},`), `{}]}]}}`)},
		"a key":     {"settings.json", fill(`{"hooks":{"Stop":[{`, same(`"command":"a",`), `"a":1}]}}`)},
		"fences":    {"config.toml", fill("", same(`"""`), "")},
		"backslash": {"settings.json", `{"hooks": "` + strings.Repeat(`\`, MaxConfig/2)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		got := readText(c.path, c.text)
		elapsed := time.Since(begin)
		runtime.ReadMemStats(&after)
		if elapsed > 30*time.Second {
			t.Errorf("%s: took %v", name, elapsed)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 256 {
			t.Errorf("%s: allocated %d MiB in all", name, mib)
		}
		if len(got.Notes) == 0 || len(got.Hooks) > maxConfigHooks {
			t.Errorf("%s: %d notes, %d hooks", name, len(got.Notes), len(got.Hooks))
		}
	}
}

func TestTooManyHooksAreToldNotDropped(t *testing.T) {
	text := `{"hooks":{"Stop":[` + strings.Repeat(`{"hooks":[{"type":"command","command":"a"}]},`, maxConfigHooks) + `{"hooks":[{"type":"command","command":"z"}]}]}}`
	got := readText("settings.json", text)
	if len(got.Hooks) != maxConfigHooks {
		t.Errorf("%d hooks, want %d", len(got.Hooks), maxConfigHooks)
	}
	if !hook.HasErrors(got.Notes) {
		t.Errorf("nothing said of the rest: %v", got.Notes[len(got.Notes)-1])
	}
}

// checkConfig holds what is true of every config, whatever it was read from.
func checkConfig(t *testing.T, name, text string, got Config) {
	t.Helper()
	lines := 1 + strings.Count(text, "\n")
	seen := map[string]bool{}
	for _, h := range got.Hooks {
		switch {
		case h.ID == "" || h.Name == "" || seen[h.Name]:
			t.Errorf("hook %q has no name of its own", h.Name)
		case h.State == "":
			t.Errorf("%s has no state", h.Name)
		case h.State != hook.StateReady && h.Why == "":
			t.Errorf("%s is %s, and nobody knows why", h.Name, h.State)
		case h.State == hook.StateReady && (h.Event == "" || h.Kind == hook.KindCommand && (h.Command == nil || h.Command.Line == "")):
			t.Errorf("%s is ready, with event %q and command %+v", h.Name, h.Event, h.Command)
		case h.Source.Line < 1 || h.Source.Line > lines:
			t.Errorf("%s is on line %d of %d", h.Name, h.Source.Line, lines)
		case h.Timeout < 0:
			t.Errorf("%s has %v", h.Name, h.Timeout)
		}
		seen[h.Name] = true
		if h.State == hook.StateInvalid && !hook.HasErrors(got.Notes) {
			t.Errorf("%s is invalid without an error: %s", h.Name, h.Why)
		}
	}
	for _, n := range got.Notes {
		if n.Code == "" || n.Message == "" || n.Line < 1 || n.Line > lines || n.Path != name {
			t.Errorf("note %+v of %d lines", n, lines)
		}
	}
	for _, r := range got.Refs {
		if !fs.ValidPath(r.Path) {
			t.Errorf("ref %q leads out", r.Path)
		}
	}
	if got.Product == "" && len(got.Notes) == 0 {
		t.Error("a file of nobody's, and nothing is said")
	}
}

func FuzzConfig(f *testing.F) {
	paths := []string{
		".claude/settings.json", "hooks/hooks.json", ".claude-plugin/plugin.json", ".codex/config.toml", ".gemini/settings.json",
		".github/hooks/x.json", ".cursor/hooks.json", ".windsurf/hooks.json", ".kiro/agents/a.json", ".kiro/hooks/a.kiro.hook",
		".agents/hooks.json", ".caliban/hooks.toml", ".tenterhook/settings.toml", "x.json",
	}
	for _, text := range []string{
		`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a", "timeout": 5}]}]}}`,
		`{"hooks": {"hooks": {"Stop": [{"type": "http", "url": "u", "headers": {"a": "b"}}]}}}`,
		`{"name": "p", "hooks": ["./a.json", "../b", {"Stop": {}}]}`,
		"[[hooks.Stop]]\nmatcher = 'x' # c\n[[hooks.Stop.hooks]]\ncommand = \"\"\"a\nb\"\"\"\nargs = [\"x\",\n 'y']\n",
		`{"hooks": {"enabled": true, "BeforeTool": [{"matcher": "replace", "hooks": [{"command": ["a"], "timeout": 1}]}]}}`,
		`{"version": 1, "hooks": {"preToolUse": [{"bash": "a", "cwd": "../x", "env": {"A": 1}, "timeoutSec": -1}]}}`,
		`{"hooks": {"beforeShellExecution": [{"command": "a", "matcher": "rm", "failClosed": "yes"}]}}`,
		"{ // c\n\"hooks\": {\"pre_run_command\": [{\"command\": \"a\",},],},}",
		`{"hooks": {"preToolUse": [{"matcher": "@git/*", "command": "a", "timeout_ms": 1e9}]}}`,
		`{"when": {"type": "fileEdited", "patterns": ["*.go", 1]}, "then": {"type": "runCommand", "command": "a"}}`,
		`{"a": {"Stop": [{"command": "a"}], "enabled": false}}`,
		"[hooks]\nStop = [{handlers = [{command = 'a'}]}]\n",
		"disabled = ['x']\nmax_async = 1.5\n[[hooks.PreToolUse]]\ncommand = 'a'\nrequires = {bins = ['x']}\n",
		`{"hooks": {}}`,
		"\"\\",
		`{"hooks": {"": [{"command": "a"}]}}`,
		"\ufeff{\"hooks\": [{\"event\": \"Stop\"}], \"hooks\": null}",
	} {
		for which := range paths {
			f.Add(uint8(which), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := paths[int(which)%len(paths)]
		got := readText(name, string(data))
		checkConfig(t, name, string(data), got)
	})
}
