package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a compiled JSON Schema of any draft. A schema that names no draft is read
// as 2020-12. It may be used by many goroutines.
type Schema struct {
	resolved *jsonschema.Resolved
	chain    int // how many schemas may judge one value at once
}

// maxStack bounds the calls that the library may have under way at once.
const maxStack = 100_000

// Compile reads a schema. It returns an error for a reference to another
// document: Compile loads nothing from files or the network. "format" is not
// checked.
func Compile(text []byte) (*Schema, error) {
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	chain, err := modernize(tree)
	if err != nil {
		return nil, err
	}
	text, err = json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	var read jsonschema.Schema
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	resolved, err := read.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return &Schema{resolved, chain}, nil
}

// Validate returns an error of one line if a JSON value violates the schema.
// Numbers are compared as float64.
func (s *Schema) Validate(value []byte) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	if depth(v)*s.chain > maxStack {
		return errors.New("the value has too many levels for the schema")
	}
	if err := s.resolved.Validate(v); err != nil {
		return errors.New(oneLine(err.Error()))
	}
	return nil
}

// depth returns how many levels a value has.
func depth(value any) int {
	deepest := 0
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			deepest = max(deepest, depth(v))
		}
	case []any:
		for _, v := range value {
			deepest = max(deepest, depth(v))
		}
	}
	return 1 + deepest
}

// oneLine shortens a message of the library, which names each schema on the way
// to the violated one and may repeat the value.
func oneLine(text string) string {
	const most = 300 // bytes
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		path := ""
		for rest, found := strings.CutPrefix(line, "validating "); found; rest, found = strings.CutPrefix(line, "validating ") {
			path, line, _ = strings.Cut(rest, ": ")
		}
		if path != "" && path != "root" {
			line = path + ": " + line
		}
		lines[i] = line
	}
	if text = strings.Join(lines, "; "); len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
}
