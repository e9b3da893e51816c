package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Member is one key and value of a JSON object, in the order of the text.
type Member struct {
	Key   string
	Value json.RawMessage
}

// maxJSONDepth bounds nesting; encoding/json itself stops at 10,000.
const maxJSONDepth = 256

// Members reads a JSON object strictly: exactly one object, nothing behind it,
// no key twice at any depth, nesting bounded. encoding/json would let the last
// of two equal keys win in silence, and match keys without regard to case.
func Members(data []byte) ([]Member, error) {
	if err := CheckJSON(data); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if tok != json.Delim('{') {
		return nil, fmt.Errorf("want a JSON object, got %s", clip(data))
	}
	var members []Member
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var m Member
		m.Key = tok.(string)
		if err := dec.Decode(&m.Value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// CheckJSON reports what is wrong with one JSON value: a syntax error, bytes
// behind it, a key that stands twice in one object, or nesting too deep.
func CheckJSON(data []byte) error {
	if !json.Valid(data) {
		return syntaxError(data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	type frame struct {
		keys  map[string]bool // nil in a list
		value bool            // in an object: a key was read, its value comes
	}
	var stack []frame
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var top *frame
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
		}
		if key, ok := tok.(string); ok && top != nil && top.keys != nil && !top.value {
			if top.keys[key] {
				return fmt.Errorf("key %q stands twice in one object", key)
			}
			top.keys[key], top.value = true, true
			continue
		}
		if top != nil {
			top.value = false
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, frame{keys: make(map[string]bool)})
		case json.Delim('['):
			stack = append(stack, frame{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
		if len(stack) > maxJSONDepth {
			return fmt.Errorf("nested more than %d deep", maxJSONDepth)
		}
	}
}

// syntaxError explains why data is not one JSON value, with the line.
func syntaxError(data []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(data, &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	if err == nil {
		err = errors.New("not valid JSON")
	}
	return err
}

// clip quotes the beginning of a JSON text for an error message.
func clip(b []byte) string {
	const most = 40
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
