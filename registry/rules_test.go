package registry_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tenterhook/tenterhook/examples/hooks"
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
