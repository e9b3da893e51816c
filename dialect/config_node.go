package dialect

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// node is a value of a config file, whatever language it came in, with its
// line: nil, a bool, a string, a json.Number, []*node or []pair.
type node struct {
	line  int
	value any
}

// pair is one key of a table, in the order of the file. A key may stand twice.
type pair struct {
	key  string
	line int
	node *node
}

// document is a file that was parsed, or why it was not.
type document struct {
	root *node // nil if bad
	lax  []flaw
	bad  *flaw
}

// flaw is something wrong with a text.
type flaw struct {
	code    string
	line    int
	message string
	hint    string
}

// The bounds of what is handed to a parser, and of what comes out of it.
const (
	maxConfigDepth  = 64
	maxConfigValues = 20_000 // in TOML also the parts of all keys
	maxKeyParts     = 16     // of a dotted key
	maxConfigEvents = 500
	maxConfigHooks  = 2_000
	maxConfigNotes  = 500
	maxUnknownKeys  = 50 // that are told of one by one
)

func parseConfig(name, text string) document {
	if path.Ext(slashed(name)) == ".toml" {
		return parseTOML(text)
	}
	return parseJSON(text)
}

// pairs returns the keys of a table, nil of anything else.
func (n *node) pairs() []pair {
	if n == nil {
		return nil
	}
	pairs, _ := n.value.([]pair)
	return pairs
}

// at returns a key's value, nil if there is none or n is no table.
func (n *node) at(key string) *node {
	for _, p := range n.pairs() {
		if p.key == key {
			return p.node
		}
	}
	return nil
}

func (n *node) isTable() bool {
	if n == nil {
		return false
	}
	_, ok := n.value.([]pair)
	return ok
}

// list returns the items of a list, nil of anything else.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	items, _ := n.value.([]*node)
	return items
}

// text returns a string, "" of anything else.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

// noText is the first value in a list or a table that is no string; nil if each
// is one.
func (n *node) noText() *node {
	values := n.list()
	for _, p := range n.pairs() {
		values = append(values, p.node)
	}
	if i := slices.IndexFunc(values, func(v *node) bool { _, isText := v.value.(string); return !isText }); i >= 0 {
		return values[i]
	}
	return nil
}

// json encodes a value again.
func (n *node) json() json.RawMessage {
	raw, err := json.Marshal(n.plain())
	if err != nil {
		return nil // only a number that no JSON has, and parsers make none
	}
	return raw
}

func (n *node) plain() any {
	switch v := n.value.(type) {
	case []*node:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = item.plain()
		}
		return list
	case []pair:
		table := make(map[string]any, len(v))
		for _, p := range v {
			table[p.key] = p.node.plain()
		}
		return table
	}
	return n.value
}

// what names a value for people.
func (n *node) what() string {
	switch v := n.value.(type) {
	case bool:
		if v {
			return "true"
		}
		return "false"
	case string:
		return "the string " + quote(v)
	case json.Number:
		return "the number " + shorten(v.String(), 40)
	case []*node:
		return "a list"
	case []pair:
		return "a table"
	}
	return "nothing"
}

// snake is the one spelling of a key that may stand in camelCase. A key that
// begins with a capital is another one.
func snake(key string) string {
	if key == "" || 'A' <= key[0] && key[0] <= 'Z' {
		return key
	}
	return snakeCase(key)
}

// isComment reports whether a key is a remark to the reader of the file.
func isComment(key string) bool {
	return strings.HasPrefix(key, "_") || strings.HasPrefix(key, "$") || strings.HasPrefix(key, "//") ||
		strings.HasPrefix(key, "#") || key == "comment"
}
