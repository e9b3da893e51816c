package hook_test

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
)

// Two hooks answered, a third failed whose failure blocks.
func ExampleMerge() {
	guard := &hook.Hook{ID: "user/guard", Event: hook.EventPreToolUse, OnFailure: hook.FailureBlock}
	audit := &hook.Hook{ID: "dir/audit", Event: hook.EventPreToolUse}
	out := hook.Merge(hook.EventPreToolUse, []hook.Result{
		{Hook: guard, Status: hook.StatusFailed, Failure: hook.FailureTimeout, Reason: "no answer within 5s"},
		{Hook: audit, Status: hook.StatusSuccess, Output: hook.Allowed("looks fine")},
	})
	fmt.Println(out.Verdict)
	fmt.Println(out.Reason)
	// Output:
	// deny
	// hook user/guard failed (timeout): no answer within 5s; blocking because its on_failure is "block"
}
