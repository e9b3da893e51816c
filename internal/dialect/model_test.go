package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestReadModel(t *testing.T) {
	for _, tc := range []struct {
		name    string
		event   hook.Event
		answer  string
		want    hook.Output
		failure hook.Failure
	}{
		{"ok is no permission", hook.EventPreToolUse, `{"ok":true}`, hook.Output{}, ""},
		{"not ok blocks", hook.EventPreToolUse, `{"ok":false,"reason":"R"}`, hook.Output{Verdict: hook.Deny, Reason: "R"}, ""},
		{"not ok needs no reason", hook.EventPreToolUse, `{"ok": false}`, hook.Output{Verdict: hook.Deny, Reason: noReason}, ""},
		{"not ok goes on at Stop", hook.EventStop, `{"ok":false,"reason":"R","impossible":true}`,
			hook.Output{Verdict: hook.Deny, Reason: "R", Impossible: true}, ""},
		{"not ok where nothing can be blocked", hook.EventPermissionDenied, `{"ok":false}`, hook.Output{}, hook.FailureOutput},
		{"in a fence", hook.EventPreToolUse, "```json\n{\"ok\":false,\"reason\":\"R\"}\n```\n", hook.Output{Verdict: hook.Deny, Reason: "R"}, ""},
		{"no ok", hook.EventPreToolUse, `{"reason":"R"}`, hook.Output{}, hook.FailureOutput},
		{"ok of a wrong type", hook.EventPreToolUse, `{"ok":"false"}`, hook.Output{}, hook.FailureOutput},
		{"ok in another case", hook.EventPreToolUse, `{"OK":true}`, hook.Output{}, hook.FailureOutput},
		{"prose", hook.EventPreToolUse, "Yes, fine.", hook.Output{}, hook.FailureOutput},
		{"prose around it", hook.EventPreToolUse, "Sure: {\"ok\":true}", hook.Output{}, hook.FailureOutput},
		{"nothing", hook.EventPreToolUse, " ", hook.Output{}, hook.FailureOutput},
		{"an empty fence", hook.EventPreToolUse, "```", hook.Output{}, hook.FailureOutput},
		{"a fence of one line", hook.EventPreToolUse, "```\n`", hook.Output{}, hook.FailureOutput},
		{"a decision of a hook", hook.EventPreToolUse, `{"decision":"approve"}`, hook.Output{}, hook.FailureOutput},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Reader{}.ReadModel(newCall(t, tc.event), []byte(tc.answer))
			if out == nil {
				out = &hook.Output{}
			}
			if diff := cmp.Diff(tc.want, *out); diff != "" || failureOf(t, err).Failure != tc.failure {
				t.Errorf("error %v, want %q (-want +got):\n%s", err, tc.failure, diff)
			}
		})
	}
}
