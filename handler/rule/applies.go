package rule

import (
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Basis is why a rule applies to an event, or does not.
type Basis struct {
	Holds     bool
	Certainty match.Certainty // of the least certain condition; Sure without one
	Key       string          // of the condition that does not hold, or that failed
	By        string          // what decided: patterns, what they matched, expressions
	Err       error           // an [*hook.Error]: a condition has no value
}

// Applies reports whether the rule's conditions hold for an event. It decides
// nothing, and evaluates `when` only if the others hold.
//
// Where ~ may mean several directories, the rule applies if it does for one of
// them, and an approval if it does for all.
func (r *Rule) Applies(f *Facts) Basis {
	r.once.Do(r.prepare)
	if r.broken != nil {
		return Basis{Key: "when", By: r.broken.Reason, Err: r.broken}
	}
	b := r.applies(f)
	for _, call := range f.Also {
		other := *f
		other.Call = call
		if o := r.applies(&other); (o.weight() > b.weight()) != (r.params.Decision == hook.DecisionAllow) {
			b = o
		}
	}
	return b
}

// weight orders what conditions came to: not held, failed, held.
func (b *Basis) weight() int {
	switch {
	case b.Err != nil:
		return 1
	case !b.Holds:
		return 0
	}
	return 2 + int(b.Certainty)
}

func (r *Rule) applies(f *Facts) Basis {
	b := Basis{Holds: true, Certainty: match.Sure}
	r.testRules(f, &b)
	b.paths("touches", r.ready.touches, f, match.Touch)
	b.paths("reads", r.ready.reads, f, match.Read)
	b.paths("writes", r.ready.writes, f, match.Write)
	b.flag("network", r.params.Network, f, match.Network)
	b.flag("destructive", r.params.Destructive, f, match.Destructive)
	if d := r.params.Decision; b.Holds && b.Certainty < match.Sure && (d == hook.DecisionAllow || d == hook.DecisionRewrite) {
		b.Holds, b.Key, b.By = false, "if", "the call only may match: "+b.By
	}
	if b.Holds && r.ready.when != nil {
		r.testWhen(f, &b)
	}
	return b
}

// flag tests a condition over what the call does, or its opposite.
func (b *Basis) flag(key string, want *bool, f *Facts, judge func(*match.Call) match.Decision) {
	if want == nil || !b.Holds {
		return
	}
	d := judge(f.Call)
	if !*want {
		d = negated(d)
	}
	b.take(key, d)
}

// negated is the decision about the opposite: that a call does not do something
// is sure only where nothing says that it may.
func negated(d match.Decision) match.Decision {
	if d.Certainty >= match.Suspected {
		return match.Decision{By: d.By}
	}
	return match.Decision{Run: true, Certainty: match.Sure, By: d.By}
}

// testRules holds `if` and `unless` against the call. An approval must cover all
// that the call does, and an exception excuses no more than what it covers.
func (r *Rule) testRules(f *Facts, b *Basis) {
	allow := r.params.Decision == hook.DecisionAllow
	if ifs := r.ready.ifs; ifs != nil {
		switch {
		case allow:
			b.take("if", ifs.Covers(f.Call))
		default:
			d := ifs.MatchUnless(f.Call, r.ready.unless)
			if r.ready.unless != nil && d.Certainty < match.Suspected && ifs.Match(f.Call).Certainty >= match.Suspected {
				b.except(r.ready.unless.Match(f.Call)) // `if` holds for nothing else
				return
			}
			b.take("if", d)
		}
	}
	if r.ready.unless == nil || !b.Holds {
		return
	}
	d := r.ready.unless.Covers(f.Call)
	if allow {
		d = r.ready.unless.Match(f.Call)
	}
	if d.Certainty == match.Sure || allow && d.Run {
		if which := r.ready.unless.Match(f.Call); which.Run {
			d = which
		}
		b.except(d)
	}
}

// except says which exception lifts the rule.
func (b *Basis) except(d match.Decision) { *b = Basis{Key: "unless", By: d.By} }

// NotHeld says in words why a rule does not apply: which condition does not hold,
// as it was written.
func (r *Rule) NotHeld(b Basis) string {
	written := map[string][]string{"if": r.hook.If, "touches": r.params.Touches, "reads": r.params.Reads, "writes": r.params.Writes}[b.Key]
	if b.Key == "unless" {
		return "its exception holds: unless " + b.By
	}
	condition := b.Key
	for i, text := range written {
		condition += map[bool]string{true: " ", false: ", "}[i == 0] + quoted(text)
	}
	return "its condition " + condition + " does not hold: " + b.By
}

// paths tests a condition over the paths that the call names.
func (b *Basis) paths(key string, patterns *match.Touches, f *Facts, mode match.TouchMode) {
	if patterns != nil && b.Holds {
		b.take(key, patterns.Match(f.Call, mode))
	}
}

// take adds a condition. A match that Claude Code sees and that the line as read
// does not have is none.
func (b *Basis) take(key string, d match.Decision) {
	if d.Certainty < match.Suspected {
		*b = Basis{Key: key, By: d.By}
		return
	}
	b.Certainty = min(b.Certainty, d.Certainty)
	b.add(key + " " + d.By)
}

func (b *Basis) add(by string) {
	if b.By != "" {
		b.By += "; "
	}
	b.By += by
}

func (r *Rule) testWhen(f *Facts, b *Basis) {
	value, err := r.ready.when.Eval(f)
	holds, ok := value.(bool)
	if err == nil && !ok {
		err = fmt.Errorf("expected true or false, got %T", value)
	}
	if err != nil {
		*b = Basis{Key: "when", By: "when " + quoted(r.params.When) + " has no value: " + err.Error(), Err: expressionError("when", err)}
		return
	}
	if !holds {
		*b = Basis{Key: "when", By: "when " + quoted(r.params.When) + " is false"}
		return
	}
	b.add("when " + quoted(r.params.When) + " is true")
}

func expressionError(key string, err error) *hook.Error {
	hint := "test an optional field with has(…) before you read it"
	switch {
	case strings.Contains(err.Error(), "cost limit"):
		hint = "walk over shorter lists, or over fewer of them at once"
	case strings.HasPrefix(err.Error(), "git: "):
		hint = "leave git.branch and git.root out of the expression, or repair the repository"
	}
	return &hook.Error{Failure: hook.FailureExpression, Reason: key + ": " + err.Error(), Hint: hint, Err: err}
}
