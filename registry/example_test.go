package registry_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// An agent opens a registry at startup, adds a hook of its own, and asks before
// it runs a tool.
func Example() {
	ctx := context.Background()
	reg, err := registry.Open(ctx, registry.Options{Without: []hook.Scope{
		hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close()
	err = registry.On(reg, "no-sudo", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if strings.Contains(string(in.ToolInput), "sudo") {
			return hook.Denied("no sudo here"), nil
		}
		return nil, nil
	}, func(h *hook.Hook) { h.Matcher = "Bash" })
	if err != nil {
		log.Fatal(err)
	}
	out, err := reg.Dispatch(ctx, hook.PreToolUse{ToolName: "Bash", ToolInput: []byte(`{"command":"sudo ls"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Verdict, "–", out.Reason)
	// Output: deny – no sudo here
}
