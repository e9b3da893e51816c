package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Input is what a host says of an event: one of the structs of this package,
// or a pointer to one, named as the event is.
type Input interface {
	// Event names the event.
	Event() Event
	// Common returns the fields that every input has.
	Common() Base

	sealed()
}

// Base holds the fields that every input has. What a host does not know it
// leaves empty; the registry fills in what it knows better (Cwd).
type Base struct {
	SessionID      string  `json:"session_id"`
	TranscriptPath string  `json:"transcript_path" send:"always"` // sent even if it is empty
	Cwd            string  `json:"cwd" send:"always"`
	PromptID       string  `json:"prompt_id,omitempty"`
	PermissionMode string  `json:"permission_mode,omitempty"` // never sent empty
	AgentID        string  `json:"agent_id,omitempty"`        // inside a subagent only
	AgentType      string  `json:"agent_type,omitempty"`
	Effort         *Effort `json:"effort,omitempty"`
	Agent          string  `json:"agent,omitempty"` // the product that the event comes from: claude, codex, …

	// Extra are fields that no struct knows, carried through as they came, and
	// fields that came as an empty text: of others that are empty none is sent.
	Extra map[string]json.RawMessage `json:"-"`
}

// Effort is how hard the model has to think.
type Effort struct {
	Level string `json:"level"`
}

func (Base) sealed() {}

// Common returns b.
func (b Base) Common() Base { return b }

