package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// fewKeys is up to where comparing keys is faster than hashing them.
const fewKeys = 16

// walker goes through the text of a valid JSON value, once: all that hooks read
// and answer goes through it.
type walker struct {
	text   []byte
	names  string // the text once more, for keys to be parts of; "" = it is too long for that
	at     int
	twice  []byte // the first key that stood twice in one object; nil = none
	deeply bool   // nesting is too deep
}

// fault is what a careless reader would not see.
func (w *walker) fault() error {
	switch {
	case w.deeply:
		return &AmbiguousError{fmt.Sprintf("nested more than %d deep", maxJSONDepth)}
	case w.twice != nil:
		return &AmbiguousError{fmt.Sprintf("key %q stands twice in one object", w.twice)}
	}
	return nil
}

// members are those of the object at w.at.
func (w *walker) members() []Member {
	const short = 1 << 10 // longer ones have few keys for their length
	if len(w.text) <= short {
		w.names = string(w.text)
	}
	return w.object(1, make([]Member, 0, 8))
}

// object walks the object at w.at. It appends its members to list, where list
// is not nil.
func (w *walker) object(depth int, list []Member) []Member {
	w.deeply = w.deeply || depth > maxJSONDepth
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
		start := w.at
		key, plain := w.string()
		if !keys.add(key) && w.twice == nil {
			w.twice = key
		}
		w.space()
		w.at++ // the colon
		w.space()
		from := w.at
		w.value(depth)
		if list == nil {
			continue
		}
		m := Member{Value: w.text[from:w.at:w.at], read: &w.text[from], size: w.at - from}
		if plain && w.names != "" {
			m.Key = w.names[start+1 : start+1+len(key)]
		} else {
			m.Key = string(key)
		}
		list = append(list, m)
	}
}

func (w *walker) value(depth int) {
	switch w.space() {
	case '{':
		w.object(depth+1, nil)
	case '[':
		w.list(depth + 1)
	case '"':
		w.skipString()
	default:
		for w.at < len(w.text) && bytes.IndexByte([]byte(",]} \t\r\n"), w.text[w.at]) < 0 {
			w.at++
		}
	}
}

func (w *walker) list(depth int) {
	w.deeply = w.deeply || depth > maxJSONDepth
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

// string returns the string at w.at without quotes and escapes, as encoding/json
// reads it, and whether that is how it stands there.
func (w *walker) string() (s []byte, plain bool) {
	start := w.at
	w.skipString()
	raw := w.text[start:w.at]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw[1 : len(raw)-1 : len(raw)-1], true
	}
	var read string
	_ = json.Unmarshal(raw, &read) // it is valid
	return []byte(read), false
}

// skipString leaps from quote to quote: most strings have no escapes, and some
// are a file's whole text.
func (w *walker) skipString() {
	w.at++
	for {
		w.at += bytes.IndexByte(w.text[w.at:], '"')
		escapes := 0
		for w.text[w.at-1-escapes] == '\\' {
			escapes++
		}
		w.at++
		if escapes%2 == 0 {
			return
		}
	}
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
