package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/schema"
)

func Example() {
	s, err := schema.Compile([]byte(`{"type": "object", "properties": {"timeout": {"type": "integer"}}, "required": ["command"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate([]byte(`{"command": "ls", "timeout": 5}`)))
	fmt.Println(s.Validate([]byte(`{"command": "ls", "timeout": "soon"}`)))

	// Output:
	// <nil>
	// at '/timeout': got string, want integer
}

func TestSchemaThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": 7}`:                    "type",
		`{`:                              "EOF",
		`{"$ref": "file:///etc/passwd"}`: "not loaded",
		`{"$ref": "https://example.com/schema.json"}`: "not loaded",
	} {
		if _, err := schema.Compile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestEachDraftIsRead(t *testing.T) {
	for _, draft := range []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"} {
		s, err := schema.Compile([]byte(`{"$schema": "` + draft + `", "type": "object", "required": ["a", "b"]}`))
		if err != nil {
			t.Errorf("%s: %v", draft, err)
			continue
		}
		if err := s.Validate([]byte(`{"a":1,"b":2}`)); err != nil {
			t.Errorf("%s: %v", draft, err)
		}
		if err := s.Validate([]byte(`[]`)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", draft, err)
		}
		if err := s.Validate([]byte(`{`)); err == nil {
			t.Errorf("%s took what is not JSON", draft)
		}
	}
}
