package match

import (
	"strings"
	"unicode/utf8"
)

// A glob is a pattern for a whole text: * stands for any text, slashes, spaces
// and newlines included, and in caliban's globs ? for one character. It is a
// sequence of bytes and wildcards. The zero value matches the empty text.
type glob []int16

const (
	anyText int16 = -1
	anyChar int16 = -2
)

// literal returns the glob of one text.
func literal(text string) glob {
	g := make(glob, len(text))
	for i := range len(text) {
		g[i] = int16(text[i])
	}
	return g
}

// compileGlob reads a pattern. A backslash quotes a wildcard and itself.
func compileGlob(pattern string, question bool) glob {
	special := `*\`
	if question {
		special = `*?\`
	}
	g := make(glob, 0, len(pattern))
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && strings.IndexByte(special, pattern[i+1]) >= 0:
			i++
			g = append(g, int16(pattern[i]))
		case c == '*':
			g = append(g, anyText)
		case c == '?' && question:
			g = append(g, anyChar)
		default:
			g = append(g, int16(c))
		}
	}
	return g
}

// match reports whether the pattern is the whole text. It never goes back
// beyond the last star: at most len(g)*len(s) steps.
func (g glob) match(s string) bool {
	si, gi := 0, 0
	star, mark := -1, 0 // the last star, and where the text behind it begins
	for si < len(s) {
		switch {
		case gi < len(g) && g[gi] == anyText:
			star, mark = gi, si
			gi++
		case gi < len(g) && g[gi] == anyChar:
			_, n := utf8.DecodeRuneInString(s[si:])
			si += n
			gi++
		case gi < len(g) && g[gi] == int16(s[si]):
			si++
			gi++
		case star >= 0:
			_, n := utf8.DecodeRuneInString(s[mark:])
			mark += n
			si, gi = mark, star+1
		default:
			return false
		}
	}
	for gi < len(g) && g[gi] == anyText {
		gi++
	}
	return gi == len(g)
}
