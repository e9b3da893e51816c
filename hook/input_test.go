package hook_test

import (
	"encoding/json"
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
