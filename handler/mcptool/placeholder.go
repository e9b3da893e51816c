package mcptool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// piece is a part of a string: text, or the path of a placeholder.
type piece struct {
	text string
	path bool
}

// split finds the ${path} in a string. $${ stands for ${, and what is empty or
// not closed is text; the latter is reported.
func split(s string) (pieces []piece, unclosed bool) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			pieces = append(pieces, piece{text: text.String()})
			text.Reset()
		}
	}
	for {
		before, after, found := strings.Cut(s, "${")
		if !found {
			text.WriteString(s)
			flush()
			return pieces, unclosed
		}
		path, rest, closed := strings.Cut(after, "}")
		if escaped := strings.HasSuffix(before, "$"); escaped || !closed || path == "" {
			unclosed = unclosed || !escaped && !closed
			text.WriteString(strings.TrimSuffix(before, "$") + "${")
			s = after
			continue
		}
		text.WriteString(before)
		flush()
		pieces = append(pieces, piece{path, true})
		s = rest
	}
}

// lookUp follows a dotted path into a JSON value: keys of objects, and numbers
// for the elements of lists.
func lookUp(value json.RawMessage, path string) (json.RawMessage, bool, error) {
	for step := range strings.SplitSeq(path, ".") {
		var found bool
		var err error
		switch {
		case value[0] == '{':
			value, found, err = member(value, step)
		case value[0] == '[':
			value, found = element(value, step)
		}
		if err != nil || !found {
			return nil, false, err
		}
	}
	return value, true, nil
}

// member returns the value of a key. A key that stands twice is an error: what
// a policy is asked about does not have to be what the tool does.
func member(object json.RawMessage, key string) (value json.RawMessage, found bool, err error) {
	for k, v := range entries(object) {
		if k != key {
			continue
		}
		if found {
			return nil, false, fmt.Errorf("the key %s stands twice in one object", phrase.Quote(key))
		}
		value, found = v, true
	}
	return value, found, nil
}

func element(list json.RawMessage, index string) (json.RawMessage, bool) {
	i, err := strconv.Atoi(index)
	if err != nil {
		return nil, false
	}
	for v := range elements(list) {
		if i == 0 {
			return v, true
		}
		i--
	}
	return nil, false
}
