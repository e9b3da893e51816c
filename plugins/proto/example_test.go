package proto_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tenterhook/tenterhook/plugins/proto"
)

// guard is a plugin with one hook, as the protocol has it. In Go package serve
// does all of this, and the handshake.
type guard struct{ proto.UnimplementedHooksServer }

func (guard) Health(context.Context, *proto.HealthRequest) (*proto.HealthResponse, error) {
	return &proto.HealthResponse{}, nil
}

func (guard) Describe(context.Context, *proto.DescribeRequest) (*proto.DescribeResponse, error) {
	return &proto.DescribeResponse{Name: "guard", Version: "1.0.0", Hooks: []*proto.Hook{
		{Name: "no-rm", Event: "PreToolUse", Matcher: "Bash", OnFailure: "block"},
	}}, nil
}

// Handle answers as a command hook does: with JSON on stdout, or with exit code
// 2 and a reason. The zero answer is no opinion.
func (guard) Handle(_ context.Context, r *proto.HandleRequest) (*proto.HandleResponse, error) {
	if bytes.Contains(r.GetInput(), []byte("rm -rf")) {
		return &proto.HandleResponse{ExitCode: 2, Stderr: "rm -rf is not for agents"}, nil
	}
	return &proto.HandleResponse{}, nil
}

func Example() {
	var plugin proto.HooksServer = guard{}
	ctx := context.Background()
	described, err := plugin.Describe(ctx, &proto.DescribeRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hook := range described.GetHooks() {
		fmt.Println(hook.GetEvent(), hook.GetMatcher(), hook.GetName())
	}
	for _, command := range []string{"ls", "rm -rf /"} {
		answer, err := plugin.Handle(ctx, &proto.HandleRequest{Hook: "no-rm", Event: "PreToolUse",
			Input: fmt.Appendf(nil, `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q}}`, command)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d %q\n", command, answer.GetExitCode(), answer.GetStderr())
	}

	// Output:
	// PreToolUse Bash no-rm
	// ls: 0 ""
	// rm -rf /: 2 "rm -rf is not for agents"
}
