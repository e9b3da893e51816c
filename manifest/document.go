package manifest

import (
	"fmt"
	"strings"
)

// document is front matter, decoded: the same whatever language it came in.
// Values are string, bool, int64, float64, json.Number, nil, []any,
// map[string]any, and time.Time or []map[string]any from TOML.
type document struct {
	root map[string]any
	keys []keyLine
}

// keyLine says on which line of the text a key stands, from 1.
type keyLine struct {
	path string // with dots between the tables
	line int
}

// line returns the line of the key at path, or of the nearest table around it
// whose line is known, or 0.
func (d *document) line(path string) int {
	for {
		for _, k := range d.keys {
			if k.path == path {
				return k.line
			}
		}
		dot := strings.LastIndexByte(path, '.')
		if dot < 0 {
			return 0
		}
		path = path[:dot]
	}
}

// fault is why a text cannot be taken at all.
type fault struct {
	code    string
	line    int // of the text; 0 = unknown
	first   int // the line of what came before and is at odds with it; 0 = none
	message string
	hint    string
}

// The bounds of what is handed to a parser. No hook needs more, and parsers
// that meet more take seconds or the whole stack.
const (
	maxDepth  = 32 // tables and lists within each other
	maxParts  = 16 // parts of a dotted key
	maxKeys   = 512
	maxValues = 4096 // in lists
)

func tooDeep(line int) *fault {
	return &fault{code: "too_deep", line: line, message: "lists and tables are nested too deeply", hint: "no key of a hook needs that"}
}

func tooMany(line, most int, what string) *fault {
	return &fault{code: "too_many", line: line, message: fmt.Sprintf("more than %d %s", most, what), hint: "move what does not define the hook into another file"}
}

func duplicateKey(key string, line, first int) *fault {
	return &fault{code: "duplicate_key", line: line, first: first, message: quote(key) + " stands here for the second time", hint: "keep one of them"}
}

func notATable(v any) *fault {
	return &fault{code: "wrong_type", message: "want keys and values, got " + typeName(v)}
}
