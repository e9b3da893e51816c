package hook_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// observedInputs are payloads that the real client sent, by event.
func observedInputs(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/inputs.json")
	if err != nil {
		t.Fatal(err)
	}
	var inputs map[string]json.RawMessage
	if err := json.Unmarshal(data, &inputs); err != nil {
		t.Fatal(err)
	}
	return inputs
}

func TestObservedInputsComeBackKeyForKey(t *testing.T) {
	for name, raw := range observedInputs(t) {
		in, err := hook.DecodeInput(raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(in.Event()) != name {
			t.Errorf("%s decoded as %s", name, in.Event())
		}
		if extra := in.Common().Extra; len(extra) != 0 {
			t.Errorf("%s: no field takes %v", name, extra)
		}
		got, err := hook.Encode(in, in.Common())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, raw), decoded(t, got)); diff != "" {
			t.Errorf("%s (-observed +encoded):\n%s", name, diff)
		}
	}
}

func decoded(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return m
}

func TestEveryEventOfTheTableDecodesToItsOwnInput(t *testing.T) {
	for _, info := range hook.Events() {
		raw := `{"hook_event_name":"` + string(info.Event) + `","session_id":"s","agent_id":"a","novel":[1]}`
		in, err := hook.DecodeInput([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", info.Event, err)
			continue
		}
		if _, custom := in.(hook.Custom); custom || in.Event() != info.Event {
			t.Errorf("%s decoded as %T of %s", info.Event, in, in.Event())
		}
		if got := in.Common(); got.SessionID != "s" || got.AgentID != "a" || string(got.Extra["novel"]) != "[1]" {
			t.Errorf("%s lost common or unknown fields: %+v", info.Event, got)
		}
		if info.MatcherField == "" {
			continue
		}
		raw = `{"hook_event_name":"` + string(info.Event) + `","` + info.MatcherField + `":"word"}`
		if in, err = hook.DecodeInput([]byte(raw)); err != nil || hook.Subject(in) != "word" {
			t.Errorf("%s: the matcher tests %q, not %s (%v)", info.Event, hook.Subject(in), info.MatcherField, err)
		}
	}
}

func TestUnknownEventKeepsAllItsFields(t *testing.T) {
	raw := `{"session_id":"s","transcript_path":"","cwd":"/w","hook_event_name":"Deploy","stage":"prod","n":1.50}`
	in, err := hook.DecodeInput([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	got, err := hook.Encode(in, in.Common())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, []byte(raw)), decoded(t, got)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(got), `"n":1.50`) {
		t.Errorf("the number changed its spelling: %s", got)
	}
}

func TestUnknownCommonFieldsAreLeftOut(t *testing.T) {
	got, err := hook.Encode(hook.Stop{}, hook.Base{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"session_id":"s","transcript_path":"","cwd":"","hook_event_name":"Stop","stop_hook_active":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, err := hook.Encode(hook.SubagentStart{}, hook.Base{}); err != nil || !strings.HasSuffix(string(got), `"hook_event_name":"SubagentStart"}`) {
		t.Errorf("an input without fields of its own: %s, %v", got, err)
	}
}

// A field is sent empty only if the host said that it is.
func TestNoFieldThatNobodyKnowsIsSent(t *testing.T) {
	for _, info := range hook.Events() {
		got, err := hook.Encode(hook.Blank(info.Event), hook.Base{TranscriptPath: "/t", Cwd: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		if info.Event == hook.EventPreCompact {
			continue // custom_instructions is null where there are none
		}
		if strings.Contains(string(got), `""`) || strings.Contains(string(got), "null") || !strings.Contains(string(got), `"hook_event_name"`) {
			t.Errorf("%s: %s", info.Event, got)
		}
	}
	for _, text := range []string{
		`{"session_id":"","transcript_path":"","cwd":"","hook_event_name":"PreToolUse","tool_name":"","tool_input":null}`,
		`{"transcript_path":"/t","cwd":"","hook_event_name":"UserPromptSubmit","prompt":""}`,
		`{"transcript_path":"","cwd":"/w","hook_event_name":"Own","own":""}`,
	} {
		in, err := hook.DecodeInput([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := hook.Encode(in, in.Common())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, []byte(text)), decoded(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	in, _ := hook.DecodeInput([]byte(`{"cwd":"","hook_event_name":"Stop"}`))
	base := in.Common()
	base.Cwd = "/w"
	got, err := hook.Encode(in, base)
	if err != nil || string(got) != `{"transcript_path":"","cwd":"/w","hook_event_name":"Stop","stop_hook_active":false}` {
		t.Errorf("a field that was filled in: %s, %v", got, err)
	}
}

func TestM6ToolInputIsSentAsItCame(t *testing.T) {
	for _, raw := range []string{`"ls <a&b>"`, `[1,2]`, `null`, `{"b":1,"a":2.0}`, `"` + strings.Repeat("x", 1<<20) + `"`} {
		got, err := hook.Encode(hook.PreToolUse{ToolName: "T", ToolInput: json.RawMessage(raw)}, hook.Base{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), `"tool_input":`+raw+`}`) {
			t.Errorf("%.60s became %.200s", raw, got)
		}
	}
	if got, err := hook.Encode(hook.Stop{}, hook.Base{Extra: map[string]json.RawMessage{"b": nil, "a": json.RawMessage("1")}}); err != nil || !strings.HasSuffix(string(got), `,"a":1,"b":null}`) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := hook.Encode(hook.PostToolUse{DurationMS: math.Inf(1)}, hook.Base{}); err == nil || !strings.Contains(err.Error(), "encode PostToolUse: ") {
		t.Errorf("a number that JSON has no word for: %s, %v", got, err)
	}
	if got, err := hook.Encode(hook.PostToolUse{DurationMS: math.Inf(1), ToolInput: json.RawMessage("{")}, hook.Base{}); err == nil || !strings.Contains(err.Error(), "tool_input") {
		t.Errorf("the first error is lost: %s, %v", got, err)
	}
	if _, err := hook.Encode(hook.PreToolUse{ToolInput: json.RawMessage(`{"a":`)}, hook.Base{}); err == nil {
		t.Error("a tool input that is not JSON was encoded")
	}
}

func TestDecodeInputRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"no object":               `[]`,
		"no event":                `{"session_id":"s"}`,
		"an empty event":          `{"hook_event_name":""}`,
		"a duplicate key":         `{"hook_event_name":"Stop","cwd":"/a","cwd":"/b"}`,
		"a duplicate key within":  `{"hook_event_name":"PreToolUse","tool_input":{"a":1,"a":2}}`,
		"bytes behind the object": `{"hook_event_name":"Stop"} {}`,
		"a wrong type":            `{"hook_event_name":"PreToolUse","tool_name":7}`,
		"a depth bomb":            `{"hook_event_name":"Stop","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	} {
		if in, err := hook.DecodeInput([]byte(raw)); err == nil {
			t.Errorf("%s was taken: %#v", name, in)
		}
	}
}

// Members that Members did not return may hold anything.
func TestDecodeMembersChecksWhatWasNotRead(t *testing.T) {
	event := hook.Member{Key: "hook_event_name", Value: json.RawMessage(`"PreToolUse"`)}
	for _, value := range []string{"", "{", `{"a":1,"a":2}`, `{} {}`} {
		in, err := hook.DecodeMembers([]hook.Member{event, {Key: "tool_input", Value: json.RawMessage(value)}})
		if err == nil {
			t.Errorf("%q: got %+v", value, in)
		}
	}
	members, err := hook.Members([]byte(`{"hook_event_name":"PreToolUse","tool_input":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	members[1].Value = json.RawMessage(`{"a":1,`)
	if in, err := hook.DecodeMembers(members); err == nil {
		t.Errorf("a value that came later: got %+v", in)
	}
	members, _ = hook.Members([]byte(`{"hook_event_name":"PreToolUse","tool_input":{"a":1,"a":2}}`))
	if in, err := hook.DecodeMembers(members); len(members) != 2 || err == nil {
		t.Errorf("what Members read with an error: got %+v", in)
	}
	in, err := hook.DecodeMembers([]hook.Member{event, {Key: "tool_input", Value: json.RawMessage(`{"a":1}`)}})
	if call, ok := hook.ToolCallOf(in); err != nil || !ok || string(call.ToolInput) != `{"a":1}` {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestKeysOfAnotherCaseAreNotOurs(t *testing.T) {
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"PreToolUse","TOOL_NAME":"x","tool_name":"Bash"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := in.(hook.PreToolUse); got.ToolName != "Bash" || got.Extra["TOOL_NAME"] == nil {
		t.Errorf("got %+v", got)
	}
}

func TestExtraFieldCannotReplaceOneOfTheEvents(t *testing.T) {
	for _, key := range []string{"tool_name", "cwd", "hook_event_name"} {
		base := hook.Base{Extra: map[string]json.RawMessage{key: json.RawMessage(`"x"`)}}
		if got, err := hook.Encode(hook.PreToolUse{ToolName: "Bash"}, base); err == nil {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// The host said that a text was empty, and has set it since.
func TestTextThatWasSetSinceIsSentOnce(t *testing.T) {
	base := hook.Base{Extra: map[string]json.RawMessage{"tool_name": json.RawMessage(`""`)}}
	for name, want := range map[string]string{"x": `"tool_name":"x"`, "": `"tool_name":""`} {
		got, err := hook.Encode(hook.PreToolUse{ToolName: name}, base)
		if err != nil || strings.Count(string(got), "tool_name") != 1 || !strings.Contains(string(got), want) {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}

func TestPointersAreInputsToo(t *testing.T) {
	in := &hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{}`)}
	out, ok := hook.WithToolInput(in, json.RawMessage(`{"a":1}`))
	if !ok || string(out.(hook.PreToolUse).ToolInput) != `{"a":1}` || string(in.ToolInput) != `{}` {
		t.Errorf("got %+v, original %+v", out, in)
	}
	if _, ok := hook.WithToolInput(hook.Stop{}, nil); ok {
		t.Error("Stop has no tool input")
	}
}

// Every key that some matcher tests is there, with itself as its value.
func TestMatcherTestsItsOwnFieldAlone(t *testing.T) {
	keys := map[string]string{"agent_type": "agent_type"}
	for _, info := range hook.Events() {
		if info.MatcherField != "" {
			keys[info.MatcherField] = info.MatcherField
		}
	}
	for _, info := range append(hook.Events(), hook.EventInfo{Event: "Deploy"}) {
		keys["hook_event_name"] = string(info.Event)
		raw, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		in, err := hook.DecodeInput(raw)
		if err != nil || hook.Subject(in) != info.MatcherField || in.Event() != info.Event {
			t.Errorf("%s: the matcher of %s tests %q, not %q (%v)", info.Event, in.Event(), hook.Subject(in), info.MatcherField, err)
		}
	}
	for _, name := range []string{"mcp/a", `mcp\a`, "mcp/"} { // only the matcher of a file tests the end of its path
		if got := hook.Subject(hook.PreToolUse{ToolName: name}); got != name {
			t.Errorf("the tool %s: %q", name, got)
		}
	}
	for path, want := range map[string]string{"/w/a.go": "a.go", `C:\w\b.go`: "b.go", "c.go": "c.go", `/w\d/e.go`: "e.go"} {
		if got := hook.Subject(hook.FileChanged{FilePath: path}); got != want {
			t.Errorf("FileChanged of %s: %q", path, got)
		}
	}
}

func TestToolCallsAreOfEventsThatTakeRules(t *testing.T) {
	for _, info := range append(hook.Events(), hook.EventInfo{Event: "Deploy"}) {
		in, err := hook.DecodeInput([]byte(`{"hook_event_name":"` + string(info.Event) + `","tool_name":"Bash","tool_input":{"a":1},"tool_use_id":"u","tool_response":[2]}`))
		if err != nil {
			t.Fatal(err)
		}
		var want hook.ToolCall
		if info.TakesIf {
			want = hook.ToolCall{ToolName: "Bash", ToolInput: json.RawMessage(`{"a":1}`), ToolUseID: "u"}
		}
		switch info.Event {
		case hook.EventPermissionRequest:
			want.ToolUseID = "" // it has none
		case hook.EventPostToolUse:
			want.ToolResponse = json.RawMessage(`[2]`)
		}
		got, ok := hook.ToolCallOf(in)
		if diff := cmp.Diff(want, got); diff != "" || ok != info.TakesIf {
			t.Errorf("%s: %v %s", info.Event, ok, diff)
		}
	}
}

func TestOnlyEventsThatHaveItGetAnotherToolInputOrResponse(t *testing.T) {
	raw := json.RawMessage(`"new"`)
	for _, info := range append(hook.Events(), hook.EventInfo{Event: "Deploy"}) {
		in := hook.Blank(info.Event)
		if in.Event() != info.Event {
			t.Errorf("Blank(%s) is of %s", info.Event, in.Event())
		}
		out, ok := hook.WithToolInput(in, raw)
		call, _ := hook.ToolCallOf(out)
		if want := info.Fields.Has(hook.FieldUpdatedInput) || info.Fields.Has(hook.FieldRequest); ok != want || ok != (string(call.ToolInput) == `"new"`) {
			t.Errorf("the tool input of %s: %v, %s", info.Event, ok, call.ToolInput)
		}
		if !ok && (out == nil || out.Event() != info.Event) {
			t.Errorf("%s is lost: %v", info.Event, out)
		}
		out, ok = hook.WithToolResponse(in, raw)
		if !ok && (out == nil || out.Event() != info.Event) {
			t.Errorf("%s is lost: %v", info.Event, out)
		}
		call, _ = hook.ToolCallOf(out)
		if want := info.Fields.Has(hook.FieldToolOutput); ok != want || ok != (string(call.ToolResponse) == `"new"`) {
			t.Errorf("the tool response of %s: %v, %s", info.Event, ok, call.ToolResponse)
		}
	}
	after := &hook.PostToolUse{ToolResponse: json.RawMessage(`"old"`)}
	if out, ok := hook.WithToolResponse(after, raw); !ok || string(out.(hook.PostToolUse).ToolResponse) != `"new"` || string(after.ToolResponse) != `"old"` {
		t.Errorf("a pointer: %+v, original %+v", out, after)
	}
	if in, ok := hook.As[hook.Stop](hook.PreToolUse{}); ok || in.Event() != hook.EventStop {
		t.Error("PreToolUse was taken for Stop")
	}
}

func TestRefusedInputSaysWhereAndWhy(t *testing.T) {
	long := strings.Repeat("x", 38)
	for raw, want := range map[string]string{
		`{"session_id":"s"}`:                  "no hook_event_name: the input must name its event",
		`{"hook_event_name":7}`:               "hook_event_name: want the name of an event, got 7",
		`{"hook_event_name":""}`:              `hook_event_name: want the name of an event, got ""`,
		`[1]`:                                 "want a JSON object, got [1]",
		`["` + long + `"`:                     "line 1: unexpected end of JSON input",
		`["` + long[2:] + `"]`:                `want a JSON object, got ["` + long[2:] + `"]`,
		`["` + long + `"]`:                    `want a JSON object, got ["` + long + `…`,
		"{\n\n\"a\": x}":                      "line 3: invalid character 'x' looking for beginning of value",
		"{}\n{}":                              "line 2: invalid character '{' after top-level value",
		"":                                    "line 1: unexpected end of JSON input",
		`{"hook_event_name":"Stop","cwd":[]}`: "cwd: want a string, got []",
		`{"hook_event_name":"Stop","stop_hook_active":"x"}`:                                          `stop_hook_active: want true or false, got "x"`,
		`{"hook_event_name":"Stop","effort":7}`:                                                      "effort: want an object, got 7",
		`{"hook_event_name":"MessageDisplay","index":"x"}`:                                           `index: want a number, got "x"`,
		`{"hook_event_name":"PostToolUseFailure","is_interrupt":"x"}`:                                `is_interrupt: want true or false, got "x"`,
		`{"hook_event_name":"PostToolUse","duration_ms":"x"}`:                                        `duration_ms: want a number, got "x"`,
		`{"hook_event_name":"InstructionsLoaded","globs":{}}`:                                        "globs: want a list, got {}",
		`{"hook_event_name":"PreToolUse","mcp_server":[]}`:                                           "mcp_server: want an object, got []",
		`{"hook_event_name":"Deploy","agent_id":7}`:                                                  "agent_id: want a string, got 7",
		`{"hook_event_name":"Stop","a":1,"b":2,"a":3,"b":4}`:                                         `key "a" stands twice in one object`,
		`{"hook_event_name":"Stop","x":{"a":1,"b":{"c":1,"c":2}}}`:                                   `key "c" stands twice in one object`,
		`{"hook_event_name":"Stop","x":` + strings.Repeat("[", 257) + strings.Repeat("]", 257) + `}`: "nested more than 256 deep",
	} {
		in, err := hook.DecodeInput([]byte(raw))
		if err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", raw, err, want)
		}
		if _, custom := in.(hook.Custom); in != nil && !custom {
			t.Errorf("%.60s: %#v", raw, in)
		}
	}
}

func FuzzDecodeInput(f *testing.F) {
	for _, raw := range observedInputs(f) {
		f.Add([]byte(raw))
	}
	f.Add([]byte(`{"hook_event_name":"Deploy","x":{"y":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := hook.DecodeInput(data)
		if err != nil {
			return
		}
		out, err := hook.Encode(in, in.Common())
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		if _, err := hook.DecodeInput(out); err != nil {
			t.Fatalf("what was encoded does not decode: %v in %s", err, out)
		}
	})
}

func TestARawFieldThatIsAnEmptyTextStaysInItsPlace(t *testing.T) {
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"PreToolUse","tool_name":"x","tool_input":"","mine":""}`))
	if err != nil {
		t.Fatal(err)
	}
	if extra := in.Common().Extra; len(extra) != 1 || string(extra["mine"]) != `""` {
		t.Errorf("kept beside the fields: %s", extra)
	}
}
