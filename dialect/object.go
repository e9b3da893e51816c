package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"github.com/tenterhook/tenterhook/hook"
)

// member is one key and value of an object, as slices of its text. The key is
// unescaped.
type member struct {
	key   []byte
	value json.RawMessage
}

// parseObject splits the members of a JSON object, in one pass over the text,
// because every answer goes through it. It fails on anything but one object
// with nothing behind it. A fault is what hook.Members refuses beyond that: a
// key that stands twice, at any depth, or nesting too deep. The members are
// whole then, but careless readers would not agree on what they mean.
func parseObject(data []byte) (members []member, fault, err error) {
	w := walker{text: data}
	if !json.Valid(data) || w.space() != '{' {
		if err := hook.CheckJSON(data); err != nil {
			return nil, nil, err
		}
		return nil, nil, errors.New("want a JSON object")
	}
	members = w.object(1, make([]member, 0, 8))
	if w.faulty {
		fault = cmp.Or(hook.CheckJSON(data), errFault)
	}
	return members, fault, nil
}

var errFault = errors.New("a key stands twice in one object")

// nestedObject splits the members of an object inside a text that parseObject
// took already.
func nestedObject(data []byte) []member {
	w := walker{text: data}
	return w.object(1, make([]member, 0, 8))
}

const (
	maxDepth = 256 // as hook.CheckJSON has it
	fewKeys  = 16  // up to here comparing is faster than hashing
)

// walker goes through the text of a valid JSON value.
type walker struct {
	text   []byte
	at     int
	faulty bool // a key stood twice, or nesting was too deep
}

// object walks the object at w.at. It appends its members to list, where list
// is not nil.
func (w *walker) object(depth int, list []member) []member {
	w.faulty = w.faulty || depth > maxDepth
	w.at++
	var keys keySet
	for {
		switch w.space() {
		case '}':
			w.at++
			return list
		case ',':
			w.at++
			continue
		}
		key := w.string()
		if !keys.add(key) {
			w.faulty = true
		}
		w.space()
		w.at++ // the colon
		w.space()
		start := w.at
		w.value(depth)
		if list != nil {
			list = append(list, member{key, w.text[start:w.at:w.at]})
		}
	}
}

func (w *walker) value(depth int) {
	switch w.space() {
	case '{':
		w.object(depth+1, nil)
		return
	case '[':
		w.list(depth + 1)
		return
	case '"':
		w.skipString()
		return
	}
	for w.at < len(w.text) && bytes.IndexByte([]byte(",]} \t\r\n"), w.text[w.at]) < 0 {
		w.at++
	}
}

func (w *walker) list(depth int) {
	w.faulty = w.faulty || depth > maxDepth
	w.at++
	for {
		switch w.space() {
		case ']':
			w.at++
			return
		case ',':
			w.at++
		default:
			w.value(depth)
		}
	}
}

// space skips white space and returns the byte behind it, 0 at the end.
func (w *walker) space() byte {
	for ; w.at < len(w.text); w.at++ {
		switch c := w.text[w.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// string returns the string at w.at without quotes and escapes.
func (w *walker) string() []byte {
	start := w.at
	w.skipString()
	raw := w.text[start:w.at]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return []byte(stringOf(raw))
}

func (w *walker) skipString() {
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

// keySet tells a key that it has seen before.
type keySet struct {
	few  [][]byte
	many map[string]struct{}
	buf  [fewKeys][]byte
}

func (s *keySet) add(key []byte) bool {
	if len(s.few) < fewKeys {
		if s.few == nil {
			s.few = s.buf[:0]
		}
		for _, k := range s.few {
			if bytes.Equal(k, key) {
				return false
			}
		}
		s.few = append(s.few, key)
		return true
	}
	if s.many == nil {
		s.many = make(map[string]struct{}, 4*fewKeys)
		for _, k := range s.few {
			s.many[string(k)] = struct{}{}
		}
	}
	if _, seen := s.many[string(key)]; seen {
		return false
	}
	s.many[string(key)] = struct{}{}
	return true
}
