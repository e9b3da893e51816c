package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Decision is what a rule decides where its conditions hold.
type Decision string

// The decisions of rules.
const (
	DecisionDeny    Decision = "deny"    // what a block means on the event: see [BlockEffect]
	DecisionAsk     Decision = "ask"     // a person is asked
	DecisionAllow   Decision = "allow"   // the call is approved
	DecisionWarn    Decision = "warn"    // the action proceeds, and the person sees the reason
	DecisionContext Decision = "context" // the model gets the text
	DecisionRewrite Decision = "rewrite" // keys of the tool's input, or of its response, are set
)

// Decisions lists the decisions in their order of strictness, the strictest
// first.
func Decisions() []Decision {
	return []Decision{DecisionDeny, DecisionAsk, DecisionAllow, DecisionWarn, DecisionContext, DecisionRewrite}
}

// RuleParams are the keys of a hook of [KindRule], decoded.
type RuleParams struct {
	Unless      Rules             // permission rules, none of which may match
	When        string            // a CEL expression; "" = always
	Touches     []string          // path patterns, any of which the call may name
	Reads       []string          // the same, as paths whose content the call may read
	Writes      []string          // the same, as paths that the call may change
	Network     *bool             // whether the call speaks to the network; nil = not asked
	Destructive *bool             // whether the call would lose data that cannot be restored; nil = not asked
	Decision    Decision          // required
	Reason      string            // for deny, ask and warn required
	Text        string            // for context required
	Set         map[string]string // CEL expressions by key, for rewrite required
	Suppress    bool              // the host does not keep a prompt that is denied
	EnvVars     []string          // the variables that expressions may read
}

// RuleOf reads the keys of a rule. A problem is a mistake that keeps it from
// ever running; the rest is read all the same.
func RuleOf(params Params) (RuleParams, []Diagnostic) {
	var r RuleParams
	var problems []Diagnostic
	take := func(key string, into any) {
		if raw, ok := params[key]; ok && json.Unmarshal(raw, into) != nil {
			problems = append(problems, mistake("wrong_type", key, "has a value of the wrong type", ""))
		}
	}
	list := func(key string) (list []string) {
		var one string
		if raw := params[key]; len(raw) > 0 && raw[0] == '"' {
			take(key, &one)
			list = []string{one}
		} else {
			take(key, &list)
		}
		if _, given := params[key]; given && (len(list) == 0 || slices.Contains(list, "")) {
			problems = append(problems, mistake("unknown_value", key, "expected one or more patterns, got an empty one or none", "leave the key out"))
		}
		return list
	}
	r.Unless, r.Touches, r.Reads, r.Writes = list("unless"), list("touches"), list("reads"), list("writes")
	if take("when", &r.When); string(params["when"]) == `""` {
		problems = append(problems, mistake("unknown_value", "when", "expected an expression, got an empty one", "leave the key out"))
	}
	take("network", &r.Network)
	take("destructive", &r.Destructive)
	take("decision", &r.Decision)
	take("reason", &r.Reason)
	take("text", &r.Text)
	take("set", &r.Set)
	take("suppressPrompt", &r.Suppress)
	take("allowedEnvVars", &r.EnvVars)
	return r, append(problems, r.problems()...)
}

func (r *RuleParams) problems() []Diagnostic {
	words := make([]string, 0, len(Decisions()))
	for _, d := range Decisions() {
		words = append(words, string(d))
	}
	known := strings.Join(words, ", ")
	switch {
	case r.Decision == "":
		return []Diagnostic{mistake("missing_decision", "type", "a rule needs a decision", "add decision = "+`"deny"`+": one of "+known)}
	case !slices.Contains(Decisions(), r.Decision):
		p := mistake("unknown_value", "decision", fmt.Sprintf("expected one of %s, got %q", known, r.Decision), "")
		if near := Nearest(string(r.Decision), words); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		return []Diagnostic{p}
	}
	var problems []Diagnostic
	missing := func(key, hint string) {
		problems = append(problems, mistake("missing_"+key, "decision", fmt.Sprintf("a rule that decides %q needs a %s", r.Decision, key), hint))
	}
	switch r.Decision {
	case DecisionDeny, DecisionAsk, DecisionWarn:
		if strings.TrimSpace(r.Reason) == "" {
			missing("reason", `add reason = "…": it is shown with the decision`)
		}
	case DecisionContext:
		if strings.TrimSpace(r.Text) == "" {
			missing("text", `add text = "…": what the model is to know`)
		}
	case DecisionRewrite:
		if len(r.Set) == 0 {
			missing("set", `add set = { command = "…" }: a CEL expression for each key`)
		}
	}
	return problems
}

// Unused lists keys that are given and have no effect on the decision.
func (r *RuleParams) Unused() []string {
	var keys []string
	if r.Text != "" && r.Decision != DecisionContext {
		keys = append(keys, "text")
	}
	if r.Set != nil && r.Decision != DecisionRewrite {
		keys = append(keys, "set")
	}
	if r.Suppress && r.Decision != DecisionDeny {
		keys = append(keys, "suppress_prompt")
	}
	if r.Reason != "" && r.Decision == DecisionContext {
		keys = append(keys, "reason")
	}
	return keys
}

// TestsCall reports whether the rule has a condition about a tool call, beside
// its `if`.
func (r *RuleParams) TestsCall() bool {
	return len(r.Unless)+len(r.Touches)+len(r.Reads)+len(r.Writes) > 0 || r.Network != nil || r.Destructive != nil
}

// String says what the rule is.
func (r *RuleParams) String() string { return fmt.Sprintf("rule that decides %q", r.Decision) }

// Narrows reports whether the rule has a condition beside matcher and `if`.
func (r *RuleParams) Narrows() bool { return r.TestsCall() || r.When != "" }

// IsRewriter reports whether the rule rewrites inputs.
func (r *RuleParams) IsRewriter() bool { return r.Decision == DecisionRewrite }

// Never says why a rule can never decide anything on an event, and "" where it
// can.
func (r *RuleParams) Never(info *EventInfo) string {
	able := true
	switch r.Decision {
	case DecisionDeny:
		able = info.Block != BlockNothing
	case DecisionAsk:
		able = info.Fields.Has(FieldPermission)
	case DecisionAllow:
		able = info.Fields.Has(FieldPermission) || info.Fields.Has(FieldRequest)
	case DecisionContext:
		able = info.Fields.Has(FieldContext)
	case DecisionRewrite:
		able = info.Fields.Has(FieldUpdatedInput) || info.Fields.Has(FieldToolOutput)
	}
	switch {
	case !able:
		return fmt.Sprintf("decision %q has no effect on %s", r.Decision, info.name())
	case r.TestsCall() && !info.TakesIf:
		return fmt.Sprintf("%s has no tool call that its conditions could test, so the rule never decides", info.name())
	}
	return ""
}

func (e *EventInfo) name() string {
	if e.Event == "" {
		return "this event"
	}
	return string(e.Event)
}
