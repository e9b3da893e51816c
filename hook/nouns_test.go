package hook_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestRulesAreOneTextOrAList(t *testing.T) {
	for _, tt := range []struct {
		rules       hook.Rules
		asJSON, say string
	}{
		{nil, `""`, ""}, {hook.Rules{"Read"}, `"Read"`, "Read"}, {hook.Rules{"Read", "Edit"}, `["Read","Edit"]`, "Read or Edit"},
	} {
		data, err := json.Marshal(tt.rules)
		if err != nil || string(data) != tt.asJSON || tt.rules.String() != tt.say {
			t.Errorf("%#v: %s %q %v", tt.rules, data, tt.rules, err)
		}
	}
}

func TestMisspeltEventConcernsTheOneThatWasMeant(t *testing.T) {
	for _, tt := range []struct {
		event hook.Event
		state hook.State
		want  hook.Event
	}{
		{"PreToolUes", hook.StateInvalid, hook.EventPreToolUse},
		{"PreToolUes", hook.StateReady, "PreToolUes"}, // an event of the host's own
		{"Deploy", hook.StateInvalid, "Deploy"},
		{hook.EventStop, hook.StateInvalid, hook.EventStop},
		{hook.EventStop, hook.StateReady, hook.EventStop},
	} {
		if got := (&hook.Hook{Event: tt.event, State: tt.state}).Concerns(); got != tt.want {
			t.Errorf("%s, %s: %s", tt.event, tt.state, got)
		}
	}
}

func TestWordsOfAFileAreListedOnce(t *testing.T) {
	if diff := cmp.Diff([]hook.Kind{"command", "http", "mcp", "prompt", "agent", "plugin", "rule"}, hook.Kinds()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]hook.Protocol{"claude", "claude-legacy", "starpod", "caliban", "moltis", "gemini", "qwen", "copilot", "cursor", "cline"},
		hook.Protocols()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]hook.Decision{"deny", "ask", "allow", "warn", "context", "rewrite"}, hook.Decisions()); diff != "" {
		t.Error(diff)
	}
}

func TestScopesAndVerdictsHaveNames(t *testing.T) {
	scopes := []string{"", "managed", "user", "project", "local", "plugin", "dir", "session", "in-process", "Scope(9)"}
	for i, want := range scopes {
		if got, err := hook.Scope(i).MarshalText(); string(got) != want || err != nil {
			t.Errorf("scope %d: %q, %v", i, got, err)
		}
	}
	if hook.ScopeManaged != 1 || hook.ScopeInProcess != 8 {
		t.Error("a scope moved")
	}
	for i, want := range []string{"none", "allow", "ask", "defer", "deny", "Verdict(5)", "Verdict(6)"} {
		if got := hook.Verdict(i).String(); got != want {
			t.Errorf("verdict %d: %q", i, got)
		}
	}
}

