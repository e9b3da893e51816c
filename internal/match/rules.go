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

// matchUnless holds the rule against the call without the parts that unless
// lifts.
func (r *Rule) matchUnless(c *Call, unless *Rules) Decision {
	shell, isShell := r.arg.(*shellRule)
	if unless == nil || !isShell || !r.ForTool(c.ToolName) {
		d := r.Match(c)
		if d.Run && unless != nil {
			if u := unless.Match(c); u.Certainty == Sure {
				return Decision{By: u.By}
			}
		}
		return d
	}
	best := Decision{By: "no part of the command matches"}
	for _, cmd := range c.shellTexts() {
		if d := shell.matchCommand(cmd, unless); d.Certainty > best.Certainty {
			best = d
		}
	}
	return best
}

// coversShell reports whether each command of a shell line has a rule.
func (r *Rules) coversShell(c *Call) Decision {
	covered := 0
	for _, cmd := range c.shellTexts() {
		l := cmd.line
		switch {
		case l.unread != "":
			return Decision{By: lineText(l.text) + " " + l.unread}
		case l.sets:
			return Decision{By: lineText(l.text) + " sets a variable"}
		case l.setting != "":
			return Decision{By: lineText(l.text) + " has " + excerpt(l.setting) + ", which names what git runs"}
		case l.defines:
			return Decision{By: lineText(l.text) + " declares a function or an alias"}
		}
		if l.keeps() {
			return Decision{By: lineText(l.text) + " writes a file"}
		}
		for i := range l.started {
			s := &l.started[i]
			if s.how != does || s.suffix || s.variant {
				continue
			}
			if !r.coversStarted(c, s) {
				return Decision{By: "no rule covers " + by(s.text, s.via, l.text)}
			}
			covered++
		}
	}
	if covered == 0 {
		return Decision{By: "no command is started"}
	}
	return sure("the rules cover every command")
}

// coversStarted reports whether a rule matches a command as it is written. A
// word that begins with a pattern may become an option.
func (r *Rules) coversStarted(c *Call, s *started) bool {
	for _, w := range s.words {
		if strings.ContainsAny(w, "\x03\x04") || w != "" && !isPlain(w[:1]) {
			return false
		}
	}
	text := s.full
	if text == "" {
		text = s.text
	}
	for _, rule := range r.rules {
		if !rule.ForTool(c.ToolName) {
			continue
		}
		if shell, ok := rule.arg.(*shellRule); ok && shell.takes(shown(text)) || rule.kind == ruleTool || rule.kind == ruleEvery {
			return true
		}
	}
	return false
}
