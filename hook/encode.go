package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// encoder writes one JSON object. Raw values may be long, so they are looked at
// once and copied once.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder // into buf; nil until a value needs it
	err  error         // the first
}

func newEncoder() *encoder {
	e := &encoder{}
	e.buf.Grow(512)
	e.buf.WriteByte('{')
	return e
}

func (e *encoder) key(key string) {
	if e.buf.Len() > 1 {
		e.buf.WriteByte(',')
	}
	e.text(key)
	e.buf.WriteByte(':')
}

// text writes a string. Most have nothing to escape.
func (e *encoder) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			e.value(s)
			return
		}
	}
	e.buf.WriteByte('"')
	e.buf.WriteString(s)
	e.buf.WriteByte('"')
}

func (e *encoder) value(v any) {
	if e.json == nil {
		e.json = json.NewEncoder(&e.buf)
		e.json.SetEscapeHTML(false)
	}
	if err := e.json.Encode(v); err != nil {
		if e.err == nil {
			e.err = err
		}
		return
	}
	e.buf.Truncate(e.buf.Len() - 1) // the encoder ends each value with a line
}

func (e *encoder) raw(key string, raw json.RawMessage) {
	var err error
	switch {
	case raw == nil:
		e.buf.WriteString("null")
	case bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0:
		if !json.Valid(raw) {
			err = fmt.Errorf("field %q is not JSON", key)
		}
		e.buf.Write(raw)
	default:
		if json.Compact(&e.buf, raw) != nil {
			err = fmt.Errorf("field %q is not JSON", key)
		}
	}
	if e.err == nil {
		e.err = err
	}
}

// members writes the fields of a struct.
func (e *encoder) members(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()).list {
		field := v.Field(f.index)
		if f.omitEmpty && empty(field) || f.unknown && unknown(field) {
			continue
		}
		e.key(f.key)
		switch {
		case f.raw:
			e.raw(f.key, field.Bytes())
		case field.Kind() == reflect.String:
			e.text(field.String())
		default:
			e.value(field.Interface())
		}
	}
}

// unknown reports whether a text is empty, or a list or a raw value nil.
func unknown(v reflect.Value) bool { return v.IsZero() }

// empty is what encoding/json means by omitempty, of the kinds that inputs have.
func empty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// fields are those of a struct that have a key.
type fields struct {
	list  []field
	index map[string]int // by key
}

type field struct {
	index     int
	key       string
	omitEmpty bool
	unknown   bool // its zero value says that it is not known
	raw       bool // a json.RawMessage
}

var rawType = reflect.TypeFor[json.RawMessage]()

var knownFields sync.Map // reflect.Type → *fields

func fieldsOf(t reflect.Type) *fields {
	if known, ok := knownFields.Load(t); ok {
		return known.(*fields)
	}
	all := &fields{index: make(map[string]int)}
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if key != "-" && key != "" {
			raw, kind := t.Field(i).Type == rawType, t.Field(i).Type.Kind()
			always := t.Field(i).Tag.Get("send") == "always"
			all.list = append(all.list, field{i, key, options == "omitempty", !always && (kind == reflect.String || kind == reflect.Slice), raw})
			all.index[key] = i
		}
	}
	known, _ := knownFields.LoadOrStore(t, all)
	return known.(*fields)
}

// fieldOf finds the field of struct v whose JSON key is exactly key.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	i, ok := fieldsOf(v.Type()).index[key]
	if !ok {
		return reflect.Value{}, false
	}
	return v.Field(i), true
}
