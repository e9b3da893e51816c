package match

import (
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Rules is a list of `if` rules, of which any may match. It is made by
// [ParseRules], immutable, and safe for concurrent use. A nil list has no
// rules and matches nothing.
type Rules struct {
	rules []*Rule
}

// ParseRules reads each rule as [ParseRule] does. It never fails.
func ParseRules(rules []string, o RuleOptions) (*Rules, []hook.Diagnostic) {
	list := &Rules{}
	var problems []hook.Diagnostic
	for _, text := range rules {
		r, ps := ParseRule(text, o)
		list.rules = append(list.rules, r)
		problems = append(problems, ps...)
	}
	return list, problems
}

// String returns the rules as they were written, with "or" between them.
func (r *Rules) String() string {
	if r == nil {
		return ""
	}
	texts := make([]string, len(r.rules))
	for i, rule := range r.rules {
		texts[i] = rule.text
	}
	return strings.Join(texts, " or ")
}

// ForTool reports whether a rule can match a call of that tool.
func (r *Rules) ForTool(name string) bool {
	if r != nil {
		for _, rule := range r.rules {
			if rule.ForTool(name) {
				return true
			}
		}
	}
	return false
}

// Match holds each rule against the call and returns the most certain
// decision. By names the rule and the part of the call that it matches.
func (r *Rules) Match(c *Call) Decision { return r.MatchUnless(c, nil) }

// MatchUnless is [Rules.Match] without the parts that a rule of unless surely
// matches too. Each command of a shell line counts by itself: in
// `git push --dry-run; git push` the second command matches Bash(git push *)
// unless Bash(git push --dry-run *).
func (r *Rules) MatchUnless(c *Call, unless *Rules) Decision {
	best := Decision{By: "no rule matches"}
	if r == nil {
		return best
	}
	for _, rule := range r.rules {
		if d := rule.matchUnless(c, unless); d.Certainty > best.Certainty {
			d.By = excerpt(rule.text) + ": " + d.By
			best = d
			if d.Certainty == Sure {
				break
			}
		}
	}
	return best
}

// matchUnless holds the rule against the call without the parts that unless
// lifts.
func (r *Rule) matchUnless(c *Call, unless *Rules) Decision {
	shell, isShell := r.arg.(*shellRule)
	if unless == nil || !isShell || !r.ForTool(c.ToolName) {
		d := r.Match(c)
		if d.Run && unless != nil {
			if u := unless.Match(c); u.Certainty == Sure {
				return Decision{}
			}
		}
		return d
	}
	var best Decision
	for _, cmd := range c.shellTexts() {
		if d := shell.matchCommand(cmd, unless); d.Certainty > best.Certainty {
			best = d
		}
	}
	return best
}
