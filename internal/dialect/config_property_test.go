package dialect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

// drawnHandler is a handler that a property test made.
type drawnHandler struct {
	event, matcher, command string
	timeout                 int
}

// drawHandlers makes handlers for a few events, each with a command of its own.
func drawHandlers(t *rapid.T) []drawnHandler {
	n := rapid.IntRange(1, 12).Draw(t, "handlers")
	list := make([]drawnHandler, n)
	for i := range list {
		list[i] = drawnHandler{
			event:   rapid.SampledFrom([]string{"PreToolUse", "PostToolUse", "PermissionRequest"}).Draw(t, "event"),
			matcher: rapid.SampledFrom([]string{"", "*", "Bash", "Edit|Write", "mcp__a__.*"}).Draw(t, "matcher"),
			command: fmt.Sprintf("run-%d %s", i, rapid.StringMatching(`[a-z "'\\/,{}\[\]]{0,12}`).Draw(t, "rest")),
			timeout: rapid.IntRange(1, 900).Draw(t, "timeout"),
		}
		list[i].command = strings.TrimSpace(list[i].command)
	}
	return list
}

// settingsOf writes handlers as settings, one group a handler.
func settingsOf(list []drawnHandler) map[string]any {
	events := map[string][]any{}
	for _, h := range list {
		events[h.event] = append(events[h.event], map[string]any{
			"matcher": h.matcher,
			"hooks":   []any{map[string]any{"type": "command", "command": h.command, "timeout": h.timeout}},
		})
	}
	return map[string]any{"hooks": events}
}

func TestEveryHandlerOfGoodSettingsLoadsFromItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawHandlers(t)
		data, err := json.MarshalIndent(settingsOf(list), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got := readText(".claude/settings.json", string(data))
		if len(got.Hooks) != len(list) || len(got.Notes) > 0 {
			t.Fatalf("%d hooks, want %d: %v", len(got.Hooks), len(list), got.Notes)
		}
		lines := strings.Split(string(data), "\n")
		byCommand := map[string]*hook.Hook{}
		for _, h := range got.Hooks {
			byCommand[h.Command.Line] = h
			if text := lines[h.Source.Line-1]; strings.TrimSpace(text) != "{" || !strings.Contains(lines[h.Source.Line], h.Command.Line[:5]) {
				t.Errorf("%s: line %d is %q, then %q", h.Name, h.Source.Line, text, lines[h.Source.Line])
			}
		}
		for _, want := range list {
			h := byCommand[want.command]
			if h == nil || string(h.Event) != want.event || h.Matcher != want.matcher || int(h.Timeout.Seconds()) != want.timeout || h.State != hook.StateReady {
				t.Errorf("%+v became %+v", want, h)
			}
		}
	})
}

func TestCommentsAndCommasChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(settingsOf(drawHandlers(t)))
		if err != nil {
			t.Fatal(err)
		}
		plain := readText(".claude/settings.json", string(data))
		var lax strings.Builder
		for i := 0; i < len(data); i++ {
			from := i
			switch data[i] {
			case '"':
				for i++; data[i] != '"'; i++ {
					if data[i] == '\\' {
						i++
					}
				}
			case '}', ']':
				if data[from-1] != '{' && data[from-1] != '[' && rapid.Bool().Draw(t, "comma") {
					lax.WriteString(" , ")
				}
			}
			if strings.IndexByte(`{}[]:,"`, data[from]) >= 0 && rapid.IntRange(0, 3).Draw(t, "comment") == 0 {
				lax.WriteString(rapid.SampledFrom([]string{"/* \" , } */", "// ] \"\n", " ", "/**/"}).Draw(t, "kind"))
			}
			lax.Write(data[from : i+1])
		}
		loose := readText(".claude/settings.json", lax.String())
		if diff := cmp.Diff(describeAll(plain), describeAll(loose)); diff != "" {
			t.Errorf("%s\n-plain +loose:\n%s\n%v", lax.String(), diff, loose.Notes)
		}
		if hook.HasErrors(loose.Notes) {
			t.Errorf("errors: %v", loose.Notes)
		}
	})
}

func TestTOMLSaysTheSameAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawHandlers(t)
		data, err := json.Marshal(settingsOf(list))
		if err != nil {
			t.Fatal(err)
		}
		var toml strings.Builder
		line, wants := 1, map[string]int{}
		for _, h := range list {
			wants[h.command] = line + 2
			quoted, _ := json.Marshal(h.command) // TOML's basic strings take what is drawn here
			fmt.Fprintf(&toml, "[[hooks.%s]]\nmatcher = '%s'\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = %d\n",
				h.event, h.matcher, h.event, quoted, h.timeout)
			line += 6
		}
		fromJSON, fromTOML := readText(".tenterhook/settings.json", string(data)), readText(".tenterhook/settings.toml", toml.String())
		count := func(c Config) map[string]int {
			lines := map[string]int{}
			for _, l := range describeAll(c) {
				lines[l]++
			}
			return lines
		}
		if diff := cmp.Diff(count(fromJSON), count(fromTOML)); diff != "" {
			t.Errorf("-json +toml:\n%s\n%v", diff, fromTOML.Notes)
		}
		for _, h := range fromTOML.Hooks {
			if h.Source.Line != wants[h.Command.Line] {
				t.Errorf("%s: line %d, want %d", h.Command.Line, h.Source.Line, wants[h.Command.Line])
			}
		}
	})
}

func TestTranslatedMatcherTakesWhatItTookBefore(t *testing.T) {
	names := []string{"run_shell_command", "write_file", "replace", "read_file", "glob", "web_fetch", "mcp__a__b", "other"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"run_shell_command", "^write", "replace$", "read_file", ".*fetch", "shell", "x", "mcp__.*"}), 1, 4).Draw(t, "parts")
		pattern := strings.Join(parts, "|")
		r := newConfigReader(ConfigSource{})
		r.p = &geminiConfig
		e := r.newEntry("x", nil)
		translated := e.translate(pattern, hook.SyntaxRegexp)
		before, after := mustCompile(t, pattern), mustCompile(t, translated)
		for _, name := range names {
			took := before.MatchString(name)
			if took && !after.MatchString(name) {
				t.Errorf("%q became %q, and takes %s no more", pattern, translated, name)
			}
			for _, ours := range geminiConfig.tools[name] {
				if took && !after.MatchString(ours) {
					t.Errorf("%q takes %s, but %q does not take %s", pattern, name, translated, ours)
				}
			}
		}
	})
}

func mustCompile(t *rapid.T, pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return re
}
