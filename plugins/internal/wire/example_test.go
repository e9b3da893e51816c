package wire_test

import (
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// A hook as its author declares it, as the host has it, and what the host makes
// of an answer.
func Example() {
	declared := &hook.Hook{Name: "tests", Event: hook.EventStop, Timeout: 5 * time.Second}
	described := &proto.DescribeResponse{Name: "guard", Hooks: []*proto.Hook{wire.Describe(declared)}}
	hooks, err := wire.Hooks("guard", described)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(hooks[0].Kind, hooks[0].Name, hooks[0].Event, hooks[0].Timeout)

	call := &hook.Call{Hook: hooks[0], Input: hook.Stop{}}
	out, err := wire.Read(dialect.Reader{}, call, &proto.HandleResponse{ExitCode: 2, Stderr: "the tests fail"})
	fmt.Println(out.Verdict, out.Reason, err)

	// Output:
	// plugin tests Stop 5s
	// deny the tests fail <nil>
}
