package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// params reads the keys of a rule as a file declares them.
func params(t *testing.T, text string) hook.Params {
	t.Helper()
	var p hook.Params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRuleReadsEachOfItsKeys(t *testing.T) {
	on, off := true, false
	got, problems := hook.RuleOf(params(t, `{"unless": ["Bash(ls)", "Read"], "when": "true", "touches": "/etc", "reads": ["/r"], "writes": ["/w", "/x"],
		"network": true, "destructive": false, "decision": "deny", "reason": "no", "text": "hint", "set": {"a": "1"}, "suppressPrompt": true,
		"allowedEnvVars": ["HOME"], "other": 7}`))
	want := hook.RuleParams{Unless: hook.Rules{"Bash(ls)", "Read"}, When: "true", Touches: []string{"/etc"}, Reads: []string{"/r"}, Writes: []string{"/w", "/x"},
		Network: &on, Destructive: &off, Decision: hook.DecisionDeny, Reason: "no", Text: "hint", Set: map[string]string{"a": "1"}, Suppress: true, EnvVars: []string{"HOME"}}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("%s%v", diff, problems)
	}
}

func TestMistakesOfARuleAreProblemsOfTheirKeys(t *testing.T) {
	for text, want := range map[string]string{ // code, key and a part of text or hint
		`{"decision": "deny", "reason": "no"}`:             "",
		`{"decision": "ask", "reason": "sure?"}`:           "",
		`{"decision": "warn", "reason": "old"}`:            "",
		`{"decision": "allow"}`:                            "",
		`{"decision": "context", "text": "use make"}`:      "",
		`{"decision": "rewrite", "set": {"command": "1"}}`: "",
		`{}`:                                                        "missing_decision type one of deny, ask, allow, warn, context, rewrite",
		`{"decision": "Allow"}`:                                     `unknown_value decision did you mean "allow"?`,
		`{"decision": "block"}`:                                     `unknown_value decision got "block" ()`,
		`{"decision": "deny"}`:                                      `missing_reason decision decides "deny" needs a reason`,
		`{"decision": "ask", "reason": " \t"}`:                      `missing_reason decision decides "ask" needs a reason`,
		`{"decision": "warn", "text": "x"}`:                         `missing_reason decision decides "warn" needs a reason`,
		`{"decision": "context", "reason": "x"}`:                    `missing_text decision decides "context" needs a text`,
		`{"decision": "context", "text": " "}`:                      `missing_text decision needs a text`,
		`{"decision": "rewrite"}`:                                   `missing_set decision needs a set`,
		`{"decision": "rewrite", "set": {}}`:                        `missing_set decision needs a set`,
		`{"decision": "allow", "unless": []}`:                       "unknown_value unless got an empty one or none (leave the key out)",
		`{"decision": "allow", "touches": ""}`:                      "unknown_value touches got an empty one or none",
		`{"decision": "allow", "reads": ["/a", ""]}`:                "unknown_value reads got an empty one or none",
		`{"decision": "allow", "writes": []}`:                       "unknown_value writes got an empty one or none",
		`{"decision": "allow", "touches": 7}`:                       "wrong_type touches has a value of the wrong type",
		`{"decision": "allow", "when": 7}`:                          "wrong_type when",
		`{"decision": "allow", "when": ""}`:                         "unknown_value when got an empty one",
		`{"decision": "allow", "network": "yes"}`:                   "wrong_type network",
		`{"decision": "allow", "destructive": 1}`:                   "wrong_type destructive",
		`{"decision": 1}`:                                           "wrong_type decision",
		`{"decision": "allow", "reason": []}`:                       "wrong_type reason",
		`{"decision": "allow", "text": {}}`:                         "wrong_type text",
		`{"decision": "allow", "set": "x"}`:                         "wrong_type set",
		`{"decision": "allow", "suppressPrompt": "x"}`:              "wrong_type suppressPrompt",
		`{"decision": "allow", "allowedEnvVars": "HOME"}`:           "wrong_type allowedEnvVars",
		`{"decision": "deny", "reason": "no", "touches": ["/a/b"]}`: "",
	} {
		_, problems := hook.RuleOf(params(t, text))
		if want == "" {
			if problems != nil {
				t.Errorf("%s: %v", text, problems)
			}
			continue
		}
		if len(problems) == 0 {
			t.Errorf("%s: no problem", text)
			continue
		}
		p := problems[0]
		said := p.Code + " " + p.Key + " " + p.Message + " (" + p.Hint + ")"
		words := strings.SplitN(want, " ", 3)
		if !strings.HasPrefix(said, words[0]+" "+words[1]+" ") || len(words) == 3 && !strings.Contains(said, words[2]) {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
		if p.Code != "wrong_type" && p.Code != "unknown_value" && p.Hint == "" {
			t.Errorf("%s: no remedy for %s", text, said)
		}
	}
	if _, problems := hook.RuleOf(params(t, `{"when": 1, "network": 2, "decision": "deny"}`)); len(problems) != 3 {
		t.Errorf("three mistakes: %v", problems)
	}
}

func TestKeyThatTheDecisionIgnoresIsUnused(t *testing.T) {
	full := hook.RuleParams{Reason: "r", Text: "t", Set: map[string]string{}, Suppress: true}
	for decision, want := range map[hook.Decision][]string{
		hook.DecisionDeny: {"text", "set"}, hook.DecisionAsk: {"text", "set", "suppress_prompt"}, hook.DecisionAllow: {"text", "set", "suppress_prompt"},
		hook.DecisionWarn: {"text", "set", "suppress_prompt"}, hook.DecisionContext: {"set", "suppress_prompt", "reason"},
		hook.DecisionRewrite: {"text", "suppress_prompt"},
	} {
		full.Decision = decision
		if diff := cmp.Diff(want, full.Unused()); diff != "" {
			t.Errorf("%s: %s", decision, diff)
		}
		bare := hook.RuleParams{Decision: decision}
		if got := bare.Unused(); got != nil {
			t.Errorf("%s, and nothing else: %v", decision, got)
		}
	}
}

func TestRuleTestsACallByAnyOfItsConditions(t *testing.T) {
	no := false
	for name, r := range map[string]hook.RuleParams{
		"unless": {Unless: hook.Rules{"Read"}}, "touches": {Touches: []string{"a"}}, "reads": {Reads: []string{"a"}},
		"writes": {Writes: []string{"a"}}, "network": {Network: &no}, "destructive": {Destructive: &no},
	} {
		if !r.TestsCall() {
			t.Errorf("%s is no condition", name)
		}
		r.Decision = hook.DecisionWarn
		if why := r.Never(hook.Info(hook.EventStop)); !strings.Contains(why, "Stop has no tool call") {
			t.Errorf("%s on Stop: %q", name, why)
		}
		if why := r.Never(hook.Info(hook.EventPreToolUse)); why != "" {
			t.Errorf("%s on PreToolUse: %q", name, why)
		}
	}
	if bare := (&hook.RuleParams{When: "true", Decision: hook.DecisionDeny}); bare.TestsCall() || bare.Never(hook.Info(hook.EventStop)) != "" {
		t.Error("a rule without a condition on a call tests one")
	}
}

func TestARuleNarrowsByAConditionOfAnyKind(t *testing.T) {
	for _, tt := range []struct {
		rule hook.RuleParams
		want bool
	}{{hook.RuleParams{}, false}, {hook.RuleParams{Reason: "x"}, false}, {hook.RuleParams{When: "true"}, true}, {hook.RuleParams{Reads: []string{"x"}}, true}, {hook.RuleParams{When: "true", Network: new(bool)}, true}} {
		if got := tt.rule.Narrows(); got != tt.want {
			t.Errorf("%+v: %v", tt.rule, got)
		}
	}
}

func TestDecisionsCountOnlyOnEventsThatTakeThem(t *testing.T) {
	for decision, want := range map[hook.Decision]map[hook.Event]bool{ // whether it can count
		hook.DecisionDeny:    {"Deploy": false, hook.EventStop: true, hook.EventSessionStart: false, hook.EventPostToolUse: true},
		hook.DecisionAsk:     {"Deploy": false, hook.EventPreToolUse: true, hook.EventPermissionRequest: false, hook.EventStop: false},
		hook.DecisionAllow:   {"Deploy": false, hook.EventPreToolUse: true, hook.EventPermissionRequest: true, hook.EventStop: false},
		hook.DecisionWarn:    {"Deploy": true, hook.EventSetup: true, hook.EventPreToolUse: true},
		hook.DecisionContext: {"Deploy": true, hook.EventSessionStart: true, hook.EventSetup: false},
		hook.DecisionRewrite: {"Deploy": false, hook.EventPreToolUse: true, hook.EventPostToolUse: true, hook.EventStop: false},
	} {
		for ev, able := range want {
			r := hook.RuleParams{Decision: decision}
			name := string(ev)
			if ev == "Deploy" {
				name = "this event"
			}
			says := `decision "` + string(decision) + `" has no effect on ` + name
			if able {
				says = ""
			}
			if got := r.Never(hook.Info(ev)); got != says {
				t.Errorf("%s on %s: %q, want %q", decision, ev, got, says)
			}
		}
	}
	if diff := cmp.Diff(6, len(hook.Decisions())); diff != "" {
		t.Error(diff)
	}
}
