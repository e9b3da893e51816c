package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// answer holds the values of the fields that an answer has; null is no value.
type answer [fieldCount]json.RawMessage

func (a *answer) has(id fieldID) bool { return a[id] != nil }

// text returns a field's string, "" without one.
func (a *answer) text(id fieldID) string { return stringOf(a[id]) }

// flag reports whether a field is true.
func (a *answer) flag(id fieldID) bool { return string(a[id]) == "true" }

// is reports whether a JSON value has the type that a field wants.
func (w wanted) is(value json.RawMessage) bool {
	switch w {
	case wantString:
		return value[0] == '"'
	case wantBool:
		return value[0] == 't' || value[0] == 'f'
	case wantNumber:
		return value[0] == '-' || value[0] >= '0' && value[0] <= '9'
	case wantObject:
		return value[0] == '{'
	case wantList:
		return value[0] == '['
	case wantStrings:
		_, ok := stringsOf(value)
		return ok
	}
	return true
}

// stringOf decodes a JSON string; no value is "".
func stringOf(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var s string
	_ = json.Unmarshal(value, &s) // it was found to be a string
	return s
}

// stringsOf decodes a JSON list of strings, without null in it.
func stringsOf(value json.RawMessage) ([]string, bool) {
	var items []*string
	if json.Unmarshal(value, &items) != nil {
		return nil, false
	}
	list := make([]string, len(items))
	for i, item := range items {
		if item == nil {
			return nil, false
		}
		list[i] = *item
	}
	return list, true
}

// milliseconds reads a JSON number as a duration, and false for a number that is
// not positive or longer than a day.
func milliseconds(value json.RawMessage) (time.Duration, bool) {
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil || ms <= 0 || ms > float64(24*time.Hour/time.Millisecond) {
		return 0, false
	}
	return time.Duration(ms * float64(time.Millisecond)), true
}

// clip quotes the beginning of a JSON text for a message.
func clip(value []byte) string { return phrase.Clip(string(value[:min(len(value), 1000)]), 40) }

// firstLine returns the first line of a text that is not blank, trimmed.
func firstLine(b []byte) string {
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
		}
	}
	return ""
}

// lastLine returns the last line of a text that is not blank, trimmed.
func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(bytes.TrimSpace(b[bytes.LastIndexByte(b, '\n')+1:]))
}
