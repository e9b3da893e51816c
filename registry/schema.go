package registry

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSchemas bounds the compiled schemas that are kept.
const maxSchemas = 256

// schemaCache compiles a tool's schema once.
type schemaCache struct {
	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// validate reports how a value violates a schema. A schema that cannot be used
// is a violation: nobody can say that the value is fine.
func (c *schemaCache) validate(schema, value []byte) error {
	s, err := c.compile(schema)
	if err != nil {
		return fmt.Errorf("the schema cannot be used: %w", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	err = s.Validate(v)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		lines := strings.Split(strings.TrimSpace(invalid.Error()), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "))
		}
		return errors.New(strings.Join(lines[min(1, len(lines)-1):], "; "))
	}
	return err
}

func (c *schemaCache) compile(schema []byte) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[string(schema)]; s != nil {
		return s, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	const name = "tool:input"
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	s, err := compiler.Compile(name)
	if err != nil {
		return nil, err
	}
	if c.compiled == nil || len(c.compiled) >= maxSchemas {
		c.compiled = make(map[string]*jsonschema.Schema)
	}
	c.compiled[string(schema)] = s
	return s, nil
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not loaded", url)
}
