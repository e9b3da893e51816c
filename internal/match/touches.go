package match

import (
	"fmt"
	"strings"
)

// TouchMode says in which way a call names a file.
type TouchMode uint8

const (
	Touch  TouchMode = iota // in any way
	Read                    // its content may be read, copied or sent
	Write                   // it may be made, changed or deleted
	Delete                  // it may be deleted, with what lies below it
)

// TouchOptions say how path patterns are read. The zero value is right.
type TouchOptions struct{}

// ProblemTouchPattern is the code of a path pattern that can match nothing.
const ProblemTouchPattern = "path-pattern"

// Touches is a list of path patterns, of which any may match. It is made by
// [ParseTouches], immutable, and safe for concurrent use. A nil list matches
// nothing.
//
// A pattern is absolute ("/etc/**"), below the home ("~/.ssh/**"), or relative
// to the workspace ("config/*.key"); one without a slash (".env", "*.pem") or
// with a leading "**/" stands for a file of that name anywhere. * and ? stop at
// a slash, ** does not. A pattern that matches a directory is for what lies
// below it too. The case of letters does not matter. A pattern behind "!" takes
// away what it matches, wherever it stands in the list.
type Touches struct {
	patterns []string
}

// ParseTouches reads path patterns. It never fails: a pattern that can match
// nothing is a problem.
func ParseTouches(patterns []string, _ TouchOptions) (*Touches, []Problem) {
	t := &Touches{}
	var problems []Problem
	for _, p := range patterns {
		if strings.TrimPrefix(p, "!") == "" {
			problems = append(problems, Problem{ProblemTouchPattern, fmt.Sprintf("path pattern %q is empty, so it matches nothing", p), `write a path such as "~/.ssh/**"`})
			continue
		}
		t.patterns = append(t.patterns, p)
	}
	return t, problems
}

// Match reports whether the call names such a path in that mode. In a shell
// line every word, redirection and option value of every command counts, with
// globs, braces, ~, quotes and variables; what cannot be read is Suspected. For
// other tools the paths of the input count: Read, Glob and Grep read, Edit and
// Write write.
func (t *Touches) Match(c *Call, mode TouchMode) Decision {
	if t == nil {
		return Decision{By: "no pattern matches"}
	}
	for _, p := range t.patterns {
		rule, _ := ParseRule("Read("+p+")", RuleOptions{})
		for _, text := range c.words() {
			if by := rule.arg.(pathRule).matchPath(c, text); by != "" {
				return sure(excerpt(text) + by)
			}
		}
	}
	return Decision{By: "no pattern matches"}
}

func (c *Call) words() []string {
	var words []string
	for _, cmd := range c.shellTexts() {
		for _, in := range []*reading{&cmd.seen} {
			for _, one := range in.calls {
				words = append(words, strings.Fields(one.text)...)
			}
		}
	}
	return words
}

// Network reports whether the call starts a command that speaks to the
// network, or fetches from it by itself. Suspected is what may: code in
// another language that names such a module, an unknown program that is handed
// such a command.
func Network(c *Call) Decision {
	rules, _ := ParseRules([]string{"Bash(curl *)", "Bash(wget *)", "Bash(ssh *)", "Bash(git push *)", "WebFetch"}, RuleOptions{})
	return rules.Match(c)
}

// Destructive reports whether the call would lose what nobody can restore: a
// system, a home directory, a disk, a protected branch, a database. Suspected
// is what only a person can judge, `rm -rf "$DIR"/*` for one.
func Destructive(c *Call) Decision {
	rules, _ := ParseRules([]string{"Bash(rm -rf /)", "Bash(rm -rf ~)"}, RuleOptions{})
	return rules.Match(c)
}
