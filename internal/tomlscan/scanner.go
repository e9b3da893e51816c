package tomlscan

import "strings"

// Limits bound what a text may hold. A limit of 0 allows nothing.
type Limits struct {
	Depth  int // lists and tables within each other
	Parts  int // of a dotted key
	Commas int // in lists and inline tables
}

// Kind is what the line that a key stands on does.
type Kind int

// The kinds of lines.
const (
	Other  Kind = iota // no key: it is blank, a comment, broken, or within a list
	Value              // key = value
	Table              // [key]
	Append             // [[key]]
)

// Excess is a limit that the text goes beyond.
type Excess int

// The excesses.
const (
	Within    Excess = iota // none
	TooDeep                 // Limits.Depth
	TooParted               // Limits.Parts
	TooMany                 // Limits.Commas
)

// Scanner walks over TOML without understanding more of it than strings,
// comments and brackets. A text that is no TOML is walked over all the same,
// somehow: to complain is the parser's task. It is for one goroutine.
//
//	for s := tomlscan.New(text, limits); s.More(); s.Next() { … }
type Scanner struct {
	text   string
	limits Limits

	pos, line int
	depth     int // of brackets
	dots      int // in the key that may be standing here
	commas    int
	open      bool
	excess    Excess
	parts     []string
}

// New returns a Scanner on the first line of a text.
func New(text string, limits Limits) *Scanner {
	return &Scanner{text: text, limits: limits, line: 1}
}

// More reports whether a line is left, and no limit was broken before it.
func (s *Scanner) More() bool { return s.pos < len(s.text) && s.excess == Within }

// Next moves to the next line: over the strings that begin on this one, and
// have several.
func (s *Scanner) Next() {
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
			if s.excess = s.count(c); s.excess != Within {
				return
			}
		}
	}
}

// Pos is where the line begins, in bytes from the start of the text.
func (s *Scanner) Pos() int { return s.pos }

// Line is the line's number, from 1.
func (s *Scanner) Line() int { return s.line }

// Excess is the limit that was broken on this line.
func (s *Scanner) Excess() Excess { return s.excess }

// Commas is how many commas lie before the line.
func (s *Scanner) Commas() int { return s.commas }

// Open reports whether the text ended inside a string of several lines.
func (s *Scanner) Open() bool { return s.open }

// Key returns the parts of the key that the line begins with, which hold until
// the next call, and what the line does with it. There is at most one part more
// than [Limits] allows.
func (s *Scanner) Key() ([]string, Kind) {
	if s.depth > 0 {
		return nil, Other
	}
	kind, at := Value, s.blank(s.pos)
	if rest := s.text[at:]; strings.HasPrefix(rest, "[[") {
		kind, at = Append, at+2
	} else if strings.HasPrefix(rest, "[") {
		kind, at = Table, at+1
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
		return nil, Other
	}
	return s.parts, kind
}

// part reads one part of a key, and returns where it ends, or -1.
func (s *Scanner) part(at int) (string, int) {
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

func (s *Scanner) blank(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// count takes note of what nests, parts and repeats.
func (s *Scanner) count(c byte) Excess {
	switch c {
	case '[', '{':
		s.dots = 0
		if s.depth++; s.depth > s.limits.Depth {
			return TooDeep
		}
	case ']', '}':
		s.depth = max(0, s.depth-1)
	case '=':
		s.dots = 0
	case ',':
		s.dots = 0
		if s.commas++; s.commas > s.limits.Commas {
			return TooMany
		}
	case '.':
		if s.dots++; s.dots >= s.limits.Parts {
			return TooParted
		}
	}
	return Within
}

func (s *Scanner) comment() {
	if n := strings.IndexByte(s.text[s.pos:], '\n'); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

// str moves behind the string whose first quote was read. One that is not
// closed ends with its line.
func (s *Scanner) str(quote byte) {
	if rest := s.text[s.pos:]; len(rest) >= 2 && rest[0] == quote && rest[1] == quote {
		s.pos += 2
		s.until(quote, 3)
		return
	}
	s.until(quote, 1)
}

// until moves behind n quotes in a row.
func (s *Scanner) until(quote byte, n int) {
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
