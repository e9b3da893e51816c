package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// Member is one key and value of a JSON object, in the order of the text.
type Member struct {
	Key   string
	Value json.RawMessage // shares the text's memory

	read *byte // where the value begins that Members read; nil = none
	size int   // of that value
}

// sound reports whether the value is the one that Members read.
func (m *Member) sound() bool {
	return m.read != nil && len(m.Value) == m.size && &m.Value[0] == m.read
}

// Members returns those of the value, nil if that is no object. Of a Member that
// [Members] returned it looks at the text no more than it needs.
func (m Member) Members() []Member {
	if !m.sound() {
		inner, _ := Members(m.Value)
		return inner
	}
	w := walker{text: m.Value}
	if w.space() != '{' {
		return nil
	}
	return w.members()
}

// AmbiguousError is a JSON text that careless readers would not agree on: a key
// stands twice in one object, or nesting is too deep.
type AmbiguousError struct{ Reason string }

// Error returns the reason.
func (e *AmbiguousError) Error() string { return e.Reason }

// maxJSONDepth bounds nesting; encoding/json itself stops at 10,000.
const maxJSONDepth = 256

// Members reads a JSON object strictly: exactly one object, nothing behind it,
// no key twice at any depth, nesting bounded. encoding/json would let the last
// of two equal keys win in silence, and match keys without regard to case.
//
// With an [*AmbiguousError] it returns the members all the same, and both of two
// equal ones.
func Members(data []byte) ([]Member, error) {
	if !json.Valid(data) {
		return nil, syntaxError(data)
	}
	w := walker{text: data}
	if w.space() != '{' {
		return nil, cmp.Or(CheckJSON(data), fmt.Errorf("want a JSON object, got %s", clip(data)))
	}
	members, fault := w.members(), w.fault()
	if fault != nil {
		for i := range members {
			members[i].read = nil
		}
	}
	return members, fault
}

// CheckJSON reports what is wrong with one JSON value: a syntax error, bytes
// behind it, or what an [*AmbiguousError] says.
func CheckJSON(data []byte) error {
	if !json.Valid(data) {
		return syntaxError(data)
	}
	w := walker{text: data}
	w.value(0)
	return w.fault()
}

// syntaxError explains why data is not one JSON value, with the line.
func syntaxError(data []byte) error {
	err := json.Unmarshal(data, new(json.RawMessage))
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

// clip quotes the beginning of a JSON text for an error message.
func clip(b []byte) string {
	const most = 40
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
