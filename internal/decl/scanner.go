package decl

import (
	"strconv"
	"strings"
)

// limits bound what a text may hold. A limit of 0 allows nothing.
type limits struct {
	Depth  int // lists and tables within each other
	Parts  int // of a dotted key
	Commas int // in lists and inline tables
}

// lineKind is what the line that a key stands on does.
type lineKind int

// The kinds of lines.
const (
	other        lineKind = iota // no key: it is blank, a comment, broken, or within a list
	keyValue                     // key = value
	header                       // [key]
	appendHeader                 // [[key]]
)

// excess is a limit that the text goes beyond.
type excess int

// The excesses.
const (
	within    excess = iota // none
	tooNested               // limits.Depth
	tooParted               // limits.Parts
	tooMany                 // limits.Commas
)

// scanner walks over TOML without understanding more of it than strings,
// comments and brackets. A text that is no TOML is walked over all the same,
// somehow: to complain is the parser's task. It is for one goroutine.
//
//	for s := newScanner(text, limits); s.More(); s.Next() { … }
type scanner struct {
	text   string
	limits limits

	pos, line int
	depth     int // of brackets
	dots      int // in the key that may be standing here
	commas    int
	open      bool
	excess    excess
	parts     []string
	numbers   []string
}

// newScanner returns a scanner on the first line of a text.
func newScanner(text string, limits limits) *scanner {
	return &scanner{text: text, limits: limits, line: 1}
}

// More reports whether a line is left, and no limit was broken before it.
func (s *scanner) More() bool { return s.pos < len(s.text) && s.excess == within }

// Next moves to the next line: over the strings that begin on this one, and
// have several.
func (s *scanner) Next() {
	s.dots = 0
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch c {
		case '\n':
			s.line++
			return
		case '#':
			s.comment()
		case '"', '\'':
			s.str(c)
		default:
			if word := s.number(s.pos - 1); word != "" {
				s.numbers = append(s.numbers, word)
			}
			if s.excess = s.count(c); s.excess != within {
				return
			}
		}
	}
}

// Line is the line's number, from 1.
func (s *scanner) Line() int { return s.line }

// Excess is the limit that was broken on this line.
func (s *scanner) Excess() excess { return s.excess }

// Commas is how many commas lie before the line.
func (s *scanner) Commas() int { return s.commas }

// Numbers returns the numbers that the lines since the last call hold as values and that
// are not written as their digits alone.
func (s *scanner) Numbers() []string {
	numbers := s.numbers
	s.numbers = nil
	return numbers
}

// number is the value that begins here, if it is such a number; "" = it is none.
func (s *scanner) number(at int) string {
	if c := s.text[at]; c != '+' && c != '-' && (c < '0' || c > '9') || at > 0 && !strings.ContainsRune(" \t\n=[,{", rune(s.text[at-1])) {
		return ""
	}
	end := at + 1
	for end < len(s.text) && (bare(s.text[end]) || s.text[end] == '.' || s.text[end] == '+') {
		end++
	}
	word := s.text[at:end]
	if _, err := strconv.ParseInt(word, 10, 64); err == nil && word[0] != '+' && word != "-0" {
		return ""
	}
	if next := s.blank(end); next < len(s.text) && s.text[next] == '=' { // a key
		return ""
	}
	return word
}

// Key returns the parts of the key that the line begins with, which hold until
// the next call, and what the line does with it. There is at most one part more
// than [limits] allows.
func (s *scanner) Key() ([]string, lineKind) {
	if s.depth > 0 {
		return nil, other
	}
	kind, at := keyValue, s.blank(s.pos)
	if rest := s.text[at:]; strings.HasPrefix(rest, "[[") {
		kind, at = appendHeader, at+2
	} else if strings.HasPrefix(rest, "[") {
		kind, at = header, at+1
	}
	s.parts = s.parts[:0]
	for len(s.parts) <= s.limits.Parts {
		part, next := s.part(s.blank(at))
		if next < 0 {
			break
		}
		s.parts = append(s.parts, part)
		if at = s.blank(next); at >= len(s.text) || s.text[at] != '.' {
			break
		}
		at++
	}
	if len(s.parts) == 0 {
		return nil, other
	}
	return s.parts, kind
}

// part reads one part of a key, and returns where it ends, or -1.
func (s *scanner) part(at int) (string, int) {
	if at < len(s.text) && (s.text[at] == '"' || s.text[at] == '\'') {
		if n := strings.IndexAny(s.text[at+1:], s.text[at:at+1]+"\n"); n >= 0 && s.text[at+1+n] != '\n' {
			return s.text[at+1 : at+1+n], at + n + 2
		}
		return "", -1
	}
	end := at
	for end < len(s.text) && bare(s.text[end]) {
		end++
	}
	if end == at {
		return "", -1
	}
	return s.text[at:end], end
}

// bare reports whether a key may hold the byte without quotes.
func bare(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (s *scanner) blank(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// count takes note of what nests, parts and repeats.
func (s *scanner) count(c byte) excess {
	switch c {
	case '[', '{':
		s.dots = 0
		if s.depth++; s.depth > s.limits.Depth {
			return tooNested
		}
	case ']', '}':
		s.depth = max(0, s.depth-1)
	case '=':
		s.dots = 0
	case ',':
		s.dots = 0
		if s.commas++; s.commas > s.limits.Commas {
			return tooMany
		}
	case '.':
		if s.dots++; s.dots >= s.limits.Parts {
			return tooParted
		}
	}
	return within
}

func (s *scanner) comment() {
	if n := strings.IndexByte(s.text[s.pos:], '\n'); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

// str moves behind the string whose first quote was read. A string that is not
// closed ends with its line.
func (s *scanner) str(quote byte) {
	if rest := s.text[s.pos:]; len(rest) >= 2 && rest[0] == quote && rest[1] == quote {
		s.pos += 2
		s.until(quote, 3)
		return
	}
	s.until(quote, 1)
}

// until moves behind n quotes in a row.
func (s *scanner) until(quote byte, n int) {
	for run := 0; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == quote:
			if run++; run == n {
				s.pos++
				for n == 3 && s.pos < len(s.text) && s.text[s.pos] == quote {
					s.pos++ // a long string may end in quotes of its own
				}
				return
			}
			continue
		case c == '\\' && quote == '"':
			if s.pos+1 < len(s.text) && s.text[s.pos+1] != '\n' {
				s.pos++
			}
		case c == '\n':
			if n == 1 {
				return
			}
			s.line++
		}
		run = 0
	}
	s.open = n == 3
}
