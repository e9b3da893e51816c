package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/examples/hooks"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/rule/expr"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// Package registry alone has no expressions. A rule without one decides; a rule
// with one is unsupported, and blocks by its policy.
func TestRegistryAloneRunsRulesWithoutExpressions(t *testing.T) {
	reg := open(t, only(tree(t, `
-- plain/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(git push *)"
decision = "ask"
reason = "Push?"
+++
-- when/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
when = 'true'
decision = "deny"
reason = "x"
on_failure = "block"
+++
-- text/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
decision = "warn"
reason = "on ${git.branch}"
+++
`)))
	states := map[string]hook.State{}
	for _, l := range reg.List() {
		states[l.Hook.ID] = l.State
	}
	for id, want := range map[string]hook.State{"dir/plain": hook.StateReady, "dir/when": hook.StateUnsupported, "dir/text": hook.StateUnsupported} {
		if states[id] != want {
			t.Errorf("%s is %s, want %s", id, states[id], want)
		}
	}
	out, err := reg.Dispatch(t.Context(), bash("git push"))
	if err != nil || out.Verdict != hook.Deny || len(out.Results) != 3 {
		t.Fatalf("%v %+v", err, out)
	}
	for _, r := range out.Results {
		switch {
		case r.Hook.ID == "dir/plain" && (r.Verdict() != hook.Ask || r.Report.By == ""):
			t.Errorf("the plain rule: %+v", r)
		case r.Hook.ID == "dir/when" && (r.Failure != hook.FailureUnsupported || r.Verdict() != hook.Deny):
			t.Errorf("the rule with an expression: %+v", r)
		case r.Hook.ID == "dir/text" && r.Failure != hook.FailureUnsupported:
			t.Errorf("the rule with an expression in its text: %+v", r)
		}
	}
}

// A host registers the rules of the catalogue by itself; no switch of hooks
// stops them.
func TestHostRegistersRulesThatNoSwitchStops(t *testing.T) {
	opts := only(tree(t, "-- README --\n"))
	opts.NoHooks = true
	reg := open(t, opts)
	for _, name := range hooks.SelfProtection {
		declared, err := hooks.Declared(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range declared {
			if err := reg.Register(h); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, command := range []string{"tenterhook trust --all --yes", "rm -rf ~/.config/tenterhook"} {
		out, err := reg.Dispatch(t.Context(), bash(command))
		if err != nil || out.Verdict != hook.Deny {
			t.Errorf("%s: %v %+v", command, err, out)
		}
	}
	if out, err := reg.Dispatch(t.Context(), bash("tenterhook list")); err != nil || out.Verdict != hook.NoOpinion {
		t.Errorf("%v %+v", err, out)
	}
}

// Rules judge what a rewrite made of the input, and one that does not apply
// leaves no result.
func TestRulesJudgeTheRewrittenInput(t *testing.T) {
	reg := open(t, only(tree(t, `
-- guard/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(rm *)"
decision = "deny"
reason = "No rm."
+++
-- quiet/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(ls *)"
unless = "Bash(ls)"
decision = "deny"
reason = "No ls."
+++
`)))
	if err := registry.On(reg, "swap", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		return &hook.Output{UpdatedInput: json.RawMessage(`{"command":"rm x"}`)}, nil
	}, func(h *hook.Hook) { h.Rewrites = true }); err != nil {
		t.Fatal(err)
	}
	out, err := reg.Dispatch(t.Context(), bash("ls"))
	if err != nil || out.Verdict != hook.Deny || out.Reason != "No rm." || len(out.Results) != 2 {
		t.Errorf("%v %+v", err, out)
	}
}

// ruleHost has rules that are judged one way each for `git push`.
func ruleHost(t *testing.T) *registry.Registry {
	t.Helper()
	opts := only(tree(t, `
-- a-denies/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(git *)"
decision = "deny"
reason = "No git."
+++
-- b-unless/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(git *)"
unless = "Bash(git push)"
decision = "deny"
reason = "x"
+++
-- c-if/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
if = "Bash(rm *)"
decision = "deny"
reason = "x"
+++
-- d-fails/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
when = 'tool_input.none > 3'
decision = "deny"
reason = "x"
+++
-- e-broken/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
when = 'tool_input.('
decision = "deny"
reason = "x"
+++
-- f-wrong/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
decision = "maybe"
reason = "x"
+++
-- g-every/HOOK.md --
+++
event = "PreToolUse"
type = "rule"
decision = "warn"
reason = "x"
+++
`))
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindRule: rule.New(rule.Options{Compile: expr.Compile})}
	return open(t, opts)
}

// Select says of each rule what a dispatch finds, and lists what was seen.
func TestSelectionOfRulesIsWhatADispatchFinds(t *testing.T) {
	reg := ruleHost(t)
	in := bash("git push")
	results := make(map[string]hook.Result)
	for _, r := range dispatch(t, reg, in).Results {
		results[r.Hook.Name] = r
	}
	var got []string
	selection := reg.Select(in)
	for _, s := range selection.Selected {
		got = append(got, fmt.Sprintf("%s by %s, %s %s", s.Hook.Name, s.By, results[s.Hook.Name].Status, results[s.Hook.Name].Failure))
	}
	for _, s := range selection.Skipped() {
		got = append(got, fmt.Sprintf("%s not: %s: %s, %s", s.Hook.Name, s.Why, s.Detail, results[s.Hook.Name].Failure))
	}
	want := []string{
		"a-denies by every PreToolUse; if `Bash(git *)`: `git push`, blocked ",
		"d-fails by every PreToolUse; when `tool_input.none > 3` has no value: no such key: none, failed expression",
		"g-every by every PreToolUse, success ",
		"b-unless not: unless: its exception holds: unless `Bash(git push)`: `git push`, ",
		"c-if not: if: its condition if `Bash(rm *)` does not hold: no rule matches, ",
		"e-broken not: invalid: line 4, column 20: when: syntax error: no viable alternative at input '.(', invalid",
		`f-wrong not: invalid: decision: expected one of deny, ask, allow, warn, context, rewrite, got "maybe", invalid`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	states := make(map[string]hook.State)
	for _, l := range reg.List() {
		states[l.Hook.Name] = l.State
	}
	for name, want := range map[string]hook.State{"a-denies": hook.StateReady, "d-fails": hook.StateReady, "e-broken": hook.StateInvalid, "f-wrong": hook.StateInvalid} {
		if states[name] != want {
			t.Errorf("%s is %s", name, states[name])
		}
	}
}

// A rule that runs once is judged once in a session, if it did not refuse.
func TestRuleRunsOnce(t *testing.T) {
	for decision, again := range map[string]bool{"warn": false, "deny": true} {
		reg := open(t, only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nonce = true\ndecision = \""+decision+"\"\nreason = \"x\"\n+++\n")))
		for session, first := range map[string]bool{"s": true, "other": true} {
			for range 3 {
				if got := len(dispatch(t, reg, inSession(session)).Results); got == 1 != (first || again) {
					t.Errorf("%s in %s, first %v: %d results", decision, session, first, got)
				}
				first = false
			}
		}
	}
}

