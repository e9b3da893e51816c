package decl

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// WrongType adds an error about a key's value, or about a value in it. want says
// what was expected: "a string".
func (t *Table) WrongType(key, want string, got *Node) {
	t.Fail("wrong_type", key, "want "+want+", got "+got.What(), typeHint(want, got))
}

// typeHint is for the mistakes that a pair of quotes makes up for.
func typeHint(want string, got *Node) string {
	switch v := got.Value.(type) {
	case string:
		_, err := strconv.Atoi(v)
		if b, no := strconv.ParseBool(v); want == "an integer" && err == nil || want == "true or false" && no == nil && (b || !b) {
			return "leave out the quotes"
		}
	case bool, json.Number, float64:
		if want == "a string" {
			return "put it in quotes"
		}
	}
	return ""
}

// Str returns a string.
func (t *Table) Str(key string) string {
	n := t.Get(key)
	if n == nil {
		return ""
	}
	s, ok := n.Value.(string)
	if !ok {
		t.WrongType(key, "a string", n)
	}
	return s
}

// maxName is the length of a name in bytes.
const maxName = 100

// IsName reports whether a text can name a hook: it is a line that can be printed
// as it is.
func IsName(text string) bool {
	return len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Name returns the name of a hook.
func (t *Table) Name(key string) string {
	name := strings.TrimSpace(t.Str(key))
	if !IsName(name) {
		t.Fail("unknown_value", key, phrase.Quote(name)+" cannot be a name", fmt.Sprintf("use a line of up to %d letters, digits and signs", maxName))
		return ""
	}
	return name
}

// Caption returns text that decides nothing, so that a wrong one does no harm.
func (t *Table) Caption(key string) string {
	n := t.Get(key)
	if n == nil {
		return ""
	}
	s, ok := n.Value.(string)
	if !ok {
		t.Warn("wrong_type", key, "want a string, got "+n.What(), "")
	}
	return s
}

// Choice returns a flag, nil if it is left open. A value that is no flag leaves
// it open, too: a slip must not switch a protection off.
func (t *Table) Choice(key string) *bool {
	n := t.Get(key)
	if n == nil {
		return nil
	}
	switch v := n.Value.(type) {
	case bool:
		return &v
	case string:
		if on, err := strconv.ParseBool(v); err == nil {
			t.Warn("wrong_type", key, "want true or false, got "+n.What(), "leave out the quotes")
			return &on
		}
	}
	t.WrongType(key, "true or false", n)
	return nil
}

// Flag returns a flag that is false unless it is set.
func (t *Table) Flag(key string) bool {
	on := t.Choice(key)
	return on != nil && *on
}

// Int returns an integer.
func (t *Table) Int(key string) int {
	n := t.Get(key)
	if n == nil {
		return 0
	}
	if v, ok := n.Value.(json.Number); ok {
		if i, err := strconv.Atoi(v.String()); err == nil {
			return i
		}
	}
	t.WrongType(key, "an integer", n)
	return 0
}

// List returns a list of strings: nil if there is none, and empty if it is empty
// or wrong.
func (t *Table) List(key string) []string {
	n := t.Get(key)
	if n == nil {
		return nil
	}
	list := []string{}
	if odd := n.noText(); n.List() == nil && n.Value != nil && !isList(n) || odd != nil {
		if odd == nil || !isList(n) {
			odd = n
		}
		t.WrongType(key, "a list of strings", odd)
		return list
	}
	for _, item := range n.List() {
		list = append(list, item.Text())
	}
	return list
}

func isList(n *Node) bool { _, ok := n.Value.([]*Node); return ok }

// Words returns a list of strings; a string alone is a list of one.
func (t *Table) Words(key string) []string {
	if s, ok := t.value(key).(string); ok {
		return []string{s}
	}
	return t.List(key)
}

func (t *Table) value(key string) any {
	if n := t.Get(key); n != nil {
		return n.Value
	}
	return nil
}

// Rules returns permission rules: a string alone is one. An empty rule, which would
// match every call, is a mistake.
func (t *Table) Rules(key string) hook.Rules {
	before := t.Wrong()
	list := t.Words(key)
	if list != nil && t.Wrong() == before && (len(list) == 0 || slices.Contains(list, "")) {
		t.Fail("unknown_value", key, "expected one or more rules, got an empty one or none", "leave the key out to match every call")
		return nil
	}
	return list
}

// Word returns one of the words, or "" if there is none or another.
func Word[T ~string](t *Table, key string, words []T) T {
	word := T(t.Str(key))
	if word == "" || slices.Contains(words, word) {
		return word
	}
	hint := ""
	if near := Nearest(word, words); near != "" {
		hint = "did you mean " + phrase.Quote(string(near)) + "?"
	}
	t.Fail("unknown_value", key, fmt.Sprintf("want %s, got %s", phrase.Either(words...), phrase.Quote(string(word))), hint)
	return ""
}

// Meant is Word of a key that protects: what is none of the words is a mistake, also
// if it is empty, and counts as the strictest.
func Meant[T ~string](t *Table, key string, words []T, strictest T) T {
	word := Word(t, key, words)
	if word == "" && t.Has(key) {
		if t.value(key) == "" {
			t.Fail("unknown_value", key, fmt.Sprintf(`want %s, got ""`, phrase.Either(words...)), "leave the key out")
		}
		return strictest
	}
	return word
}

// Nearest is [hook.Nearest] over words of any string type.
func Nearest[T ~string](word T, words []T) T {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return T(hook.Nearest(string(word), list))
}

// Texts returns a table of strings by name.
func (t *Table) Texts(key string) map[string]string {
	sub := t.Sub(key)
	if sub == nil {
		return nil
	}
	texts := make(map[string]string)
	for _, p := range sub.Node.Pairs() {
		s, ok := p.Node.Value.(string)
		if !ok {
			t.failAt("wrong_type", p.Line, key+"."+p.Key, "want a string, got "+p.Node.What(), typeHint("a string", p.Node))
			continue
		}
		texts[p.Key] = s
	}
	return texts
}

// Sub returns the table under a key, nil if there is none. Its errors are also errors
// of t.
func (t *Table) Sub(key string) *Table {
	n := t.Get(key)
	if n == nil {
		return nil
	}
	if !n.IsTable() {
		t.WrongType(key, "a table", n)
		return nil
	}
	return t.table(strings.TrimPrefix(t.At+"."+t.Spelt(key), "."), n, t.wrong)
}

// Inner returns a table that stands somewhere below t. Its errors are those of t as
// well.
func (t *Table) Inner(at string, n *Node) *Table { return t.table(at, n, t.wrong) }

// AnyUnit is the unit of a number that is seconds below 1000 and milliseconds
// from there on.
const AnyUnit time.Duration = 0

// Duration reads a time: a number of units, or text like "500ms" and "2m". 0
// stands for the default, as if the key were absent.
func (t *Table) Duration(key string, unit time.Duration) time.Duration {
	n := t.Get(key)
	if n == nil {
		return 0
	}
	wrong := func(why string) time.Duration {
		name, got := "seconds", strings.TrimPrefix(n.What(), "the string ")
		if unit == time.Millisecond {
			name = "milliseconds"
		}
		t.Fail("bad_"+key, key, "want "+name+` or a duration like "5s", got `+got+why, "")
		return 0
	}
	var d time.Duration
	switch v := n.Value.(type) {
	case string:
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			return wrong("")
		}
	case float64:
		if math.IsInf(v, 1) {
			return wrong(", which is too long")
		}
		return wrong("")
	case json.Number:
		f, err := v.Float64()
		switch {
		case unit == AnyUnit && f >= 1000:
			unit = time.Millisecond
		case unit == AnyUnit:
			unit = time.Second
		}
		if err != nil || math.Abs(f)*float64(unit) >= math.MaxInt64 {
			return wrong(", which is too long")
		}
		d = time.Duration(f * float64(unit))
		switch {
		case unit == time.Second && f >= 1000:
			t.Warn("milliseconds", key, fmt.Sprintf("%s seconds are %v", v, d), "if milliseconds are meant, write "+strconv.FormatFloat(f/1000, 'f', -1, 64))
		case unit == time.Millisecond && f > 0 && f < 100:
			t.Warn("milliseconds", key, fmt.Sprintf("the unit is milliseconds here, so it has %s ms", v), "if seconds are meant, multiply it by 1000")
		}
	default:
		return wrong("")
	}
	switch {
	case d < 0:
		return wrong(", which is negative")
	case d == 0:
		t.Warn("zero_"+key, key, "0 means the default", "leave the key out, or give a time")
	}
	return d
}

// Size reads a size such as "256MiB", in bytes.
func (t *Table) Size(key string) int64 {
	n := t.Get(key)
	if n == nil {
		return 0
	}
	bytes, ok := hook.ParseSize(n.Text())
	if !ok {
		t.Fail("unknown_value", key, `want a size such as "256MiB", got `+n.What(), "")
	}
	return bytes
}

// Age reads a time in days, such as "14d", or a duration such as "36h".
func (t *Table) Age(key string) time.Duration {
	n := t.Get(key)
	if n == nil {
		return 0
	}
	if days, ok := strings.CutSuffix(n.Text(), "d"); ok {
		if f, err := strconv.ParseFloat(days, 64); err == nil && f > 0 && f < 36500 {
			return time.Duration(f * 24 * float64(time.Hour))
		}
	} else if d, err := time.ParseDuration(n.Text()); err == nil && d > 0 {
		return d
	}
	t.Fail("unknown_value", key, `want days or a duration, such as "14d" or "36h", got `+n.What(), "")
	return 0
}
