package match

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/tenterhook/tenterhook/hook"
)

const (
	// matchTimeout bounds one match by backtracking. regexp2 reads its clock
	// ten times a second, so the match ends within about 300 ms.
	matchTimeout = 100 * time.Millisecond
	// maxBacktrack is the longest expression, and the longest name to match,
	// in bytes, that regexp2 is given: deep nesting takes it quadratic time.
	maxBacktrack = 4096
)

// Syntax is the language in which a matcher is written.
type Syntax uint8

const (
	// SyntaxClaude is an exact name, a list, or a JavaScript regular
	// expression, told apart by the characters in the pattern.
	SyntaxClaude Syntax = iota
	// SyntaxRegexp is always a JavaScript regular expression, unanchored
	// (Codex, Gemini CLI's tools, starpod).
	SyntaxRegexp
	// SyntaxGlob is an anchored glob of * and ? (caliban).
	SyntaxGlob
)

// MatcherOptions say how a pattern is read. The zero value reads a matcher of
// Claude Code for a tool's name.
type MatcherOptions struct {
	Syntax Syntax
	// Narrow takes only letters, digits, _ and | for exact names, as
	// FileChanged and StopFailure do: `README.md` and `a-b` are expressions
	// then, a comma does not separate, and tools have no aliases.
	Narrow bool
}

// Kind is what a pattern turned out to be.
type Kind uint8

const (
	KindEvery   Kind = iota // every name
	KindExact               // one name
	KindList                // several names, or none
	KindRegexp              // a regular expression, valid or not
	KindPattern             // a glob with a wildcard
)

// A Matcher selects names. It is made by [Compile]; the zero value selects
// every name. It is safe for concurrent use and must not be copied.
type Matcher struct {
	kind    Kind
	pattern string
	names   []string // exact and list, aliases included
	glob    glob
	narrow  bool
	problem []hook.Diagnostic

	// Regular expressions. Only their syntax is read at once.
	form    expression
	compile sync.Once
	linear  *regexp.Regexp
	back    *regexp2.Regexp
	err     error
}

// Compile reads a pattern. It never fails: see [Matcher.Valid] for a pattern
// that cannot be used, and [Matcher.Problems] for a pattern that surely does not do
// what was meant. An absent matcher is the empty pattern.
func Compile(pattern string, opts MatcherOptions) *Matcher {
	m := &Matcher{pattern: pattern, narrow: opts.Narrow}
	switch {
	case pattern == "" || pattern == "*":
		m.kind = KindEvery
	case opts.Syntax == SyntaxGlob && strings.ContainsAny(pattern, "*?"):
		m.kind, m.glob = KindPattern, compileGlob(pattern, true)
	case opts.Syntax == SyntaxGlob:
		m.setNames([]string{pattern})
	case opts.Syntax == SyntaxClaude && isExact(pattern, opts.Narrow):
		m.setNames(splitNames(pattern))
	default:
		m.kind, m.form = KindRegexp, readExpression(pattern)
	}
	m.problem = m.diagnose(opts)
	return m
}

// Match reports whether the name is selected. An invalid pattern selects
// nothing, and that is not an error of the match. The error says that the answer
// is unknown: the expression took too long on this name, or this engine lacks
// something that JavaScript has. A hook that can block must then be treated as
// selected.
func (m *Matcher) Match(name string) (bool, error) {
	switch m.kind {
	case KindEvery:
		return true, nil
	case KindExact, KindList:
		return slices.Contains(m.names, name), nil
	case KindPattern:
		return m.matchAliases(name, func(s string) (bool, error) { return m.glob.match(s), nil })
	default:
		return m.matchAliases(name, m.matchExpression)
	}
}

// Valid returns why the pattern selects nothing, or nil. It compiles an
// expression that was not used yet; [Matcher.Problems] does not.
func (m *Matcher) Valid() error {
	if m.kind != KindRegexp {
		return nil
	}
	if m.form.err != nil {
		return fmt.Errorf("matcher %q: %w", m.pattern, m.form.err)
	}
	m.compile.Do(m.compileExpression)
	return m.err
}

