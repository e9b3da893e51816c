package hook_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestEncodedInputIsOneLine(t *testing.T) {
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage("{\n  \"command\": \"echo \\n\",\r\n\t\"n\": [1, 2]\n}")}
	in.Extra = map[string]json.RawMessage{"more": json.RawMessage("[\n1\n]")}
	data, err := hook.Encode(in, in.Base)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(data, "\r\n") {
		t.Errorf("got %s", data)
	}
	back, err := hook.DecodeInput(data)
	if err != nil {
		t.Fatal(err)
	}
	got := back.(hook.PreToolUse)
	if want := `{"command":"echo \n","n":[1,2]}`; string(got.ToolInput) != want || string(got.Extra["more"]) != "[1]" {
		t.Errorf("got %s and %s", got.ToolInput, got.Extra)
	}
}

func TestEncodeWritesRawValuesAsTheyCame(t *testing.T) {
	const raw = `{ "b":1.50, "a":"<&>\u00e9 " , "a2":1e400}`
	in := hook.PostToolUse{ToolName: "x", ToolInput: json.RawMessage(raw), ToolResponse: nil}
	data, err := hook.Encode(in, in.Base)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"tool_input":`+raw+`}`) || strings.Contains(string(data), `"tool_response"`) {
		t.Errorf("got %s", data)
	}
	for _, bad := range []string{"", "{", "{\n", "{}{}", "nul"} {
		in.ToolInput = json.RawMessage(bad)
		if data, err := hook.Encode(in, in.Base); err == nil || !strings.Contains(err.Error(), "tool_input") {
			t.Errorf("%q: got %s, %v", bad, data, err)
		}
		in.ToolInput = nil
		in.Extra = map[string]json.RawMessage{"x": json.RawMessage(bad)}
		if data, err := hook.Encode(in, in.Base); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("extra %q: got %s, %v", bad, data, err)
		}
		in.Extra = nil
	}
}

func TestLineBreaksAroundARawValueAreRemoved(t *testing.T) {
	for _, raw := range []string{"\n1", "\r1", "1\n", "1\r", "\r\n{\"a\":1}\n", "[\r1]"} {
		data, err := hook.Encode(hook.PreToolUse{ToolName: "x", ToolInput: json.RawMessage(raw)}, hook.Base{})
		if err != nil || bytes.ContainsAny(data, "\r\n") || !json.Valid(data) {
			t.Errorf("%q: %q, %v", raw, data, err)
		}
	}
}

// Encode writes what encoding/json writes of the same fields.
func TestEncodeAgreesWithEncodingJSON(t *testing.T) {
	index := 3
	inputs := []hook.Input{
		hook.SessionStart{Source: "startup"}, hook.SessionStart{Source: "<b>&\u2028", Model: "m", SessionTitle: "t"},
		hook.InstructionsLoaded{Globs: []string{}}, hook.InstructionsLoaded{Globs: []string{"a", "b"}},
		hook.MessageDisplay{Index: index, Final: true}, &hook.Stop{}, hook.Notification{Message: "a\nb"}, hook.Notification{Message: "\n\x01", Title: `\`, NotificationType: `"`},
	}
	for _, in := range inputs {
		base := hook.Base{SessionID: "s", Effort: &hook.Effort{Level: "high"}}
		data, err := hook.Encode(in, base)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"hook_event_name": string(in.Event())}
		for _, part := range []any{base, in} {
			raw, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
		}
		maps.DeleteFunc(want, func(key string, v any) bool { return v == "" && key != "cwd" && key != "transcript_path" }) // unknown
		got := map[string]any{}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", in, diff)
		}
	}
}

// A tool's input may be a whole file. The floor is one look at the text.
func BenchmarkInput(b *testing.B) {
	raw, err := json.Marshal(map[string]string{"file_path": "/a", "content": strings.Repeat("some text\n", 6<<10)})
	if err != nil {
		b.Fatal(err)
	}
	in := hook.PreToolUse{ToolName: "Write", ToolInput: raw}
	data, err := hook.Encode(in, in.Base)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not JSON")
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := hook.Encode(in, in.Base); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := hook.DecodeInput(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
