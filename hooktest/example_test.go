//go:build !windows

package hooktest_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/hooktest"
)

// The test of an engine is one line, hooktest.Run(t, engine, hooktest.Cases()).
// A case can also be held against an engine by itself.
func Example() {
	c, err := hooktest.ParseCase("exit-2-blocks", []byte(`Exit code 2 blocks, and stderr is the reason.

Rule: Claude Code protocol: exit code 2 blocks.

-- hooks/guard/HOOK.md --
+++
event = "PreToolUse"
command = "echo 'not today' >&2; exit 2"
+++
-- event.json --
{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
-- outcome.json --
{"verdict": "deny", "reason": "not today", "results": [{"hook": "dir/guard", "status": "blocked"}]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println("wrong:", c.Check(context.Background(), hooktest.Registry(), dir))
	// Output:
	// wrong: <nil>
}
