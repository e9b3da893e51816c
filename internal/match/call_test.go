package match

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestObjectsAreDecodedWithAllTheirKeys(t *testing.T) {
	tests := []struct {
		raw  string
		want []field
	}{
		{`{}`, nil},
		{" \n{ } ", nil},
		{`{"a":1}`, []field{{"a", json.RawMessage(`1`)}}},
		{`{"a":1,"a":"x\"}","\u0062" : {"c":[1,{"d":"]"}]} , "e":null}`, []field{
			{"a", json.RawMessage(`1`)}, {"a", json.RawMessage(`"x\"}"`)}, {"b", json.RawMessage(`{"c":[1,{"d":"]"}]}`)}, {"e", json.RawMessage(`null`)},
		}},
		{`{"a":"\\","b":"\\\""}`, []field{{"a", json.RawMessage(`"\\"`)}, {"b", json.RawMessage(`"\\\""`)}}},
	}
	for _, tt := range tests {
		got, err := decodeObject(json.RawMessage(tt.raw), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.raw, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(field{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.raw, diff)
		}
	}
	for _, raw := range []string{"", "1", "[]", `"a"`, "{", `{"a"}`, `{"a":1,}`, `{} {}`, "null"} {
		if got, err := decodeObject(json.RawMessage(raw), nil); err == nil {
			t.Errorf("%s is decoded as %v", raw, got)
		}
	}
}

// What is read off an object is what encoding/json reads.
func TestDecodedFieldsAreThoseOfEncodingJSON(t *testing.T) {
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "string") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "array") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(rapid.String(), rapid.Bool(), 0, 3).Draw(t, "object") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(rapid.MapOfN(rapid.String(), value, 0, 5).Draw(t, "input"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			if err := json.Indent(&b, raw, " ", "\t"); err != nil {
				t.Fatal(err)
			}
			raw = b.Bytes()
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		fields, err := decodeObject(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		for _, f := range fields {
			got[f.key] = f.value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", raw, diff)
		}
	})
}
