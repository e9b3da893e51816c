package command_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
)

// The registry does this for every command hook.
func Example() {
	if _, err := os.Stat("/bin/sh"); err != nil {
		fmt.Println("deny – not today") // no shell to show it with
		return
	}
	h := &hook.Hook{ID: "dir/guard", Event: hook.EventPreToolUse, Command: &hook.Command{Line: "echo not today >&2; exit 2"}}
	call := &hook.Call{Hook: h, Input: hook.PreToolUse{ToolName: "Bash"}, Payload: []byte(`{"tool_name":"Bash"}`)}
	out, err := command.New(command.Options{}).Handle(context.Background(), call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Verdict, "–", out.Reason)
	// Output: deny – not today
}
