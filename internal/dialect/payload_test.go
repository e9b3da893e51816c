package dialect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestPayloadOfCalibanHasItsOwnKeysBesideTheCommonOnes(t *testing.T) {
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`), ToolUseID: "t1"}
	common, err := hook.Encode(in, hook.Base{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Payload(hook.ProtocolCaliban, in, common)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(got, &fields); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	want := map[string]any{"name": "Bash", "useId": "t1", "input": map[string]any{"command": "ls"}}
	if diff := cmp.Diff(want, fields["tool"]); diff != "" || fields["hookEventName"] != "PreToolUse" || fields["tool_name"] != "Bash" {
		t.Errorf("%s\n%s", got, diff)
	}
	stop, err := hook.Encode(hook.Stop{}, hook.Base{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Payload(hook.ProtocolCaliban, hook.Stop{}, stop); err != nil || !json.Valid(got) {
		t.Errorf("%s, %v", got, err)
	}
	in.ToolInput = json.RawMessage("{")
	if got, err := Payload(hook.ProtocolCaliban, in, common); err == nil || got != nil {
		t.Errorf("an input that is no JSON: %s", got)
	}
	for _, p := range []hook.Protocol{"", hook.ProtocolClaude, hook.ProtocolStarpod, hook.ProtocolMoltis} {
		if got, _ := Payload(p, in, common); string(got) != string(common) {
			t.Errorf("%s: %s", p, got)
		}
	}
}
