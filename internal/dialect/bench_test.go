package dialect

import (
	"encoding/json"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

var smallReply = Reply{Stdout: []byte(`{"hookSpecificOutput": {"hookEventName": "PreToolUse", ` +
	`"permissionDecision": "deny", "permissionDecisionReason": "not on main"}}` + "\n")}

// BenchmarkReadSmallReply is the cost of reading what most hooks print. The
// floor is encoding/json alone on the same bytes, without any strictness.
func BenchmarkReadSmallReply(b *testing.B) {
	c := newCall(b, hook.EventPreToolUse)
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if out, err := (Reader{}).Read(c, smallReply); err != nil || out.Verdict != hook.Deny {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v struct {
				HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
			}
			if err := json.Unmarshal(smallReply.Stdout, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReadNothing is the cost of the commonest answer.
func BenchmarkReadNothing(b *testing.B) {
	c := newCall(b, hook.EventPreToolUse)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Reader{}).Read(c, Reply{}); err != nil {
			b.Fatal(err)
		}
	}
}