// Subject returns the value that a matcher tests: the tool's name, the
// session's source, … and "" on an event whose matcher is ignored.
func Subject(in Input) string {
	info := Info(in.Event())
	body := reflect.Indirect(reflect.ValueOf(in))
	if info.MatcherField == "" || body.Type() != reflect.TypeOf(info.Input) {
		return ""
	}
	field, ok := fieldOf(body, info.MatcherField)
	if !ok { // it is a common one
		base := in.Common()
		field, _ = fieldOf(reflect.ValueOf(&base).Elem(), info.MatcherField)
	}
	if info.MatcherBase {
		return path.Base(strings.ReplaceAll(textOf(field), `\`, "/"))
	}
	return textOf(field)
}

// Encode writes an input as the JSON object that hooks read, on one line, with
// base in the place of the input's own common fields. It fails if a raw value in
// it (a tool's input, say) is not JSON. Raw values are sent as they came, but for
// line breaks between their parts. A text that is empty and a raw value that is
// nil are unknown and left out, but for what Base.Extra has as an empty text.
func Encode(in Input, base Base) ([]byte, error) {
	e := newEncoder()
	e.members(reflect.ValueOf(base))
	e.key("hook_event_name")
	e.text(string(in.Event()))
	body := reflect.Indirect(reflect.ValueOf(in))
	e.members(body)
	for _, key := range sortedKeys(base.Extra) {
		field, taken := fieldOf(body, key)
		if !taken {
			field, taken = fieldOf(reflect.ValueOf(base), key)
		}
		if taken && string(base.Extra[key]) == `""` && field.Kind() == reflect.String {
			if field.Len() > 0 {
				continue // a text was set since
			}
			taken = false
		}
		if taken || key == "hook_event_name" {
			return nil, fmt.Errorf("encode %s: extra field %q has a field of its own", in.Event(), key)
		}
		e.key(key)
		e.raw(key, base.Extra[key])
	}
	if e.err != nil {
		return nil, fmt.Errorf("encode %s: %w", in.Event(), e.err)
	}
	e.buf.WriteByte('}')
	return e.buf.Bytes(), nil
}

func sortedKeys(extra map[string]json.RawMessage) []string {
	if len(extra) == 0 {
		return nil // without the allocations of an empty sequence
	}
	return slices.Sorted(maps.Keys(extra))
}

// DecodeInput reads an event's JSON object. Keys are compared exactly; what no
// field takes is kept in Base.Extra, and an unknown event becomes a [Custom].
// It fails on anything but one object without duplicate keys, on an object
// without hook_event_name, and on a known field of a wrong type. Raw values of
// the input share data's memory.
func DecodeInput(data []byte) (Input, error) {
	members, err := Members(data)
	if err != nil {
		return nil, err
	}
	return DecodeMembers(members)
}

// DecodeMembers is DecodeInput of the members of an object, with no key twice. It
// checks the values that [Members] did not read, or read with an error.
func DecodeMembers(members []Member) (Input, error) {
	var ev Event
	found := false
	for _, m := range members {
		if !m.sound() {
			if err := CheckJSON(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Key, err)
			}
		}
		if m.Key == "hook_event_name" {
			if err := json.Unmarshal(m.Value, &ev); err != nil || ev == "" {
				return nil, fmt.Errorf("hook_event_name: want the name of an event, got %s", clip(m.Value))
			}
			found = true
		}
	}
	if !found {
		return nil, fmt.Errorf("no hook_event_name: the input must name its event")
	}
	body := reflect.New(reflect.TypeOf(Blank(ev))).Elem()
	body.Set(reflect.ValueOf(Blank(ev)))
	if err := decodeInto(members, body.FieldByName("Base").Addr().Interface().(*Base), body); err != nil {
		return nil, err
	}
	return body.Interface().(Input), nil
}

// Blank returns the empty input of an event, a struct; that of an event that the
// table does not know is a [Custom].
func Blank(ev Event) Input {
	if info, ok := Lookup(ev); ok {
		return info.Input
	}
	return Custom{Name: ev}
}

func decodeInto(members []Member, base *Base, body reflect.Value) error {
	common := reflect.ValueOf(base).Elem()
	for _, m := range members {
		if m.Key == "hook_event_name" {
			continue
		}
		field, ok := fieldOf(body, m.Key)
		if !ok {
			field, ok = fieldOf(common, m.Key)
		}
		if !ok {
			base.addExtra(m)
			continue
		}
		if raw, ok := field.Addr().Interface().(*json.RawMessage); ok {
			*raw = m.Value // it may be long, and it is sound
			continue
		}
		if err := json.Unmarshal(m.Value, field.Addr().Interface()); err != nil {
			return fmt.Errorf("%s: want %s, got %s", m.Key, wantedJSON(field.Type()), clip(m.Value))
		}
		if string(m.Value) == `""` {
			base.addExtra(m) // it is known to be empty
		}
	}
	return nil
}

func (b *Base) addExtra(m Member) {
	if b.Extra == nil {
		b.Extra = make(map[string]json.RawMessage)
	}
	b.Extra[m.Key] = m.Value
}

func wantedJSON(t reflect.Type) string {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return wantedJSON(t.Elem())
	case kind == reflect.String:
		return "a string"
	case kind == reflect.Bool:
		return "true or false"
	case kind >= reflect.Int && kind <= reflect.Float64:
		return "a number"
	case kind == reflect.Slice:
		return "a list"
	}
	return "an object"
}

// WithToolInput returns a copy of in with another tool input, and false for an
// event whose hooks cannot rewrite it.
func WithToolInput(in Input, raw json.RawMessage) (Input, bool) {
	return withField(in, "tool_input", raw, FieldUpdatedInput|FieldRequest)
}

// WithToolResponse returns a copy of in with another tool response, and false
// for an event whose hooks cannot replace it.
func WithToolResponse(in Input, raw json.RawMessage) (Input, bool) {
	return withField(in, "tool_response", raw, FieldToolOutput)
}

// withField returns a copy of in with another raw value, if one of the answers
// counts on its event.
func withField(in Input, key string, raw json.RawMessage, answers FieldSet) (Input, bool) {
	body := reflect.Indirect(reflect.ValueOf(in))
	i, ok := fieldsOf(body.Type()).index[key]
	if !ok || body.Field(i).Type() != rawType || Info(in.Event()).Fields&answers == 0 {
		return in, false
	}
	other := reflect.New(body.Type()).Elem()
	other.Set(body)
	other.Field(i).SetBytes(raw)
	return other.Interface().(Input), true
}

// ToolCallOf returns the tool call that an event is about: the fields of its
// input that have the names of those of a [ToolCall]. It returns false for an
// event whose input has no tool_name.
func ToolCallOf(in Input) (call ToolCall, ok bool) {
	if in == nil {
		return ToolCall{}, false
	}
	body := reflect.Indirect(reflect.ValueOf(in))
	known := fieldsOf(body.Type()).index
	if _, ok = known["tool_name"]; !ok {
		return ToolCall{}, false
	}
	part := func(key string) reflect.Value {
		if i, has := known[key]; has {
			return body.Field(i)
		}
		return reflect.Value{}
	}
	call.ToolName, call.ToolUseID = textOf(part("tool_name")), textOf(part("tool_use_id"))
	call.ToolInput, call.ToolResponse = rawOf(part("tool_input")), rawOf(part("tool_response"))
	return call, true
}

func rawOf(v reflect.Value) json.RawMessage {
	if v.IsValid() && v.Type() == rawType {
		return v.Bytes()
	}
	return nil
}

// textOf is a value as a matcher reads it: a text, or a number or a flag as JSON
// spells it. It is "" where there is none.
func textOf(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return ""
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Pointer:
		return textOf(v.Elem())
	}
	return fmt.Sprint(v.Interface())
}

// As returns in as the struct T, whether it is one or a pointer to one.
func As[T Input](in Input) (T, bool) {
	if v, ok := in.(T); ok {
		return v, true
	}
	if p, ok := any(in).(*T); ok {
		return *p, true
	}
	var zero T
	return zero, false
}
