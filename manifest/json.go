package manifest

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// readObject reads an object that is its own fence. It ends where the object
// does, whatever empty lines are in it.
func readObject(b block) (*document, *fault) {
	dec := json.NewDecoder(strings.NewReader(b.rest))
	var object json.RawMessage
	if dec.Decode(&object) != nil {
		return decodeJSON(b.rest[:b.taken])
	}
	return decodeJSON(b.rest[:dec.InputOffset()])
}

// decodeJSON reads one JSON object, strictly: no key twice, nothing behind it.
func decodeJSON(text string) (*document, *fault) {
	r := &jsonReader{dec: json.NewDecoder(strings.NewReader(text)), text: text}
	r.dec.UseNumber()
	value, err := r.value("", 0)
	if err == nil {
		if _, err = r.dec.Token(); err == nil {
			return nil, &fault{code: "syntax", line: r.line(), message: "there is something behind the JSON object"}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return nil, r.fault(err)
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, notATable(value)
	}
	return &document{root: root, keys: r.keys}, nil
}

// jsonReader builds values token by token, so that it knows where each key is.
type jsonReader struct {
	dec     *json.Decoder
	text    string
	keys    []keyLine
	values  int
	counted int64 // the bytes whose lines are in lines
	lines   int
}

func (r *jsonReader) value(path string, depth int) (any, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	if r.values++; r.values > maxValues {
		return nil, &faultError{tooMany(r.line(), maxValues, "values")}
	}
	switch tok := tok.(type) {
	case json.Number:
		if n, err := tok.Int64(); err == nil {
			return n, nil
		}
		return tok, nil
	case json.Delim:
		if depth++; depth > maxDepth {
			return nil, &faultError{tooDeep(r.line())}
		}
		if tok == '[' {
			return r.list(path, depth)
		}
		return r.object(path, depth)
	}
	return tok, nil
}

func (r *jsonReader) list(path string, depth int) (any, error) {
	list := []any{}
	for r.dec.More() {
		v, err := r.value(path, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.dec.Token()
	return list, err
}

func (r *jsonReader) object(path string, depth int) (any, error) {
	object := make(map[string]any)
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // a key of another type is a syntax error
		if _, twice := object[key]; twice {
			return nil, &faultError{duplicateKey(key, r.line(), 0)}
		}
		below := key
		if path != "" {
			below = path + "." + key
		}
		r.keys = append(r.keys, keyLine{below, r.line()})
		if len(r.keys) > maxKeys {
			return nil, &faultError{tooMany(r.line(), maxKeys, "keys")}
		}
		if object[key], err = r.value(below, depth); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.Token()
	return object, err
}

// line is the line of the token that was read last.
func (r *jsonReader) line() int {
	at := r.dec.InputOffset()
	r.lines += strings.Count(r.text[r.counted:at], "\n")
	r.counted = at
	return r.lines + 1
}

// faultError carries a fault out of the recursion.
type faultError struct{ *fault }

func (e *faultError) Error() string { return e.message }

func (r *jsonReader) fault(err error) *fault {
	var bad *faultError
	if errors.As(err, &bad) {
		return bad.fault
	}
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		at := min(int(wrong.Offset), len(r.text))
		return &fault{code: "syntax", line: 1 + strings.Count(r.text[:at], "\n"), message: foreign(wrong.Error())}
	}
	return &fault{code: "syntax", line: 1 + strings.Count(r.text, "\n"), message: "the JSON object is not closed"}
}
