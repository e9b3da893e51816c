package tenterhook_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
)

// What README's ten lines do.
func ExampleOpen() {
	ctx := context.Background()
	reg, err := tenterhook.Open(ctx, tenterhook.Options{Workspace: ".", NoHooks: true})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close()

	out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"ls"}`)})
	if err != nil || !out.MayProceed() {
		fmt.Println("refused:", out, err)
		return
	}
	fmt.Println("go on")
	// Output: go on
}
