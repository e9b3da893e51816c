package mcptool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// params are a hook's own keys.
type params struct {
	server, tool string
	input        json.RawMessage // nil: the hook declares none, and the tool gets {}
	placeholders bool            // the input may have some
}

// params returns a hook's keys, which are read once.
func (h *Handler) params(hk *hook.Hook) (params, error) {
	if p, ok := h.read.Load(hk); ok {
		return p.(params), nil
	}
	p, err := readParams(hk)
	if err == nil {
		h.read.Store(hk, p)
	}
	return p, err
}

func readParams(hk *hook.Hook) (params, error) {
	var p params
	for _, key := range []struct {
		name string
		to   *string
	}{{"server", &p.server}, {"tool", &p.tool}} {
		if json.Unmarshal(hk.Params[key.name], key.to) != nil || *key.to == "" {
			return p, &hook.Error{Failure: hook.FailureStart, Reason: "it names no " + key.name,
				Hint: `add server = "…" and tool = "…"`}
		}
	}
	if p.input = bytes.TrimSpace(hk.Params["input"]); len(p.input) == 0 {
		p.input = nil
		return p, nil
	}
	if err := hook.CheckJSON(p.input); err != nil {
		return p, &hook.Error{Failure: hook.FailureStart, Reason: "its input cannot be read: " + err.Error(), Hint: inputHint, Err: err}
	}
	if p.input[0] != '{' {
		return p, &hook.Error{Failure: hook.FailureStart, Reason: "its input is no object", Hint: inputHint}
	}
	p.placeholders = bytes.Contains(p.input, []byte("${"))
	return p, nil
}

const inputHint = `write an object, as in input = { command = "${tool_input.command}" }`

// expand makes the tool's input of the event.
func (p params) expand(c *hook.Call) (json.RawMessage, error) {
	if p.input == nil {
		return json.RawMessage("{}"), nil
	}
	if !p.placeholders {
		return p.input, nil
	}
	event, err := dialect.Payload(c.Hook.Protocol, c.Input, c.Payload)
	if err != nil {
		return nil, hook.Errorf(hook.FailureStart, "its input cannot be made: %w", err)
	}
	if !json.Valid(event) {
		return nil, hook.Errorf(hook.FailureStart, "its input cannot be made: the event is no JSON")
	}
	x := expansion{event: bytes.TrimSpace(event)}
	input, err := x.value(p.input)
	if err != nil {
		return nil, &hook.Error{Failure: hook.FailureStart, Reason: "its input cannot be made of the event: " + err.Error(),
			Hint: "it is unclear which of the two the tool would use", Err: err}
	}
	for _, path := range x.missing {
		c.Warn("missing_field", fmt.Sprintf("the event has no %s, which input names; it is left empty", phrase.Quote(path)),
			"look at the event's fields with: tenterhook events")
	}
	return input, nil
}

// expansion replaces placeholders by what the event has at their paths.
type expansion struct {
	event   json.RawMessage
	missing []string
}

// value expands one JSON value. Keys are left as they are.
func (x *expansion) value(raw json.RawMessage) (json.RawMessage, error) {
	switch raw[0] {
	case '"':
		return x.text(textOf(raw))
	case '{':
		out := []byte{'{'}
		for key, v := range entries(raw) {
			v, err := x.value(v)
			if err != nil {
				return nil, err
			}
			out = append(append(append(append(out, encode(key)...), ':'), v...), ',')
		}
		return closed(out, '}'), nil
	case '[':
		out := []byte{'['}
		for v := range elements(raw) {
			v, err := x.value(v)
			if err != nil {
				return nil, err
			}
			out = append(append(out, v...), ',')
		}
		return closed(out, ']'), nil
	}
	return raw, nil
}

// closed puts the bracket in the place of the last comma.
func closed(out []byte, bracket byte) []byte {
	return append(bytes.TrimSuffix(out, []byte{','}), bracket)
}

// text expands a string. One placeholder alone becomes the value itself.
func (x *expansion) text(s string) (json.RawMessage, error) {
	pieces, _ := split(s)
	if len(pieces) == 1 && pieces[0].path {
		v, found, err := lookUp(x.event, pieces[0].text)
		if !found && err == nil {
			x.miss(pieces[0].text)
			v = json.RawMessage("null")
		}
		return v, err
	}
	var out []byte
	for _, p := range pieces {
		if !p.path {
			out = append(out, p.text...)
			continue
		}
		v, found, err := lookUp(x.event, p.text)
		if err != nil {
			return nil, err
		}
		switch {
		case !found:
			x.miss(p.text)
		case v[0] == '"':
			out = append(out, textOf(v)...)
		default:
			var compact bytes.Buffer
			if err := json.Compact(&compact, v); err != nil {
				return nil, err
			}
			out = append(out, compact.Bytes()...)
		}
	}
	return encode(string(out)), nil
}

func (x *expansion) miss(path string) {
	if !slices.Contains(x.missing, path) {
		x.missing = append(x.missing, path)
	}
}

// encode is json.Marshal of a string, with <, > and & as they are.
func encode(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string and a buffer do not fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
