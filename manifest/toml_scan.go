package manifest

import "strings"

// tomlScan walks over TOML without understanding more of it than strings,
// comments and brackets. That is enough to know the line of each key, to see a
// closing fence for what it is, and to stop before the parser meets nesting
// that it does not survive.
type tomlScan struct {
	text  string
	fence string // "" = the whole text is TOML

	pos, line int
	depth     int // of brackets
	dots      int // in the key that may be standing here
	commas    int
	prefix    string
	keys      []keyLine
	arrays    bool // there is a [[table]], under which keys repeat
	open      bool // the text ended inside a string of several lines
	bad       *fault
}

// scanTOML returns the keys of a text and where it ends: at a fence, or with
// the text itself.
func scanTOML(text, fence string) *tomlScan {
	s := &tomlScan{text: text, fence: fence, line: 1, keys: make([]keyLine, 0, 12)}
	for s.pos < len(text) && s.bad == nil && !s.atFence() {
		if s.depth == 0 {
			s.key()
		}
		s.value()
	}
	return s
}

func (s *tomlScan) atFence() bool {
	if s.fence == "" {
		return false
	}
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	return strings.TrimSpace(line) == s.fence
}

// key notes the key, or the header, that a line begins with. It does not move.
func (s *tomlScan) key() {
	at := s.blank(s.pos)
	header := at < len(s.text) && s.text[at] == '['
	if header {
		at++
		if at < len(s.text) && s.text[at] == '[' {
			at++
			s.arrays = true
		}
	}
	path, parts := "", 0
	for parts <= maxParts {
		part, next := s.part(s.blank(at))
		if next < 0 {
			break
		}
		if parts++; parts == 1 {
			path = part
		} else {
			path += "." + part
		}
		at = s.blank(next)
		if at >= len(s.text) || s.text[at] != '.' {
			break
		}
		at++
	}
	switch {
	case parts == 0:
		return
	case header:
		s.prefix = path
	case s.prefix != "":
		path = s.prefix + "." + path
	}
	s.keys = append(s.keys, keyLine{path, s.line})
	if len(s.keys) > maxKeys {
		s.bad = tooMany(s.line, maxKeys, "keys")
	}
}

// part reads one part of a key, and returns where it ends, or -1.
func (s *tomlScan) part(at int) (string, int) {
	if at < len(s.text) && (s.text[at] == '"' || s.text[at] == '\'') {
		if n := strings.IndexAny(s.text[at+1:], s.text[at:at+1]+"\n"); n >= 0 && s.text[at+1+n] != '\n' {
			return s.text[at+1 : at+1+n], at + n + 2
		}
		return "", -1
	}
	end := at
	for end < len(s.text) && isBare(s.text[end]) {
		end++
	}
	if end == at {
		return "", -1
	}
	return s.text[at:end], end
}

func isBare(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (s *tomlScan) blank(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// value moves to the next line, over the strings that begin on this one.
func (s *tomlScan) value() {
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
		case '[', '{':
			s.dots = 0
			if s.depth++; s.depth > maxDepth {
				s.bad = tooDeep(s.line)
				return
			}
		case ']', '}':
			s.depth = max(0, s.depth-1)
		case '=':
			s.dots = 0
		case ',':
			s.dots = 0
			if s.commas++; s.commas > maxValues {
				s.bad = tooMany(s.line, maxValues, "values")
				return
			}
		case '.':
			if s.dots++; s.dots >= maxParts {
				s.bad = &fault{code: "too_deep", line: s.line, message: "a key has too many parts", hint: "no key of a hook needs that"}
				return
			}
		}
	}
}

func (s *tomlScan) comment() {
	if n := strings.IndexByte(s.text[s.pos:], '\n'); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

// str moves behind the string whose first quote was read. One that is not
// closed ends with its line, and is for the parser to complain about.
func (s *tomlScan) str(quote byte) {
	if rest := s.text[s.pos:]; len(rest) >= 2 && rest[0] == quote && rest[1] == quote {
		s.pos += 2
		s.until(quote, 3)
		return
	}
	s.until(quote, 1)
}

// until moves behind n quotes in a row.
func (s *tomlScan) until(quote byte, n int) {
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
