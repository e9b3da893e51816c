package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema of any draft; one that names none is of
// 2020-12. It may be used by many goroutines.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads a schema. What it refers to must be in it: nothing is loaded from
// files or the network.
func Compile(text []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	const name = "tenterhook:schema"
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled}, nil
}

// Validate says on one line how a JSON value violates the schema, nil if it does
// not.
func (s *Schema) Validate(value []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	err = s.compiled.Validate(v)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(invalid.Error()), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "))
	}
	return errors.New(strings.Join(lines[min(1, len(lines)-1):], "; ")) // the first names the schema
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not loaded", url)
}