func TestDiagnosticBeginsWithItsPlace(t *testing.T) {
	for want, d := range map[string]hook.Diagnostic{
		"odd":                             {Message: "odd"},
		"/h/HOOK.md is odd":               {Path: "/h/HOOK.md", Message: "/h/HOOK.md is odd"},
		"/h/HOOK.md:2: /h/HOOK.md is odd": {Path: "/h/HOOK.md", Line: 2, Message: "/h/HOOK.md is odd"},
		"odd (mend it)":                   {Message: "odd", Hint: "mend it"},
		"odd: ":                           {Message: "odd: ", Line: 3, Column: 4},
		"/h/HOOK.md: odd":                 {Path: "/h/HOOK.md", Message: "odd", Column: 4},
		"/h/HOOK.md:1: odd":               {Path: "/h/HOOK.md", Line: 1, Message: "odd"},
		"/h/HOOK.md:12:1: odd (fix)":      {Path: "/h/HOOK.md", Line: 12, Column: 1, Message: "odd", Hint: "fix"},
	} {
		if got := d.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	warning, failure := hook.Diagnostic{Severity: hook.SeverityWarning}, hook.Diagnostic{Severity: hook.SeverityError}
	if hook.HasErrors(nil) || hook.HasErrors([]hook.Diagnostic{warning, {Severity: hook.SeverityInfo}}) || !hook.HasErrors([]hook.Diagnostic{warning, failure}) {
		t.Error("HasErrors finds no error, or one where none is")
	}
}

func TestWarningOfACallNamesItsHook(t *testing.T) {
	c := &hook.Call{Hook: &hook.Hook{ID: "user/a", Source: hook.Source{Path: "/h/HOOK.md", Line: 4}}}
	c.Warn("odd", "it is odd", "mend it")
	c.Warn("again", "it is odd again", "")
	want := []hook.Diagnostic{
		{Severity: hook.SeverityWarning, Code: "odd", Hook: "user/a", Path: "/h/HOOK.md", Line: 4, Message: "it is odd", Hint: "mend it"},
		{Severity: hook.SeverityWarning, Code: "again", Hook: "user/a", Path: "/h/HOOK.md", Line: 4, Message: "it is odd again"},
	}
	if diff := cmp.Diff(want, c.Report.Warnings); diff != "" {
		t.Error(diff)
	}
	o := hook.Merge(hook.EventStop, []hook.Result{{Hook: c.Hook, Status: hook.StatusFailed, Report: c.Report}})
	if diff := cmp.Diff(want, o.Diagnostics); diff != "" {
		t.Errorf("the outcome's diagnostics: %s", diff)
	}
}

func TestErrorSaysFailureReasonAndRemedy(t *testing.T) {
	err := hook.Errorf(hook.FailureStart, "open %s: %w", "a", io.ErrUnexpectedEOF)
	if err.Error() != "start: open a: unexpected EOF" || err.Failure != hook.FailureStart || err.Reason != "open a: unexpected EOF" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v: %+v", err, *err)
	}
	err.Hint = "make it"
	if err.Error() != "start: open a: unexpected EOF (make it)" {
		t.Error(err)
	}
	if plain := hook.Errorf(hook.FailureExit, "code %d", 7); plain.Unwrap() != nil || plain.Reason != "code 7" {
		t.Errorf("%+v", *plain)
	}
}

func TestKeysThatTellAKindOfAHookWithoutAType(t *testing.T) {
	for key, want := range map[string]hook.Kind{
		"": hook.KindCommand, "command": hook.KindCommand, "bash": hook.KindCommand, "powershell": hook.KindCommand, "windows": hook.KindCommand, "linux": hook.KindCommand, "osx": hook.KindCommand, "command_windows": hook.KindCommand,
		"url": hook.KindHTTP, "server": hook.KindMCP, "mcp": hook.KindMCP, "prompt": hook.KindPrompt, "agent": "", "plugin": "", "rule": "", "callback": "", "tool": "", "x": "",
	} {
		k, ok := hook.KindOfKey(key)
		if ok != (want != "") || ok && k.Kind != want {
			t.Errorf("%q: %+v, %v, want %q", key, k, ok, want)
		}
	}
}

func TestEachEventHasAnInputOfItsName(t *testing.T) {
	for _, info := range hook.Events() {
		if info.Input == nil || info.Input.Event() != info.Event {
			t.Errorf("%s has the input %T", info.Event, info.Input)
		}
	}
}

func TestKindsAreWhatTheyAre(t *testing.T) {
	for kind, want := range map[hook.Kind]string{
		hook.KindCommand: "contained", hook.KindHTTP: "", hook.KindMCP: "", hook.KindPrompt: "person asks", hook.KindAgent: "person asks turns",
		hook.KindPlugin: "own contained packaged", hook.KindRule: "own instant", hook.KindCallback: "inprocess", hook.KindFunction: "person inprocess",
	} {
		var got []string
		k := kind.Info()
		for _, one := range []struct {
			word string
			is   bool
		}{{"own", k.Own}, {"person", k.Person}, {"asks", k.Asks}, {"turns", k.Turns}, {"instant", k.Instant}, {"contained", k.Contained}, {"packaged", k.Packaged}, {"inprocess", k.InProcess}} {
			if one.is {
				got = append(got, one.word)
			}
		}
		if words := strings.Join(got, " "); words != want {
			t.Errorf("%s: %q, want %q", kind, words, want)
		}
	}
}

