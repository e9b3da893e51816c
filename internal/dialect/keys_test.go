package dialect

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

func keyed() *hook.Hook {
	return &hook.Hook{ID: "user/a", Name: "a", Event: hook.EventStop, Kind: hook.KindCommand, Scope: hook.ScopeUser, Matcher: "x", OnFailure: hook.FailureBlock,
		Timeout: time.Second, Command: &hook.Command{Line: "a"}, If: []string{"Bash"}, Source: hook.Source{Path: "/p", Dir: "/d"}}
}

func TestHooksAreTheSameWhoeverDeclaresThemAndWhenever(t *testing.T) {
	for name, change := range map[string]func(*hook.Hook){
		"the ID": func(h *hook.Hook) { h.ID = "project/b" }, "the name": func(h *hook.Hook) { h.Name = "b" }, "the description": func(h *hook.Hook) { h.Description = "b" },
		"the status": func(h *hook.Hook) { h.StatusMessage = "b" }, "the scope": func(h *hook.Hook) { h.Scope = hook.ScopeProject }, "the file": func(h *hook.Hook) { h.Source.Path = "/q" },
		"the event": func(h *hook.Hook) { h.Event = hook.EventPreToolUse }, "the matcher": func(h *hook.Hook) { h.Matcher = "y" }, "the matcher's syntax": func(h *hook.Hook) { h.Syntax = "glob" },
		"the priority": func(h *hook.Hook) { h.Priority = 7 }, "the failure policy": func(h *hook.Hook) { h.OnFailure = hook.FailureContinue },
		"the state": func(h *hook.Hook) { h.State, h.Why = hook.StateInvalid, "b" },
	} {
		other := keyed()
		change(other)
		if reflect.DeepEqual(other, keyed()) || WholeKey(other) != WholeKey(keyed()) || WholeKey(other) == "" {
			t.Errorf("%s makes another hook", name)
		}
	}
	for name, change := range map[string]func(*hook.Hook){
		"the line": func(h *hook.Hook) { h.Command.Line = "b" }, "an argument": func(h *hook.Hook) { h.Command.Args = []string{"b"} }, "a worker": func(h *hook.Hook) { h.Command.Worker = true },
		"the rules": func(h *hook.Hook) { h.If = []string{"Read"} }, "the environment": func(h *hook.Hook) { h.Env = map[string]string{"A": "b"} },
		"the folder": func(h *hook.Hook) { h.Source.Dir = "/e" }, "the protocol": func(h *hook.Hook) { h.Protocol = "claude" }, "the kind": func(h *hook.Hook) { h.Kind = hook.KindRule },
	} {
		other := keyed()
		change(other)
		if WholeKey(other) == WholeKey(keyed()) || LegacyKey(other) == LegacyKey(keyed()) {
			t.Errorf("%s makes no other hook", name)
		}
	}
	other := keyed()
	other.Timeout = time.Minute
	if WholeKey(other) == WholeKey(keyed()) || LegacyKey(other) != LegacyKey(keyed()) {
		t.Error("the time limit is of the whole hook, and not of what the client compares")
	}
	other.Command = nil
	if LegacyKey(other) != "" {
		t.Errorf("no command: %q", LegacyKey(other))
	}
}

func TestAHookThatCannotBeWrittenDownIsTheSameAsNoOther(t *testing.T) {
	h := keyed()
	h.Params = hook.Params{"input": []byte("{")}
	if got := WholeKey(h); got != "" {
		t.Errorf("%q", got)
	}
}

func TestTheReferenceOfSettingsHasEveryKey(t *testing.T) {
	var names []string
	for _, s := range SettingTable() {
		names = append(names, s.Name)
		if SettingKey(s.Name) != s.Name || s.Doc == "" {
			t.Errorf("%+v", s)
		}
	}
	if len(names) == 0 || !slices.Equal(names, SettingKeys()) {
		t.Errorf("%q, %q", names, SettingKeys())
	}
	if got := SettingKey("maxAsync"); got != "max_async" {
		t.Errorf("%q", got)
	}
}

func TestTheFilesOfAProductAreAmongThoseOfAll(t *testing.T) {
	all := ConfigFiles()
	seen := 0
	for _, p := range products {
		own := ConfigFiles(p.name)
		for _, pattern := range own {
			if !slices.Contains(all, pattern) {
				t.Errorf("%s: %s is not among those of all", p.name, pattern)
			}
		}
		seen += len(own)
		for _, f := range p.files {
			if strings.HasPrefix(f.pattern, ".") != slices.Contains(own, f.pattern) {
				t.Errorf("%s: %s is wrongly in or out of %q", p.name, f.pattern, own)
			}
		}
	}
	if seen == 0 || len(all) != seen+3 || len(ConfigFiles("no product")) != 0 {
		t.Errorf("%d files of products, %d of all", seen, len(all))
	}
}

func TestGeminisSwitchesAreOfItsFilesAlone(t *testing.T) {
	const text = `{"hooksConfig": {"enabled": false}, "hooks": {"PreToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "guard"}]}]}}`
	if got := readText("/w/.claude/settings.json", text); got.Settings.DisableAllHooks != nil || len(got.Hooks) != 1 {
		t.Errorf("%+v", got)
	}
	gemini := strings.Replace(text, "PreToolUse", "BeforeTool", 1)
	if got := readText("/w/.gemini/settings.json", gemini); got.Settings.DisableAllHooks == nil || !*got.Settings.DisableAllHooks {
		t.Errorf("%+v", got)
	}
}
