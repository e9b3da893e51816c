package dispatch

import (
	"fmt"
	"strings"
	"testing"
)

// A schema is compiled once, and hostile hosts do not fill the memory with schemas.
func TestSchemasAreCompiledOnceAndBounded(t *testing.T) {
	var c schemaCache
	const text = `{"type": "object", "required": ["command"]}`
	first, err := c.compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.compile([]byte(text)); again != first || err != nil {
		t.Errorf("it was compiled again: %v", err)
	}
	if err := c.validate([]byte(text), []byte(`{}`)); err == nil || strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("a value that violates it: %v", err)
	}
	if err := c.validate([]byte(`{"type": 5}`), []byte(`{}`)); err == nil || !strings.HasPrefix(err.Error(), "the schema cannot be used: ") {
		t.Errorf("a schema that is none: %v", err)
	}
	if len(c.compiled) != 1 {
		t.Errorf("%d are kept, want the good one", len(c.compiled))
	}
	for i := 2; i <= maxSchemas+1; i++ {
		if _, err := c.compile(fmt.Appendf(nil, `{"minProperties": %d}`, i)); err != nil {
			t.Fatal(err)
		}
		if want := (i-1)%maxSchemas + 1; len(c.compiled) != want {
			t.Fatalf("%d are kept after %d, want %d", len(c.compiled), i, want)
		}
	}
}
