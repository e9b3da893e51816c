package mcptool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

const event = `{"tool_name":"Bash","tool_input":{"command":"a && b <\"x\">","n":1.50,"big":12345678901234567890,"list":[{"k":"v"},2],` +
	`"on":true,"nil":null,"o":{ "a" : 1 },"inject":"${tool_name}","":"empty","a.b":"dot"},"twice":1,"twice":2}`

func TestPlaceholders(t *testing.T) {
	for _, tt := range []struct{ in, want, missing string }{
		{`"${tool_input.command}"`, `"a && b <\"x\">"`, ""},
		{`"${tool_input.n}"`, `1.50`, ""},
		{`"${tool_input.big}"`, `12345678901234567890`, ""},
		{`"${tool_input.on}"`, `true`, ""},
		{`"${tool_input.nil}"`, `null`, ""},
		{`"${tool_input.o}"`, `{ "a" : 1 }`, ""},
		{`"${tool_input.list}"`, `[{"k":"v"},2]`, ""},
		{`"${tool_input.list.0.k}"`, `"v"`, ""},
		{`"${tool_input.list.1}"`, `2`, ""},
		{`"${tool_input.list.2}"`, `null`, "tool_input.list.2"},
		{`"${tool_input.list.-1}"`, `null`, "tool_input.list.-1"},
		{`"${tool_input.list.k}"`, `null`, "tool_input.list.k"},
		{`"${tool_name.x}"`, `null`, "tool_name.x"},
		{`"${tool_Name}"`, `null`, "tool_Name"},
		{`"run ${tool_input.command} now"`, `"run a && b <\"x\"> now"`, ""},
		{`"${tool_name}${tool_name}"`, `"BashBash"`, ""},
		{`"n=${tool_input.n} o=${tool_input.o} l=${tool_input.list} z=${tool_input.nil}"`, `"n=1.50 o={\"a\":1} l=[{\"k\":\"v\"},2] z=null"`, ""},
		{`"<${nowhere}>"`, `"<>"`, "nowhere"},
		{`"${tool_input.inject}"`, `"${tool_name}"`, ""},
		{`"x${tool_input.inject}"`, `"x${tool_name}"`, ""},
		{`"$${tool_name}"`, `"${tool_name}"`, ""},
		{`"$$${tool_name}"`, `"$${tool_name}"`, ""},
		{`"a$${b} ${tool_name}"`, `"a${b} Bash"`, ""},
		{`"$tool_name ${} ${open"`, `"$tool_name ${} ${open"`, ""},
		{`{"${tool_name}":{"x":["${tool_name}",1e3,null]}}`, `{"${tool_name}":{"x":["Bash",1e3,null]}}`, ""},
		{`{"<&>":"<&>"}`, `{"<&>":"<&>"}`, ""},
	} {
		x := expansion{event: json.RawMessage(event)}
		got, err := x.value(json.RawMessage(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff([]string{tt.want, tt.missing}, []string{string(got), strings.Join(x.missing, " ")}); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
	x := expansion{event: json.RawMessage(event)}
	for _, in := range []string{`"${twice}"`, `"x ${twice}"`} {
		if got, err := x.value(json.RawMessage(in)); err == nil {
			t.Errorf("%s: a key that stands twice gave %s", in, got)
		}
	}
}

func TestUnclosedPlaceholdersAreTold(t *testing.T) {
	for in, want := range map[string]bool{
		`{"a":"${x"}`: true, `{"a":["b",{"c":"x ${y} ${z"}]}`: true, `{"a":"${x}"}`: false, `{"a":"$${x"}`: false, `{"a":"$x"}`: false, `{}`: false,
	} {
		if got := hasUnclosed(json.RawMessage(in)); got != want {
			t.Errorf("%s: got %v", in, got)
		}
	}
}

func TestInsertedTextNeverBecomesStructure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.String().Draw(t, "hostile")
		before, after := rapid.String().Filter(noDollar).Draw(t, "before"), rapid.String().Filter(noDollar).Draw(t, "after")
		inner, err := json.Marshal(map[string]any{"v": hostile})
		if err != nil {
			t.Fatal(err)
		}
		outer, err := json.Marshal(map[string]string{"alone": "${v}", "within": before + "${v}" + after})
		if err != nil {
			t.Fatal(err)
		}
		x := expansion{event: inner}
		raw, err := x.value(outer)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		want := map[string]string{"alone": valid(hostile), "within": valid(before) + valid(hostile) + valid(after)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func noDollar(s string) bool { return !strings.ContainsAny(s, "$") }

func FuzzExpand(f *testing.F) {
	f.Add(`{"a":"${tool_input.command}","b":["x ${tool_name} y","$${z}"]}`, event)
	f.Add(`{"a":"${twice} ${a.b.c"}`, event)
	f.Add(`{"":""}`, `[]`)
	f.Fuzz(func(t *testing.T, input, event string) {
		if !json.Valid([]byte(event)) || hook.CheckJSON([]byte(input)) != nil {
			return
		}
		x := expansion{event: json.RawMessage(event)}
		if got, err := x.value(json.RawMessage(input)); err == nil && !json.Valid(got) {
			t.Errorf("%s of %s became %s", input, event, got)
		}
	})
}
