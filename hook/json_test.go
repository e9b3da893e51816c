package hook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

// strictly reads JSON token by token, which is slow and plainly right. It
// returns the members of an object, as far as it is sound.
func strictly(text []byte) (keys, values []string, err error) {
	if !json.Valid(text) {
		return nil, nil, errors.New("not JSON")
	}
	var check func(dec *json.Decoder, depth int) error
	check = func(dec *json.Decoder, depth int) error {
		tok, err := dec.Token()
		open, nested := tok.(json.Delim)
		if err != nil || !nested {
			return err
		}
		if depth++; depth > 256 {
			return errors.New("too deep")
		}
		seen := make(map[string]bool)
		for dec.More() {
			if open == '{' {
				tok, err := dec.Token()
				if err != nil || seen[tok.(string)] {
					return errors.Join(err, errors.New("twice"))
				}
				seen[tok.(string)] = true
			}
			if err := check(dec, depth); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	}
	if err := check(json.NewDecoder(bytes.NewReader(text)), 0); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, nil
	}
	for dec.More() {
		tok, _ := dec.Token()
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil && err != io.EOF {
			return nil, nil, err
		}
		keys, values = append(keys, tok.(string)), append(values, string(value))
	}
	return keys, values, nil
}

// agree holds Members and CheckJSON against strictly.
func agree(text []byte) error {
	keys, values, want := strictly(text)
	if got := hook.CheckJSON(text); (got == nil) != (want == nil) {
		return fmt.Errorf("CheckJSON(%.200q): got %v, want %v", text, got, want)
	}
	members, err := hook.Members(text)
	isObject := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	if (err == nil) != (want == nil && isObject) {
		return fmt.Errorf("Members(%.200q): got %v, want %v", text, err, want)
	}
	var ambiguous *hook.AmbiguousError
	if isObject && json.Valid(text) && err != nil && (!errors.As(err, &ambiguous) || members == nil) {
		return fmt.Errorf("Members(%.200q): got %v, %v", text, members, err)
	}
	if err != nil {
		return nil
	}
	var gotKeys, gotValues []string
	for _, m := range members {
		gotKeys, gotValues = append(gotKeys, m.Key), append(gotValues, string(m.Value))
		inner, _ := hook.Members(m.Value)
		if diff := cmp.Diff(texts(inner), texts(m.Members())); diff != "" {
			return fmt.Errorf("Members(%.200q) of %q: %s", text, m.Key, diff)
		}
	}
	if diff := cmp.Diff([][]string{keys, values}, [][]string{gotKeys, gotValues}); diff != "" {
		return fmt.Errorf("Members(%.200q): %s", text, diff)
	}
	return nil
}

func texts(members []hook.Member) (all []string) {
	for _, m := range members {
		all = append(all, m.Key, string(m.Value))
	}
	return all
}

func hardTexts() []string {
	deep := func(n int, open, end string) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	manyKeys := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + last + "}"
	}
	return []string{
		"", "{", "{}", " { } ", "[]", `"s"`, "null", "7", "{}{}", "{} x", `{"a":1,}`, `{"a":1}`,
		`{"a" : [1, {"b":{}} , "x,]}"] , "c":"\"}"}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
		`{"a":{"b":1,"b":1}}`, `{"a":[[{"b":1,"b":1}]]}`, `[{"b":1,"b":1}]`, `{"a":"\\"}`, `{"a":"\\\""}`, `{"a":"\\\\\\"}`,
		`{"":1,"":2}`, `{"\ud800":1,"\ud801":2}`, "{\"\xff\":1,\"\xfe\":2}", "{\"a\":\"\xff\"}",
		`{"a":` + deep(254, "[", "]") + "}", `{"a":` + deep(255, "[", "]") + "}", `{"a":` + deep(256, "[", "]") + "}",
		`{"a":` + deep(257, "[", "]") + "}", `{"a":` + deep(100_000, "[", "]") + "}", deep(256, "[", "]"), deep(257, "[", "]"),
		strings.Repeat(`{"a":`, 256) + "1" + strings.Repeat("}", 256),
		strings.Repeat(`{"a":`, 257) + "1" + strings.Repeat("}", 257),
		manyKeys(`"k":1`), manyKeys(`"k3":1`), manyKeys(`"k39":1`),
		"{\"a\"\t:\n-1.5e+3\r,\"b\":true\n,\"c\":null}", `{"a":1 2}`, "{\"a\":\"\x01\"}",
	}
}

func TestMembersReadsWhatASlowReaderReads(t *testing.T) {
	for _, text := range hardTexts() {
		if err := agree([]byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// jsonValue draws JSON values that often repeat keys.
func jsonValue(depth int) *rapid.Generator[string] {
	key := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"decision"`, `"x\"y"`, `"é"`})
	leaf := rapid.SampledFrom([]string{`1`, `-0.5e3`, `true`, `null`, `"s"`, `"}\"],{"`, `"\\"`, `""`, `[]`, `{}`})
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		var parts []string
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			return leaf.Draw(t, "leaf")
		case 1:
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				parts = append(parts, space.Draw(t, "space")+jsonValue(depth-1).Draw(t, "item")+space.Draw(t, "space"))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			parts = append(parts, space.Draw(t, "space")+key.Draw(t, "key")+space.Draw(t, "space")+":"+
				jsonValue(depth-1).Draw(t, "value")+space.Draw(t, "space"))
		}
		return "{" + strings.Join(parts, ",") + "}"
	})
}

func TestMembersReadsAnyJSONAsASlowReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := agree([]byte(jsonValue(3).Draw(t, "json"))); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzMembers(f *testing.F) {
	for _, text := range hardTexts() {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := agree(text); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMembersOfAMemberThatNobodyRead(t *testing.T) {
	for value, want := range map[string]int{`{"a":1}`: 1, `{"a":`: 0, `[1]`: 0, "": 0} {
		if got := (hook.Member{Value: json.RawMessage(value)}).Members(); len(got) != want {
			t.Errorf("%q: got %v", value, got)
		}
	}
}
