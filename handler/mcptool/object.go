package mcptool

import (
	"bytes"
	"encoding/json"
	"iter"
)

// entries walks the keys and values of a JSON object, elements (below) those of
// a list. The text must be valid JSON. encoding/json reads a stream token by
// token an order of magnitude slower, and into a struct it takes the last of two
// equal keys in silence.
func entries(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for rest := inside('{', object); len(rest) > 0 && rest[0] == '"'; {
			n := valueLength(rest)
			key := textOf(rest[:n])
			rest = bytes.TrimLeft(rest[n:], " \t\r\n:")
			n = valueLength(rest)
			if !yield(key, rest[:n:n]) {
				return
			}
			rest = bytes.TrimLeft(rest[n:], " \t\r\n,")
		}
	}
}

func elements(list []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for rest := inside('[', list); len(rest) > 0 && rest[0] != ']'; {
			n := valueLength(rest)
			if !yield(rest[:n:n]) {
				return
			}
			rest = bytes.TrimLeft(rest[n:], " \t\r\n,")
		}
	}
}

// inside is what follows a bracket, and nothing for another value.
func inside(bracket byte, value []byte) []byte {
	if value = bytes.TrimSpace(value); len(value) == 0 || value[0] != bracket {
		return nil
	}
	return bytes.TrimLeft(value[1:], " \t\r\n")
}

// valueLength is the length of the value that a text begins with.
func valueLength(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(b))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // a number's end
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

// textOf is what a JSON string says.
func textOf(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(bytes.ToValidUTF8(quoted[1:len(quoted)-1], []byte("\uFFFD")))
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}
