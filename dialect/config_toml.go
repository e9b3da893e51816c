package dialect

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// parseTOML reads TOML that was looked over first.
func parseTOML(text string) document {
	text, lax, bad := cleanText(text)
	if bad != nil {
		return document{bad: bad}
	}
	s := scanTOML(text)
	if s.bad != nil {
		return document{lax: lax, bad: s.bad}
	}
	var root map[string]any
	if _, err := toml.Decode(text, &root); err != nil {
		return document{lax: lax, bad: tomlFlaw(text, err)}
	}
	return document{lax: lax, root: s.node(root, "", 1)}
}

func tomlFlaw(text string, err error) *flaw {
	bad := &flaw{code: "syntax", line: 1, message: "it is no TOML: " + strings.TrimPrefix(err.Error(), "toml: "), hint: "check it with a TOML tool"}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		// The parser counts from 0 at times, and beyond the end at others.
		bad.line = max(1, min(parse.Position.Line, lineAt(text, len(text))))
		bad.message = "it is no TOML: " + shorten(strings.Join(strings.Fields(parse.Message), " "), 200)
		if strings.Contains(parse.Message, "already been defined") || strings.Contains(parse.Message, "defined twice") {
			bad.code = "duplicate_key"
		}
	}
	return bad
}

// node gives values the lines that the scan found for their keys. What it has
// no line for has that of the key around it.
func (s *tomlScan) node(v any, at string, line int) *node {
	if known, ok := s.lines[at]; ok {
		line = known
	}
	n := &node{line: line}
	switch v := v.(type) {
	case map[string]any:
		pairs := make([]pair, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := s.node(v[key], at+"."+key, line)
			pairs = append(pairs, pair{key, child.line, child})
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.line, b.line) })
		n.value = pairs
	case []map[string]any:
		n.value = tomlItems(s, v, at, line)
	case []any:
		n.value = tomlItems(s, v, at, line)
	case int64:
		n.value = json.Number(strconv.FormatInt(v, 10))
	case float64:
		n.value = strconv.FormatFloat(v, 'g', -1, 64)
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			n.value = json.Number(strconv.FormatFloat(v, 'f', -1, 64))
		}
	case time.Time:
		n.value = v.Format(time.RFC3339)
	default:
		n.value = v
	}
	return n
}

func tomlItems[T any](s *tomlScan, list []T, at string, line int) []*node {
	items := make([]*node, len(list))
	for i, item := range list {
		items[i] = s.node(item, index(at, i), line)
	}
	return items
}

func index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// tomlScan walks over TOML without understanding more of it than strings,
// comments and brackets. That is enough for the lines of keys, and to stop
// before the parser meets nesting and keys that it does not survive.
type tomlScan struct {
	text      string
	pos, line int
	prefix    string         // the table that keys belong to
	count     map[string]int // of the tables that a [[header]] makes
	lines     map[string]int // by path, as .hooks.Stop[0].command
	values    int
	bad       *flaw
}

func scanTOML(text string) *tomlScan {
	s := &tomlScan{text: text, line: 1, count: make(map[string]int), lines: make(map[string]int)}
	for s.pos < len(text) && s.bad == nil {
		s.key()
		s.rest()
	}
	return s
}

// maxPath is the length of a path beyond which its line is not kept: short keys
// below a long one would take memory by the square of the file's size.
const (
	maxPath     = 256
	unknownPath = "\x00"
)

// key notes the key, or the header, that a line begins with. It does not move.
func (s *tomlScan) key() {
	at := s.blank(s.pos)
	header := strings.HasPrefix(s.text[at:], "[")
	array := strings.HasPrefix(s.text[at:], "[[")
	if header {
		at++
	}
	if array {
		at++
	}
	parts := s.parts(at)
	if s.values += len(parts); s.values > maxConfigValues {
		s.bad = tooManyValues(s.line)
	}
	if len(parts) == 0 {
		return
	}
	if header {
		s.prefix = ""
	}
	path := s.prefix
	for i, part := range parts {
		path += "." + part
		if len(path) > maxPath {
			path = unknownPath
		}
		last := i == len(parts)-1
		switch n := s.count[path]; {
		case array && last:
			s.count[path]++
			s.note(path) // the first one's line is that of the list
			path = index(path, n)
		case n > 0 && header:
			path = index(path, n-1)
		}
	}
	if header {
		s.prefix = path
	}
	s.note(path)
}

func (s *tomlScan) note(path string) {
	if _, twice := s.lines[path]; !twice {
		s.lines[path] = s.line
	}
}

// parts reads the parts of the key at a place.
func (s *tomlScan) parts(at int) []string {
	var parts []string
	for len(parts) <= maxKeyParts {
		part, next := s.part(s.blank(at))
		if next < 0 {
			break
		}
		parts = append(parts, part)
		if at = s.blank(next); !strings.HasPrefix(s.text[at:], ".") {
			break
		}
		at++
	}
	return parts
}

// part reads one part of a key, and returns where it ends, or -1.
func (s *tomlScan) part(at int) (string, int) {
	if rest := s.text[at:]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		end := strings.IndexAny(rest[1:], rest[:1]+"\n")
		if end < 0 || rest[1+end] == '\n' {
			return "", -1
		}
		return rest[1 : 1+end], at + end + 2
	}
	end := at
	for end < len(s.text) && isBareKey(s.text[end]) {
		end++
	}
	if end == at {
		return "", -1
	}
	return s.text[at:end], end
}

func isBareKey(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (s *tomlScan) blank(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// rest moves behind the statement that begins here: over its strings, and over
// the lines of a list or table that it opens.
func (s *tomlScan) rest() {
	depth, dots := 0, 0
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch c {
		case '\n':
			s.line++
			if depth == 0 {
				return
			}
		case '#':
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.pos++
			}
		case '"', '\'':
			s.skipString(c)
		case '[', '{':
			dots = 0
			if depth++; depth > maxConfigDepth {
				s.bad = &flaw{"too_deep", s.line, "lists and tables are nested too deeply", "no hook needs that"}
				return
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '=':
			dots = 0
		case ',':
			dots = 0
			if s.values++; s.values > maxConfigValues {
				s.bad = tooManyValues(s.line)
				return
			}
		case '.':
			if dots++; dots >= maxKeyParts {
				s.bad = &flaw{"too_deep", s.line, "a key has too many parts", "no hook needs that"}
				return
			}
		}
	}
}

// skipString moves behind the string whose first quote was read. One that is
// not closed is for the parser to complain about.
func (s *tomlScan) skipString(quote byte) {
	end, long := string(quote), strings.Repeat(string(quote), 3)
	if strings.HasPrefix(s.text[s.pos-1:], long) {
		s.pos += 2
		end = long
	}
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case strings.HasPrefix(s.text[s.pos:], end):
			s.pos += len(end)
			for end == long && s.pos < len(s.text) && s.text[s.pos] == quote {
				s.pos++ // a long string may end in quotes of its own
			}
			return
		case c == '\n' && end != long:
			return
		case c == '\n':
			s.line++
		case c == '\\' && quote == '"' && s.pos+1 < len(s.text) && s.text[s.pos+1] != '\n':
			s.pos++
		}
		s.pos++
	}
}
