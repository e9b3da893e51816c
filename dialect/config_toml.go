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

	"github.com/tenterhook/tenterhook/internal/tomlscan"
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

// tomlScan is what is known of TOML before it is parsed: the line of each key.
type tomlScan struct {
	prefix string         // the table that keys belong to
	count  map[string]int // of the tables that a [[header]] makes
	lines  map[string]int // by path, as .hooks.Stop[0].command
	bad    *flaw
}

func scanTOML(text string) *tomlScan {
	found := &tomlScan{count: make(map[string]int), lines: make(map[string]int)}
	values := 0
	s := tomlscan.New(text, tomlscan.Limits{Depth: maxConfigDepth, Parts: maxKeyParts, Commas: maxConfigValues})
	for ; s.More() && values+s.Commas() <= maxConfigValues; s.Next() {
		parts, kind := s.Key()
		values += len(parts)
		if kind != tomlscan.Other {
			found.key(parts, kind, s.Line())
		}
	}
	if values+s.Commas() > maxConfigValues {
		found.bad = tooManyValues(s.Line())
	}
	switch s.Excess() {
	case tomlscan.TooDeep:
		found.bad = &flaw{"too_deep", s.Line(), "lists and tables are nested too deeply", "no hook needs that"}
	case tomlscan.TooParted:
		found.bad = &flaw{"too_deep", s.Line(), "a key has too many parts", "no hook needs that"}
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
func (s *tomlScan) key(parts []string, kind tomlscan.Kind, line int) {
	header := kind != tomlscan.Value
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
		case kind == tomlscan.Append && last:
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
	}
}