// Problems returns what the author of the pattern should know. It is cheap,
// and finds every expression that is not JavaScript's.
func (m *Matcher) Problems() []hook.Diagnostic { return m.problem }

// Kind returns what the pattern turned out to be.
func (m *Matcher) Kind() Kind { return m.kind }

// String returns the pattern as it was written.
func (m *Matcher) String() string { return m.pattern }

// Names returns the names that an exact matcher or a list selects, aliases
// included, so that hooks can be indexed by name. It is nil for other kinds,
// and empty for a list of nothing.
func (m *Matcher) Names() []string {
	if m.kind != KindExact && m.kind != KindList {
		return nil
	}
	return slices.Clone(m.names)
}

// setNames makes the matcher a list of names and of their aliases.
func (m *Matcher) setNames(names []string) {
	m.kind = KindList
	if len(names) == 1 {
		m.kind = KindExact
	}
	m.names = []string{}
	for _, n := range names {
		for _, n := range []string{n, aliasOf(n)} {
			if n != "" && !slices.Contains(m.names, n) {
				m.names = append(m.names, n)
			}
			if m.narrow {
				break
			}
		}
	}
}

// matchAliases tries the name, then the name that the tool had before. An
// error of either is one only if the other does not match.
func (m *Matcher) matchAliases(name string, match func(string) (bool, error)) (bool, error) {
	ok, err := match(name)
	if alias := aliasOf(name); !ok && alias != "" && !m.narrow {
		again, err2 := match(alias)
		if again {
			return true, nil
		}
		if err == nil {
			err = err2
		}
	}
	return ok, err
}

func (m *Matcher) matchExpression(name string) (bool, error) {
	if m.form.err != nil {
		return false, nil
	}
	m.compile.Do(m.compileExpression)
	switch {
	case m.err != nil:
		return false, m.err
	case m.linear != nil:
		return m.linear.MatchString(name), nil
	case len(name) > maxBacktrack:
		return false, fmt.Errorf("matcher %q: a name of %d bytes is too long to match (at most %d)",
			m.pattern, len(name), maxBacktrack)
	}
	ok, err := m.back.MatchString(name)
	if err != nil {
		return false, fmt.Errorf("matcher %q: took longer than %v on a name of %d bytes; simplify the expression",
			m.pattern, matchTimeout, len(name))
	}
	return ok, nil
}

// compileExpression prefers Go's engine, which is linear in the name and needs
// no clock. It takes the expressions that mean the same in both languages.
func (m *Matcher) compileExpression() {
	if m.form.linear != "" {
		if re, err := regexp.Compile(m.form.linear); err == nil {
			m.linear = re
			return
		}
	}
	if len(m.pattern) > maxBacktrack {
		m.err = fmt.Errorf("matcher of %d bytes is too long to match (at most %d); split it among several hooks",
			len(m.pattern), maxBacktrack)
		return
	}
	re, err := regexp2.Compile(m.pattern, regexp2.ECMAScript)
	if err != nil {
		m.err = fmt.Errorf("matcher %q: %w", m.pattern, err)
		return
	}
	re.MatchTimeout = matchTimeout
	m.back = re
}

// isExact reports whether a pattern consists of names only.
func isExact(pattern string, narrow bool) bool {
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case isWordByte(c), c == '|':
		case !narrow && (c == '-' || c == ' ' || c == ','):
		default:
			return false
		}
	}
	return true
}

// splitNames splits a list, trims its members and drops empty ones.
func splitNames(pattern string) []string {
	var names []string
	for n := range strings.FieldsFuncSeq(pattern, func(r rune) bool {
		return r == '|' || r == ','
	}) {
		if n = strings.Trim(n, " "); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// isWordByte reports whether c is a letter, a digit or _, in ASCII.
func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
