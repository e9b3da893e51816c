package match

import "strings"

// Rules is a list of `if` rules, of which any may match. It is made by
// [ParseRules], immutable, and safe for concurrent use. A nil list has no
// rules and matches nothing.
type Rules struct {
	rules []*Rule
}

// ParseRules reads each rule as [ParseRule] does. It never fails.
func ParseRules(rules []string, o RuleOptions) (*Rules, []Problem) {
	list := &Rules{}
	var problems []Problem
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
// matches as well. Each command of a shell line counts by itself: in
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

// Covers reports whether the rules match all that the call does: each command
// that a shell line starts, with no part that cannot be read, no file that a
// redirection writes, and no variable set for a command. By names what is not
// covered. It is what an approval must ask.
func (r *Rules) Covers(c *Call) Decision {
	if r == nil {
		return Decision{By: "no rule matches"}
	}
	last := Decision{By: "no rule is for the tool"}
	for _, rule := range r.rules {
		if !rule.ForTool(c.ToolName) {
			continue
		}
		if _, isShell := rule.arg.(*shellRule); isShell {
			continue
		}
		if d := rule.Match(c); d.Certainty == Sure {
			d.By = excerpt(rule.text) + ": " + d.By
			return d
		}
	}
	if c.ToolName == "Bash" {
		return r.coversShell(c)
	}
	return last
}

func (r *Rule) matchUnless(c *Call, unless *Rules) Decision {
	d := r.Match(c)
	if d.Run && unless != nil {
		if u := unless.Match(c); u.Certainty == Sure {
			return Decision{By: u.By}
		}
	}
	return d
}

func (r *Rules) coversShell(c *Call) Decision {
	for _, cmd := range c.shellTexts() {
		for _, in := range []*reading{&cmd.seen, &cmd.run} {
			if in.blind != "" || in.expansion != "" {
				return Decision{By: "a part of the command cannot be read"}
			}
			for _, one := range in.calls {
				covered := false
				for _, rule := range r.rules {
					if s, ok := rule.arg.(*shellRule); ok && rule.ForTool(c.ToolName) {
						covered = covered || s.whole.match(one.text) || s.bare != nil && s.bare.match(one.text)
					}
				}
				if !covered {
					return Decision{By: "no rule is for " + excerpt(one.text)}
				}
			}
		}
	}
	return sure("the rules cover every command")
}
