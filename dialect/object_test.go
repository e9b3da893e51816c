package dialect

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

// sameAsMembers holds parseObject against hook.Members, which is the rule.
func sameAsMembers(text []byte) error {
	want, wantErr := hook.Members(text)
	got, fault, gotErr := parseObject(text)
	gotErr = cmp.Or(gotErr, fault)
	if (wantErr == nil) != (gotErr == nil) {
		return fmt.Errorf("%q: got error %v, want %v", text, gotErr, wantErr)
	}
	if wantErr != nil {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%q: got %d members, want %d", text, len(got), len(want))
	}
	for i := range want {
		if string(got[i].key) != want[i].Key || string(got[i].value) != string(want[i].Value) {
			return fmt.Errorf("%q: got member %q %q, want %q %q", text,
				got[i].key, got[i].value, want[i].Key, want[i].Value)
		}
	}
	return nil
}

func TestParseObjectTakesWhatHookMembersTakes(t *testing.T) {
	deep := func(n int, open, end string) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	manyKeys := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + last + "}"
	}
	for _, text := range []string{
		"", "{", "{}", " { } ", "[]", `"s"`, "null", "7", "{}{}", "{} x", `{"a":1,}`, `{"a":1}`,
		`{"a" : [1, {"b":{}} , "x,]}"] , "c":"\"}"}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
		`{"a":{"b":1,"b":1}}`, `{"a":[[{"b":1,"b":1}]]}`, `{"a":"\\"}`, `{"":1,"":2}`, `{"\ud800":1,"\ud801":2}`,
		`{"a":` + deep(254, "[", "]") + "}", `{"a":` + deep(255, "[", "]") + "}", `{"a":` + deep(256, "[", "]") + "}",
		`{"a":` + deep(257, "[", "]") + "}", `{"a":` + deep(100_000, "[", "]") + "}",
		strings.Repeat(`{"a":`, 256) + "1" + strings.Repeat("}", 256),
		strings.Repeat(`{"a":`, 257) + "1" + strings.Repeat("}", 257),
		manyKeys(`"k":1`), manyKeys(`"k3":1`), manyKeys(`"k39":1`),
		"{\"a\"\t:\n-1.5e+3\r,\"b\":true\n,\"c\":null}", `{"a":1 2}`, "{\"a\":\"\x01\"}",
	} {
		if err := sameAsMembers([]byte(text)); err != nil {
			if len(text) > 300 {
				t.Errorf("a text of %d bytes: %.200v", len(text), err)
				continue
			}
			t.Error(err)
		}
	}
}

// jsonValue draws JSON values that often repeat keys.
func jsonValue(depth int) *rapid.Generator[string] {
	key := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"decision"`, `"x\"y"`, `"é"`})
	leaf := rapid.SampledFrom([]string{`1`, `-0.5e3`, `true`, `null`, `"s"`, `"}\"],{"`, `""`, `[]`, `{}`})
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

func TestParseObjectAgreesWithHookMembersOnAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := sameAsMembers([]byte(jsonValue(3).Draw(t, "json"))); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNestedObjectSplitsWhatParseObjectFound(t *testing.T) {
	members, fault, err := parseObject([]byte(`{"outer": {"inner" : 1, "other":[2]}}`))
	if fault != nil || err != nil {
		t.Fatal(fault, err)
	}
	got := map[string]string{}
	for _, m := range nestedObject(members[0].value) {
		got[string(m.key)] = string(m.value)
	}
	if diff := gocmp.Diff(map[string]string{"inner": "1", "other": "[2]"}, got); diff != "" {
		t.Errorf("members differ (-want +got):\n%s", diff)
	}
}
