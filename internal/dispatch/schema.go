package dispatch

import (
	"fmt"
	"sync"

	"github.com/tenterhook/tenterhook/internal/schema"
)

// maxSchemas bounds the compiled schemas that are kept.
const maxSchemas = 256

// schemaCache compiles a tool's schema once.
type schemaCache struct {
	mu       sync.Mutex // guards compiled
	compiled map[string]*schema.Schema
}

// validate reports how a value violates a schema. A schema that cannot be used
// is a violation: the value may be wrong.
func (c *schemaCache) validate(text, value []byte) error {
	s, err := c.compile(text)
	if err != nil {
		return fmt.Errorf("the schema cannot be used: %w", err)
	}
	return s.Validate(value)
}

func (c *schemaCache) compile(text []byte) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[string(text)]; s != nil {
		return s, nil
	}
	s, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	if c.compiled == nil || len(c.compiled) >= maxSchemas {
		c.compiled = make(map[string]*schema.Schema)
	}
	c.compiled[string(text)] = s
	return s, nil
}
