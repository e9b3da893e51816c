package decl

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Node is a value of a file, whatever language it came in. Its Value is nil, a
// bool, a string, a json.Number, a []*Node, a []Pair, or what JSON does not have:
// a time.Time, and a float64 that is not finite. A nil Node has no value.
type Node struct {
	Line    int // in the file, from 1
	Value   any
	Written string // a number as the file has it, if that is not how Value writes it
}

// Pair is one key of a table, in the order of the file. A key may stand twice.
type Pair struct {
	Key  string
	Line int
	Node *Node
}

// Value returns a node that stands on a line.
func Value(line int, v any) *Node { return &Node{Line: line, Value: v} }

// Member returns a key whose value stands on its line.
func Member(key string, n *Node) Pair { return Pair{key, n.Line, n} }

// Pairs returns the keys of a table, nil of anything else.
func (n *Node) Pairs() []Pair {
	if n == nil {
		return nil
	}
	pairs, _ := n.Value.([]Pair)
	return pairs
}

// At returns a key's value, nil if there is none or n is no table.
func (n *Node) At(key string) *Node {
	for _, p := range n.Pairs() {
		if p.Key == key {
			return p.Node
		}
	}
	return nil
}

// IsTable reports whether n is a table, which may be empty.
func (n *Node) IsTable() bool {
	if n == nil {
		return false
	}
	_, ok := n.Value.([]Pair)
	return ok
}

// List returns the items of a list, nil of anything else.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	items, _ := n.Value.([]*Node)
	return items
}

// Text returns a string, "" of anything else.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	s, _ := n.Value.(string)
	return s
}

// noText is the first value in a list or a table that is no string; nil if each
// is one.
func (n *Node) noText() *Node {
	for _, item := range n.List() {
		if _, ok := item.Value.(string); !ok {
			return item
		}
	}
	for _, p := range n.Pairs() {
		if _, ok := p.Node.Value.(string); !ok {
			return p.Node
		}
	}
	return nil
}

// JSON encodes a value, a date as text. It is not ok if JSON does not have it.
func (n *Node) JSON() (raw json.RawMessage, ok bool) {
	raw, err := json.Marshal(n.plain())
	return raw, err == nil
}

// dates are the forms of dates that say nothing of a time zone, by the name that
// the parser of TOML gives their location.
var dates = map[string]string{
	"datetime-local": "2006-01-02T15:04:05.999999999",
	"date-local":     time.DateOnly,
	"time-local":     "15:04:05.999999999",
}

func (n *Node) plain() any {
	switch v := n.Value.(type) {
	case []*Node:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = item.plain()
		}
		return list
	case []Pair:
		table := make(map[string]any, len(v))
		for _, p := range v {
			table[p.Key] = p.Node.plain()
		}
		return table
	case time.Time:
		return v.Format(cmp.Or(dates[v.Location().String()], time.RFC3339Nano))
	}
	return n.Value
}

// What names a value for people.
func (n *Node) What() string {
	switch v := n.Value.(type) {
	case nil:
		return "nothing"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return "the string " + phrase.Quote(v)
	case json.Number:
		return "the number " + phrase.Clip(cmp.Or(n.Written, v.String()), 40)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return "a date"
	case []*Node:
		return "a list"
	}
	return "a table"
}

// number is the value of a number: a json.Number, or a float64 that JSON cannot write.
func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// twice returns the first key that stands twice in one table, at any depth, and
// the line that it stands on before.
func (n *Node) twice() (p Pair, first int) {
	seen := make(map[string]int, len(n.Pairs()))
	for _, p := range n.Pairs() {
		if line, ok := seen[p.Key]; ok {
			return p, line
		}
		seen[p.Key] = p.Line
	}
	for _, p := range n.Pairs() {
		if again, first := p.Node.twice(); first > 0 {
			return again, first
		}
	}
	for _, item := range n.List() {
		if again, first := item.twice(); first > 0 {
			return again, first
		}
	}
	return Pair{}, 0
}

// Snake is the one spelling of a key that may stand in camelCase. A key that
// begins with a capital is another one.
func Snake(key string) string {
	if key == "" || 'A' <= key[0] && key[0] <= 'Z' {
		return key
	}
	var b strings.Builder
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Camel is a key of snake_case in camelCase.
func Camel(key string) string {
	parts := strings.Split(key, "_")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// IsComment reports whether a key is a remark to the reader of the file.
func IsComment(key string) bool {
	return slices.ContainsFunc([]string{"_", "$", "//", "#"}, func(mark string) bool { return strings.HasPrefix(key, mark) }) || key == "comment"
}
