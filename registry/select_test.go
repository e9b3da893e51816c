package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func TestSelectSaysWhoRunsAndWhyTheOthersDoNot(t *testing.T) {
	dir := tree(t, `
-- a-runs/HOOK.md --
+++
event = "PreToolUse"
matcher = "Bash"
if = "Bash(git *)"
command = "true"
+++
-- b-matcher/HOOK.md --
+++
event = "PreToolUse"
matcher = "Write"
command = "true"
+++
-- c-if/HOOK.md --
+++
event = "PreToolUse"
if = "Bash(rm *)"
command = "true"
+++
-- d-event/HOOK.md --
+++
event = "Stop"
command = "true"
+++
-- e-off/HOOK.md --
+++
event = "PreToolUse"
command = "true"
enabled = false
+++
-- f-regex/HOOK.md --
+++
event = "PreToolUse"
matcher = "Ba(sh"
command = "true"
+++
-- g-kind/HOOK.md --
+++
event = "PreToolUse"
type = "plugin"
+++
`)
	reg := open(t, only(dir))
	sel := reg.Select(bash("sudo git push"))
	var got []string
	for _, s := range sel.Selected {
		got = append(got, "runs "+s.Hook.ID)
		if !strings.Contains(s.By, "git push") {
			t.Errorf("by %q does not say what matched", s.By)
		}
	}
	for _, s := range sel.Skipped() {
		got = append(got, s.Why+" "+s.Hook.ID)
		if s.Detail == "" {
			t.Errorf("%s has no detail", s.Hook.ID)
		}
	}
	want := []string{"runs dir/a-runs", "matcher dir/b-matcher", "if dir/c-if", "disabled dir/e-off",
		"invalid dir/f-regex", "unsupported dir/g-kind", "event dir/d-event"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	out := dispatch(t, reg, bash("git status"))
	wantResults := []string{"dir/a-runs success", "dir/e-off skipped", "dir/f-regex skipped invalid", "dir/g-kind skipped unsupported"}
	if diff := cmp.Diff(wantResults, ids(out)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSelectionAsJSONNamesHooksAndReasons(t *testing.T) {
	reg := open(t, only())
	for _, in := range []hook.Input{bash("ls"), hook.Stop{}} {
		if text, err := json.Marshal(reg.Select(in)); err != nil || string(text) != fmt.Sprintf(`{"event":%q,"selected":[],"skipped":[]}`, in.Event()) {
			t.Errorf("no hooks: %s, %v", text, err)
		}
	}
	on(t, reg, "a", answer(nil), func(h *hook.Hook) { h.Matcher = "Bash" })
	on(t, reg, "b", answer(nil), func(h *hook.Hook) { h.Matcher = "Write" })
	on(t, reg, "c", answer(nil))
	on(t, reg, "d", answer(nil), func(h *hook.Hook) { h.Event = hook.EventStop })
	text, err := json.Marshal(reg.Select(bash("ls")))
	want := `{"event":"PreToolUse","selected":[{"hook":"in-process/a","by":"matcher \"Bash\" takes \"Bash\"","unbound":""},{"hook":"in-process/c","by":"every PreToolUse","unbound":""}],` +
		`"skipped":[{"hook":"in-process/b","why":"matcher","detail":"matcher \"Write\" does not take \"Bash\""},{"hook":"in-process/d","why":"event","detail":"it listens to Stop"}]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// A hook that caused the event itself is skipped for its caller alone.
func TestHookIsNotAskedAboutWhatItCausedItself(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a", answer(hook.Denied("no")))
	on(t, reg, "b", answer(nil))
	for caller, want := range map[string][]string{
		"":                        {"in-process/a blocked", "in-process/b success"},
		"in-process/a":            {"in-process/a skipped", "in-process/b success"},
		"in-process/b,elsewhere":  {"in-process/a blocked", "in-process/b skipped"},
		"elsewhere,in-process/a,": {"in-process/a skipped", "in-process/b success"},
	} {
		out, err := reg.Dispatch(registry.WithCaller(t.Context(), registry.Caller{Within: strings.Split(caller, ",")}), bash("ls"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ids(out)); diff != "" {
			t.Errorf("within %q: -want +got:\n%s", caller, diff)
		}
		for _, r := range out.Results {
			if r.Status == hook.StatusSkipped && r.Reason != "within: it caused this event itself" {
				t.Errorf("within %q: %q", caller, r.Reason)
			}
		}
	}
}

// On an event without a subject a matcher is ignored, and hooks of another kind
// than it takes are unsupported.
func TestMatcherOfAnEventWithoutASubjectIsIgnored(t *testing.T) {
	reg := open(t, only(tree(t, `
-- a/HOOK.md --
+++
event = "Stop"
matcher = "Ba(sh"
command = "true"
+++
`)))
	if err := reg.Register(&hook.Hook{Name: "b", Kind: hook.KindHTTP, Event: hook.EventSessionStart, Handler: hook.HandlerFunc(nil)}); err != nil {
		t.Fatal(err)
	}
	for _, d := range reg.Diagnostics() {
		if d.Code == "matcher_invalid" {
			t.Errorf("%v", d)
		}
	}
	if diff := cmp.Diff([]string{"dir/a success"}, ids(dispatch(t, reg, hook.Stop{}))); diff != "" {
		t.Error(diff)
	}
	if s := reg.Select(hook.Stop{}); len(s.Selected) != 1 || s.Selected[0].By != "every Stop" {
		t.Errorf("%+v", s.Selected)
	}
	if l := state(t, reg, "in-process/b"); l.State != hook.StateUnsupported || l.Why != "SessionStart takes no http hooks" {
		t.Errorf("%s %q", l.State, l.Why)
	}
}

func TestOrderIsScopePriorityPathPosition(t *testing.T) {
	dir := tree(t, `
-- b/HOOK.md --
+++
events = ["PreToolUse", "Stop"]
command = "true"
+++
-- a/HOOK.md --
+++
event = "PreToolUse"
command = "true"
+++
-- z/HOOK.md --
+++
event = "PreToolUse"
command = "true"
priority = 5
+++
`)
	reg := open(t, only(dir))
	on(t, reg, "second", answer(nil))
	on(t, reg, "first", answer(nil), func(h *hook.Hook) { h.Priority = 1 })
	want := []string{"dir/z success", "dir/a success", "dir/b success", "in-process/first success", "in-process/second success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, bash("ls")))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// manyHooks registers n callbacks with a mixture of matchers, none of which
// takes Bash.
func manyHooks(t testing.TB, reg *registry.Registry, n int) {
	for i := range n {
		matcher := []string{fmt.Sprintf("Tool%d", i), "Read|Write|Edit", "mcp__.*", "^Note.+$"}[i%4]
		on(t, reg, fmt.Sprintf("h%d", i), answer(nil), func(h *hook.Hook) { h.Matcher = matcher })
	}
}

func TestSelectingNothingAllocatesNothing(t *testing.T) {
	reg := open(t, only())
	manyHooks(t, reg, 1000)
	var in hook.Input = bash("ls")
	reg.Select(in)
	if n := testing.AllocsPerRun(100, func() { reg.Select(in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestManyToolNamesAreAllSelectedRight(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "regex", answer(nil), func(h *hook.Hook) { h.Matcher = "^mcp__.*[02468]$" })
	for i := range 3000 { // more than are remembered
		in := hook.PreToolUse{ToolName: fmt.Sprintf("mcp__s__t%d", i)}
		if got := len(reg.Select(in).Selected); got != 1-i%2 {
			t.Fatalf("%s selects %d", in.ToolName, got)
		}
	}
}

func TestUnknownEventRunsUnderItsOwnName(t *testing.T) {
	dir := tree(t, `
-- a/HOOK.md --
+++
event = "DeploymentStarted"
command = "cat"
+++
`)
	reg := open(t, only(dir))
	out := dispatch(t, reg, hook.Custom{Name: "DeploymentStarted"})
	if diff := cmp.Diff([]string{"dir/a success"}, ids(out)); diff != "" {
		t.Error(diff)
	}
}

func TestIfOnAnEventWithoutItNeverRunsAndSaysSo(t *testing.T) {
	reg := open(t, only())
	if err := registry.On(reg, "x", func(context.Context, hook.Stop) (*hook.Output, error) { return nil, nil },
		func(h *hook.Hook) { h.If = hook.Rules{"Bash(git *)"} }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"in-process/x skipped unsupported"}, ids(dispatch(t, reg, hook.Stop{}))); diff != "" {
		t.Error(diff)
	}
}

func TestNoHooksSkipsAllButInProcessOnes(t *testing.T) {
	dir := tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ncommand = \"exit 2\"\non_failure = \"block\"\n+++\n")
	opts := only(dir)
	opts.NoHooks = true
	reg := open(t, opts)
	on(t, reg, "inside", answer(hook.Asked("sure?")))
	out := dispatch(t, reg, bash("ls"))
	if diff := cmp.Diff([]string{"dir/a skipped", "in-process/inside success"}, ids(out)); diff != "" || out.Verdict != hook.Ask {
		t.Errorf("%v %s", out.Verdict, diff)
	}
}

func TestNonInteractiveHostRefusesEachKindThatNeedsAPerson(t *testing.T) {
	for _, interactive := range []bool{false, true} {
		opts := only()
		opts.NonInteractive = !interactive
		reg := open(t, opts)
		for _, kind := range append(hook.Kinds(), hook.KindFunction, hook.KindCallback) {
			h := &hook.Hook{Name: string(kind), Kind: kind, Event: hook.EventPreToolUse,
				Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil }),
				Params:  hook.Params{"decision": []byte(`"warn"`), "reason": []byte(`"x"`)}}
			if err := reg.Register(h); err != nil {
				t.Fatal(err)
			}
			person := kind == hook.KindPrompt || kind == hook.KindAgent || kind == hook.KindFunction
			want := map[bool]hook.State{true: hook.StateUnsupported, false: hook.StateReady}[person && !interactive]
			if l := state(t, reg, "in-process/"+h.Name); l.State != want || strings.HasSuffix(l.Why, "hooks need an interactive host") != (want != hook.StateReady) {
				t.Errorf("%s, interactive %v: %s %q", kind, interactive, l.State, l.Why)
			}
		}
	}
}

func TestNonInteractiveHostRefusesWhatNeedsAPerson(t *testing.T) {
	opts := only()
	opts.NonInteractive = true
	reg := open(t, opts)
	if err := registry.OnSession(reg, "s", "fn", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
		return nil, nil
	}, blocking); err != nil {
		t.Fatal(err)
	}
	in := bash("ls")
	in.SessionID = "s"
	out := dispatch(t, reg, in)
	if !slices.Equal(ids(out), []string{"session/fn skipped unsupported"}) || out.Verdict != hook.Deny {
		t.Errorf("%v %v", out.Verdict, ids(out))
	}
}

func BenchmarkSelectNoneOf1000(b *testing.B) {
	reg := open(b, only())
	manyHooks(b, reg, 1000)
	var in hook.Input = bash("ls")
	b.ReportAllocs()
	for b.Loop() {
		if len(reg.Select(in).Selected) != 0 {
			b.Fatal("selected")
		}
	}
}

func BenchmarkDispatchOneCallback(b *testing.B) {
	reg := open(b, only())
	on(b, reg, "h", answer(nil))
	in := bash("ls")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reg.Dispatch(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
