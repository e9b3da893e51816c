package match

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AsClaude returns a pattern of [SyntaxClaude] that selects what pattern selects
// in another syntax. It is pattern itself where both read it alike.
func AsClaude(pattern string, o MatcherOptions) string {
	if pattern == "" || pattern == "*" {
		return pattern
	}
	switch o.Syntax {
	case SyntaxRegexp:
		if isExact(pattern, o.Narrow) {
			return "(?:" + pattern + ")"
		}
	case SyntaxGlob:
		if !strings.ContainsAny(pattern, "*?") {
			return exactly(pattern, o.Narrow)
		}
		return compileGlob(pattern, true).expression()
	}
	return pattern
}

// exactly returns a pattern that selects one name.
func exactly(name string, narrow bool) string {
	if isExact(name, narrow) && !strings.ContainsAny(name, "|, ") {
		return name
	}
	return "^" + regexp.QuoteMeta(name) + "$"
}

// expression returns a JavaScript regular expression for the glob.
func (g glob) expression() string {
	var b strings.Builder
	var text []byte
	literal := func() {
		b.WriteString(regexp.QuoteMeta(string(text)))
		text = text[:0]
	}
	b.WriteByte('^')
	for _, c := range g {
		switch c {
		case anyText:
			literal()
			b.WriteString(`[\s\S]*`)
		case anyChar:
			literal()
			b.WriteString(`[\s\S]`)
		default:
			text = append(text, byte(c))
		}
	}
	literal()
	b.WriteByte('$')
	return b.String()
}

// Union returns a pattern of [SyntaxClaude] that selects what any of the patterns
// of that syntax selects, and false if there is none: an expression that is
// invalid, or that refers to its groups by number or name.
func Union(patterns []string, narrow bool) (string, bool) {
	var names, expressions []string
	for _, pattern := range patterns {
		m := Compile(pattern, MatcherOptions{Narrow: narrow})
		switch {
		case m.kind == KindEvery:
			return "", true
		case m.kind != KindRegexp:
			names = append(names, splitNames(pattern)...)
		case m.Valid() != nil || groupReference().MatchString(pattern):
			return "", false
		case !slices.Contains(expressions, pattern):
			expressions = append(expressions, pattern)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(expressions) == 0 {
		return cmp.Or(strings.Join(names, "|"), patterns[0]), true // a list of nothing selects nothing
	}
	for i, e := range expressions {
		expressions[i] = "(?:" + e + ")"
	}
	if len(names) > 0 {
		expressions = append(expressions, "^(?:"+strings.Join(names, "|")+")$")
	}
	return strings.Join(expressions, "|"), true
}

// groupReference finds what another expression before it would change.
var groupReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[1-9k]|\(\?<[^=!]`) })

// Apart reports whether two patterns of [SyntaxClaude] surely select no name
// both: they are lists of different names.
func Apart(a, b string, narrow bool) bool {
	x, y := Compile(a, MatcherOptions{Narrow: narrow}), Compile(b, MatcherOptions{Narrow: narrow})
	return x.names != nil && y.names != nil && !slices.ContainsFunc(x.names, func(n string) bool { return slices.Contains(y.names, n) })
}
