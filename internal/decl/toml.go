package decl

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// toml reads TOML that was looked over first.
func (p *parser) toml() *Node {
	s := p.scanTOML()
	if p.bad != nil {
		return nil
	}
	text := p.text
	root, err := parseTOML(text)
	for tries := 0; err != nil && tries < 8; tries++ {
		// A number that is too large is one wrong value. Set aside it
		// is still wrong, but the other keys can be read.
		without, ok := setAside(text, err)
		if !ok {
			break
		}
		text = without
		root, err = parseTOML(text)
	}
	if err != nil {
		p.tomlFault(s, text, err)
		return nil
	}
	return s.node(root, "", 1)
}

// parseTOML has the parser fill an interface: that takes what it made as it is,
// without a copy by reflection.
func parseTOML(text string) (root any, err error) {
	_, err = toml.Decode(text, &root)
	return root, err
}

// outOfRange stands before a number in what [setAside] makes of it.
const outOfRange = "\x00number "

// setAside makes a string of the number that err says no int64 and no float64
// holds. [tomlScan.node] makes a number of it again.
func setAside(text string, err error) (string, bool) {
	var parse toml.ParseError
	if !errors.As(err, &parse) || !strings.Contains(parse.Message, "out of range") {
		return "", false
	}
	from, to := parse.Position.Start, parse.Position.Start+parse.Position.Len
	if from < 0 || to > len(text) || from >= to || strings.ContainsAny(text[from:to], "\"\\\n") {
		return "", false
	}
	return text[:from] + `"\u0000number ` + text[from:to] + `"` + text[to:], true
}

// large is a number that was set aside: its digits, or what is said of a number that
// JSON cannot write.
func large(text string) any {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "+"), "_", "")
	if json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return math.Inf(1)
}

// tomlFault says what the parser found wrong with a text.
func (p *parser) tomlFault(s *tomlScan, text string, err error) {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		p.bad = bad("syntax", 1, "it is no TOML: "+foreign(strings.TrimPrefix(err.Error(), "toml: ")), "check it with a TOML tool")
		return
	}
	// The parser's line is one off at times. It stopped at the last byte of what it
	// names, or where it names none at that line.
	line := max(1, min(parse.Position.Line, p.lineAt(len(p.text))))
	if end := parse.Position.Start + parse.Position.Len; end > 0 && end <= len(text) {
		line = 1 + strings.Count(text[:end-1], "\n")
	}
	p.bad = bad("syntax", line, "it is no TOML: "+foreign(parse.Message), "check it with a TOML tool")
	if again, ok := s.again[line]; ok && strings.Contains(parse.Message, "already") {
		p.bad = bad("duplicate_key", line, phrase.Quote(again)+" stands here for the second time", "keep one of them")
		p.first = s.lines["."+again]
	} else if parse.LastKey != "" {
		p.bad.Message += " (after the key " + phrase.Quote(parse.LastKey) + ")"
	}
}

// node gives values the lines that the scan found for their keys. What it has
// no line for has that of the first key in it, or of the key around it.
func (s *tomlScan) node(v any, at string, line int) *Node {
	known, ok := s.lines[at]
	if ok {
		line = known
	}
	n := &Node{Line: line}
	switch v := v.(type) {
	case map[string]any:
		pairs := make([]Pair, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := s.node(v[key], at+"."+key, line)
			pairs = append(pairs, Pair{key, child.Line, child})
		}
		slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(a.Line, b.Line) })
		n.Value = pairs
		if !ok && at != "" && len(pairs) > 0 { // only the keys in it have lines, as in a.b = 1
			n.Line = pairs[0].Line
		}
	case []map[string]any:
		n.Value = tomlItems(s, v, at, line)
	case []any:
		n.Value = tomlItems(s, v, at, line)
	case int64:
		n.Value = json.Number(strconv.FormatInt(v, 10))
		n.Written = s.written(line, func(word string) bool { i, err := strconv.ParseInt(word, 0, 64); return err == nil && i == v })
	case float64:
		n.Value = number(v)
		n.Written = s.written(line, func(word string) bool { f, err := strconv.ParseFloat(word, 64); return err == nil && f == v })
	case string:
		n.Value = v
		if digits, ok := strings.CutPrefix(v, outOfRange); ok {
			n.Value = large(digits)
		}
	default:
		n.Value = v
	}
	return n
}