func TestQueueIsAToken(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0": true, "a-b_c9": true, strings.Repeat("a", 63): true,
		"": false, strings.Repeat("a", 64): false, "-a": false, "_a": false, "A": false, "aB": false, "a.b": false, "a b": false, "a/b": false, "a*": false, "é": false,
	} {
		if hook.ValidQueue(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestSandboxOfAnUnreadableTextIsAMistake(t *testing.T) {
	if box, problems := hook.SandboxOf(json.RawMessage(`"\x"`)); box != nil || len(problems) != 1 || problems[0].Code != "wrong_type" {
		t.Errorf("%+v, %+v", box, problems)
	}
}

func TestEachWordOfATypeMeansOneKind(t *testing.T) {
	for word, want := range map[string]hook.Kind{
		"command": hook.KindCommand, "http": hook.KindHTTP, "mcp": hook.KindMCP, "mcp_tool": hook.KindMCP, "prompt": hook.KindPrompt,
		"agent": hook.KindAgent, "plugin": hook.KindPlugin, "rule": hook.KindRule, "callback": "", "function": "", "Command": "", "": "",
	} {
		k, ok := hook.KindOf(word)
		if ok != (want != "") || ok && k.Kind != want {
			t.Errorf("%q: %+v, %v, want %q", word, k, ok, want)
		}
		if ok && k.IsDefault() != (want == hook.KindCommand) {
			t.Errorf("%s is the default: %v", want, k.IsDefault())
		}
	}
}

func TestAnUnknownKindAnswersNoEvent(t *testing.T) {
	if info := hook.Kind("x").Info(); info.Kind != "x" || info.Words != nil {
		t.Errorf("%+v", info)
	}
	for _, event := range hook.Events() {
		if event.Takes("x") {
			t.Errorf("%s takes it", event.Event)
		}
	}
}

func TestKindsOfAnEventAreThoseThatItTakes(t *testing.T) {
	for event, want := range map[hook.Event][]hook.Kind{
		hook.EventPreToolUse:   {hook.KindCommand, hook.KindHTTP, hook.KindMCP, hook.KindPrompt, hook.KindAgent, hook.KindPlugin, hook.KindRule},
		hook.EventSessionStart: {hook.KindCommand, hook.KindMCP, hook.KindPlugin, hook.KindRule},
	} {
		if diff := cmp.Diff(want, hook.Info(event).Kinds()); diff != "" {
			t.Errorf("%s: %s", event, diff)
		}
	}
}

func TestOnlyARuleDeclaresKeysOfItsOwn(t *testing.T) {
	params := hook.Params{"decision": json.RawMessage(`"rewrite"`)}
	for _, kind := range hook.Kinds() {
		h := &hook.Hook{Kind: kind, Params: params}
		declared := h.Declared()
		if kind != hook.KindRule {
			if declared != nil {
				t.Errorf("%s: %v", kind, declared)
			}
			continue
		}
		rule, ok := declared.(*hook.RuleParams)
		if !ok || !rule.IsRewriter() || rule.String() != `rule that decides "rewrite"` {
			t.Errorf("%v", declared)
		}
	}
	if deny := (&hook.RuleParams{Decision: hook.DecisionDeny}); deny.IsRewriter() {
		t.Error("a denial rewrites")
	}
}

func TestVersionsAreNamedByChannel(t *testing.T) {
	for want, v := range map[string]hook.Versions{"": nil, "guard 3": {"guard": 3}, "guard 3, packs 0": {"packs": 0, "guard": 3}} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A hook of a pack has the authority of whoever named the pack.
func TestAuthorityIsOfWhoNamesThePack(t *testing.T) {
	h := &hook.Hook{Scope: hook.ScopePlugin, Source: hook.Source{PackBy: hook.ScopeManaged}}
	if got := h.Authority(); got != hook.ScopePlugin {
		t.Errorf("without a pack: %v", got)
	}
	h.Source.Pack = "guards@sha256:0"
	if got := h.Authority(); got != hook.ScopeManaged {
		t.Errorf("with a pack: %v", got)
	}
}
