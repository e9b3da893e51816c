package rule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Expression is an expression of a rule.
type Expression struct {
	Text    string
	Event   hook.Event // whose fields it may name
	EnvVars []string   // the variables that it may read
	Bool    bool       // its value must be true or false
}

// Program is a compiled expression. Eval returns a value of JSON: nil, a bool, a
// string, an int64, a float64, a []any or a map[string]any. It is safe for
// concurrent use.
type Program interface {
	Eval(f *Facts) (any, error)
}

// Compiler compiles expressions. An error is a [*SyntaxError] where the place
// in the text is known.
type Compiler func(x Expression) (Program, error)

// SyntaxError is an expression that does not compile.
type SyntaxError struct {
	Line, Column int // in the text, both from 1
	Message      string
}

// Error returns the message with its place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// expressionKey is the first key of a rule that needs a compiler, "" = none.
func expressionKey(r *hook.RuleParams) string {
	switch {
	case r.When != "":
		return "when"
	case len(r.Set) > 0:
		return "set"
	case strings.Contains(r.Reason, placeholder):
		return "reason"
	case strings.Contains(r.Text, placeholder):
		return "text"
	}
	return ""
}

// prepare compiles everything.
func (r *Rule) prepare() {
	c := &r.ready
	paths := func(key string, list []string) *match.Touches {
		if len(list) == 0 {
			return nil
		}
		parsed, problems := match.ParseTouches(list, match.TouchOptions{})
		if len(problems) == len(list) {
			r.refuse(key, problems[0])
		} else {
			r.warn(problems)
		}
		return parsed
	}
	c.ifs, _ = match.ParseRules(r.hook.If, r.match) // the registry reports their problems
	if len(r.hook.If) == 0 {
		c.ifs = nil
	}
	if len(r.params.Unless) > 0 {
		c.unless = r.exceptions()
	}
	c.touches, c.reads, c.writes = paths("touches", r.params.Touches), paths("reads", r.params.Reads), paths("writes", r.params.Writes)
	if r.params.When != "" {
		c.when = r.program("when", r.params.When, true)
	}
	for _, key := range slices.Sorted(maps.Keys(r.params.Set)) {
		r.writers = append(r.writers, writer{key, r.program("set."+key, r.params.Set[key], false)})
	}
	r.reason, r.text = r.template("reason", r.params.Reason), r.template("text", r.params.Text)
}

// program compiles one expression. An expression that does not compile breaks the rule.
func (r *Rule) program(key, text string, isBool bool) Program {
	p, err := r.compile(Expression{Text: text, Event: r.hook.Event, EnvVars: r.params.EnvVars, Bool: isBool})
	if err == nil {
		return p
	}
	d := hook.Diagnostic{Severity: hook.SeverityError, Code: "bad_expression", Hook: r.hook.ID, Path: r.hook.Source.Path,
		Line: r.hook.Source.Line, Message: key + ": " + err.Error()}
	locate(&d, r.hook, key, text, err)
	r.notes = append(r.notes, d)
	if r.broken == nil {
		r.broken = &hook.Error{Failure: hook.FailureInvalid, Reason: key + ": " + err.Error(), Hint: "correct the expression", Err: err}
	}
	return nil
}

// exceptions reads `unless`. An approval without one of its exceptions would
// approve too much; what refuses, refuses more.
func (r *Rule) exceptions() *match.Rules {
	parsed, problems := match.ParseRules(r.params.Unless, r.match)
	i := slices.IndexFunc(problems, func(p hook.Diagnostic) bool { return p.Code == match.ProblemRuleInvalid })
	if i >= 0 && r.params.Decision == hook.DecisionAllow {
		r.refuse("unless", problems[i])
	} else {
		r.warn(problems)
	}
	return parsed
}

// refuse breaks the rule: a condition of it can never hold.
func (r *Rule) refuse(key string, p hook.Diagnostic) {
	r.notes = append(r.notes, hook.Diagnostic{Severity: hook.SeverityError, Code: "bad_condition", Hook: r.hook.ID,
		Path: r.hook.Source.Path, Line: r.hook.Source.Line, Message: key + ": " + p.Message, Hint: p.Hint})
	if r.broken == nil {
		r.broken = &hook.Error{Failure: hook.FailureInvalid, Reason: key + ": " + p.Message, Hint: p.Hint}
	}
}

func (r *Rule) warn(problems []hook.Diagnostic) {
	for _, p := range problems {
		p.Severity = hook.SeverityWarning
		p.Hook, p.Path, p.Line = r.hook.ID, r.hook.Source.Path, r.hook.Source.Line
		r.notes = append(r.notes, p)
	}
}

// quoted quotes an expression for a person, on one line.
func quoted(text string) string {
	const most = 80
	line := strings.Join(strings.Fields(text), " ")
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most]) + "…"
	}
	return "`" + line + "`"
}