// written is a number of a line as the file has it, "" if that is its digits alone. Of equal
// numbers on a line, such as 16 and 0x10, each counts as the odd one.
func (s *tomlScan) written(line int, is func(word string) bool) string {
	for _, word := range s.numbers[line] {
		if is(strings.ReplaceAll(word, "_", "")) {
			return word
		}
	}
	return ""
}

func tomlItems[T any](s *tomlScan, list []T, at string, line int) []*Node {
	items := make([]*Node, len(list))
	for i, item := range list {
		items[i] = s.node(item, index(at, i), line)
	}
	return items
}

func index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// tomlScan is what is known of TOML before it is parsed: the line of each key.
type tomlScan struct {
	prefix  string           // the table that keys belong to
	count   map[string]int   // of the tables that a [[header]] makes
	lines   map[string]int   // by path, as .hooks.Stop[0].command
	again   map[int]string   // the path that stands on this line for the second time
	numbers map[int][]string // by the line of the key whose value holds them: see scanner.Numbers
}

func (p *parser) scanTOML() *tomlScan {
	found := &tomlScan{count: make(map[string]int), lines: make(map[string]int), again: make(map[int]string), numbers: make(map[int][]string)}
	values, line := 0, 0
	s := newScanner(p.text, limits{Depth: maxDepth, Parts: maxParts, Commas: p.most})
	for s.More() && values+s.Commas() <= p.most {
		parts, kind := s.Key()
		values += len(parts)
		if kind != other {
			line = s.Line()
			found.key(parts, kind, line)
		}
		s.Next()
		if numbers := s.Numbers(); numbers != nil {
			found.numbers[line] = append(found.numbers[line], numbers...)
		}
	}
	switch {
	case s.Excess() == tooNested:
		p.bad = tooDeep(s.Line())
	case s.Excess() == tooParted:
		p.bad = bad("too_deep", s.Line(), "a key has too many parts", "no hook needs that")
	case values+s.Commas() > p.most:
		p.bad = p.tooMany(s.Line())
	}
	return found
}

// maxPath is the length of a path beyond which its line is not kept: short keys
// below a long one would take memory by the square of the file's size.
const (
	maxPath     = 256
	unknownPath = "\x00"
)

// key notes the line of a key, or of a header.
func (s *tomlScan) key(parts []string, kind lineKind, line int) {
	header := kind != keyValue
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
		case kind == appendHeader && last:
			s.count[path]++
			s.note(path, line) // the first one's line is that of the list
			path = index(path, n)
		case n > 0 && header:
			path = index(path, n-1)
		}
	}
	if header {
		s.prefix = path
	}
	s.note(path, line)
}

func (s *tomlScan) note(path string, line int) {
	if _, twice := s.lines[path]; !twice {
		s.lines[path] = line
	} else {
		s.again[line] = strings.TrimPrefix(path, ".")
	}
}

// TOMLEnd returns where the line begins that is a fence and stands outside of
// every string, or the whole length. It is not ok if the text cannot be separated
// from what follows: a string is not closed, or something nests too deep.
func TOMLEnd(text, fence string) (end int, ok bool) {
	s := newScanner(text, limits{Depth: maxDepth, Parts: maxParts, Commas: maxValues})
	for ; s.More(); s.Next() {
		if line, _, _ := strings.Cut(text[s.pos:], "\n"); strings.TrimSpace(line) == fence {
			break
		}
	}
	return s.pos, !s.open && s.excess == within && s.pos < len(text)
}
