package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

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
	// /properties/timeout: type: soon has type "string", want "integer"
}

func TestSchemaThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "objekt"}`: "want one of array", `{"items": {"type": ["string", "nul"]}}`: "want one of array",
		`{"type": 7}`:                            "type",
		`{`:                                      "unexpected end",
		`{"$schema": "http://example.com/mine"}`: "not a draft",
		`{"$ref": "#"}`:                          "without an end",
		`{"$ref": "#x"}`:                         "does not have",
		`{"$ref": "#/$defs/x"}`:                  "does not have",
		`{"$ref": "#/allOf/7", "allOf": [true]}`: "does not have",
		`{"$dynamicRef": "#"}`:                   "$dynamicRef",
		`{"$id": "https://a.example/s", "$ref": "https://a.example/s"}`: "without an end",
		`{"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"anyOf": [true, {"$ref": "#/$defs/b"}]}},
			"b": {"if": {"dependentSchemas": {"x": {"$ref": "#/$defs/a"}}}}}}`: "without an end",
		`{"$anchor": "top", "properties": {"x": {"oneOf": [{"$ref": "#y"}]}, "y": {"$anchor": "y", "else": {"$ref": "#y"}}}}`: "without an end",
		`{"properties": {"x": {"$id": "https://b.example/"}, "y": {"$ref": "#"}}}`:                                            "below its root",
		strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200):                                                      "more than 100",
		doubling(20):                                  "steps",
		`{"$ref": "file:///etc/passwd"}`:              "not loaded",
		`{"$ref": "https://example.com/schema.json"}`: "not loaded",
	} {
		if _, err := schema.Compile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// doubling is a schema that judges a value 2^n times.
func doubling(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d": {"allOf": [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"$ref": "#/$defs/a0", "$defs": {%s, "a%d": {}}}`, strings.Join(defs, ","), n)
}

func TestValuesAreJudgedByEachDraftsKeywords(t *testing.T) {
	for _, test := range []struct{ schema, good, bad string }{
		{`{"properties": {"next": {"$ref": "#"}}, "required": ["v"]}`, `{"v": 1, "next": {"v": 2}}`, `{"v": 1, "next": {}}`},
		{`{"$ref": "#/definitions/a%20b~1c", "definitions": {"a b/c": {"type": "string"}}}`, `"x"`, `1`},
		{`{"$id": "https://a.example/s.json", "$ref": "https://a.example/s.json#/$defs/x", "$defs": {"x": {"const": 1}}}`, `1`, `2`},
		{`{"$ref": "#item", "$defs": {"x": {"$anchor": "item", "enum": ["a", null]}}}`, `null`, `0`},
		{`{"items": [{"type": "string"}], "additionalItems": false}`, `["a"]`, `["a", 1]`},
		{`{"items": [{"type": "string"}]}`, `["a", 1]`, `[1]`},
		{`{"id": "http://a.example/#", "minimum": 5, "exclusiveMinimum": true, "maximum": 7, "exclusiveMaximum": false}`, `7`, `5`},
		{`{"exclusiveMinimum": 5}`, `6`, `5`},
		{`{"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}`, `{"a": 1, "b": 1}`, `{"c": 1}`},
		{`{"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}`, `{"c": 1, "d": 1}`, `{"a": 1}`},
		{`{"REQUIRED": ["x"], "$REF": "#", "allof": [{"$ref": "#"}], "type": "object"}`, `{}`, `1`}, // keywords have one spelling
		{`{"properties": {"$ref": {"type": "string"}, "id": {"type": "integer"}, "items": {}}}`, `{"$ref": "#", "id": 1}`, `{"id": "x"}`},
		{`{"const": {"$ref": "#"}}`, `{"$ref": "#"}`, `{}`},
		{`true`, `1`, ``}, {`false`, ``, `1`},
	} {
		s, err := schema.Compile([]byte(test.schema))
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		if test.good != "" && s.Validate([]byte(test.good)) != nil {
			t.Errorf("%s refuses %s: %v", test.schema, test.good, s.Validate([]byte(test.good)))
		}
		if test.bad != "" && s.Validate([]byte(test.bad)) == nil {
			t.Errorf("%s takes %s", test.schema, test.bad)
		}
	}
}

func TestDeepAndLongValuesAreRefusedBriefly(t *testing.T) {
	chain := strings.Repeat(`{"allOf":[`, 90) + `{"properties": {"x": {"$ref": "#"}}, "maxLength": 1}` + strings.Repeat(`]}`, 90)
	s, err := schema.Compile([]byte(chain))
	if err != nil {
		t.Fatal(err)
	}
	const levels = 9000
	if err := s.Validate([]byte(strings.Repeat(`{"x":`, levels) + `1` + strings.Repeat(`}`, levels))); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Errorf("got %v", err)
	}
	if err := s.Validate([]byte(`"` + strings.Repeat("é", 5000) + `"`)); err == nil || len(err.Error()) > 400 || !utf8.ValidString(err.Error()) || !strings.Contains(err.Error(), "bytes more") {
		t.Errorf("got %v", err)
	}
}

func TestEachDraftIsRead(t *testing.T) {
	for _, draft := range []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
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