// Of two dispatches at once that ask a rule that runs once, one has its answer.
func TestRuleRunsOnceUnderConcurrentDispatches(t *testing.T) {
	reg := open(t, only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nonce = true\ndecision = \"warn\"\nreason = \"x\"\n+++\n")))
	var answered atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if out, err := reg.Dispatch(t.Context(), inSession("s")); err == nil && len(out.SystemMessages) == 1 {
				answered.Add(1)
			}
		})
	}
	all.Wait()
	if answered.Load() != 1 {
		t.Errorf("%d dispatches have its answer", answered.Load())
	}
}

// A rule may make of the input what other hooks judge: then they hold to what all
// hooks do, and those of one tool call do not overlap.
func TestHooksThatARulesRewriteConcernsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"rewrite\"\n[set]\ncommand = \"'rm ' + tool_input.command\"\n+++\n"))
		opts.Handlers = map[hook.Kind]hook.Handler{hook.KindRule: rule.New(rule.Options{Compile: expr.Compile})}
		reg := open(t, opts)
		var now, most atomic.Int32
		on(t, reg, "guard", func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return hook.Denied("no"), nil
		}, withIf("Bash(rm *)"))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if out, err := reg.Dispatch(t.Context(), toolUse("a")); err != nil || out.Verdict != hook.Deny {
					t.Errorf("%v %+v", err, out)
				}
			})
		}
		all.Wait()
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

// A rule that the host registers is bound as one of a file is.
func TestRegisteredRuleThatCannotJudgeSaysWhy(t *testing.T) {
	reg := open(t, only())
	for name, params := range map[string]hook.Params{
		"wrong": {"decision": []byte(`"maybe"`), "reason": []byte(`"x"`)},
		"when":  {"decision": []byte(`"deny"`), "reason": []byte(`"x"`), "when": []byte(`"true"`)},
		"good":  {"decision": []byte(`"deny"`), "reason": []byte(`"x"`)},
	} {
		if err := reg.Register(&hook.Hook{Name: name, Kind: hook.KindRule, Event: hook.EventPreToolUse, Params: params}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]hook.State{"wrong": hook.StateInvalid, "when": hook.StateUnsupported, "good": hook.StateReady} {
		if l := state(t, reg, "in-process/"+name); l.State != want || (l.Why == "") != (want == hook.StateReady) {
			t.Errorf("%s: %s %q", name, l.State, l.Why)
		}
	}
}

// A rule that runs once, and that a nested dispatch asked meanwhile, has run.
func TestRuleThatANestedDispatchAskedHasRun(t *testing.T) {
	reg := open(t, only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\nonce = true\ndecision = \"warn\"\nreason = \"x\"\n+++\n")))
	var inner *hook.Outcome
	on(t, reg, "nests", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if inner == nil {
			inner = &hook.Outcome{}
			out, err := reg.Dispatch(ctx, inSession("s"))
			inner = out
			return nil, err
		}
		return nil, nil
	}, rewrites)
	out := dispatch(t, reg, inSession("s"))
	if got := ids(out); got[0] != "dir/a skipped" || out.Results[0].Reason != "once: it has run in this session" {
		t.Errorf("%v %q", got, out.Results[0].Reason)
	}
	if got := ids(inner); got[0] != "dir/a success" {
		t.Errorf("the nested one: %v", got)
	}
}

// A host may bring its own handler of rules, which is run as any other is.
func TestHandlerOfRulesOfTheHostIsAHandlerLikeAnyOther(t *testing.T) {
	opts := only(tree(t, "-- a/HOOK.md --\n+++\nevent = \"PreToolUse\"\ntype = \"rule\"\ndecision = \"allow\"\nif = \"Bash(ls)\"\n+++\n"))
	ran := 0
	opts.Handlers = map[hook.Kind]hook.Handler{hook.KindRule: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) {
		ran++
		return hook.Denied("mine"), nil
	})}
	reg := open(t, opts)
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || out.Reason != "mine" || ran != 1 {
		t.Errorf("%v %q", out.Verdict, out.Reason)
	}
	if out := dispatch(t, reg, bash("pwd")); len(out.Results) != 0 {
		t.Errorf("its `if` does not match: %v", ids(out))
	}
}
