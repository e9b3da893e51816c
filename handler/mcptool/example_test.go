package mcptool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/hook"
)

// A host that has a policy server of its own hands it in. The registry does the
// rest for every hook of kind "mcp"; servers of the settings need no Go at all.
func Example() {
	type call struct {
		Command string `json:"command"`
	}
	policy := mcp.NewServer(&mcp.Implementation{Name: "policy", Version: "1"}, nil)
	mcp.AddTool(policy, &mcp.Tool{Name: "judge"}, func(_ context.Context, _ *mcp.CallToolRequest, in call) (*mcp.CallToolResult, any, error) {
		return nil, map[string]string{"decision": "block", "reason": "not today: " + in.Command}, nil
	})
	h := mcptool.New(mcptool.Options{Servers: map[string]mcptool.Connector{
		"policy": func(ctx context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			_, err := policy.Connect(ctx, &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
			return ours, err
		},
	}})
	defer h.Close()

	guard := &hook.Hook{ID: "user/guard", Event: hook.EventPreToolUse, Kind: hook.KindMCP, Params: hook.Params{
		"server": json.RawMessage(`"policy"`), "tool": json.RawMessage(`"judge"`),
		"input": json.RawMessage(`{"command": "${tool_input.command}"}`),
	}}
	out, err := h.Handle(context.Background(), &hook.Call{Hook: guard, Input: hook.PreToolUse{ToolName: "Bash"},
		Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Verdict, "–", out.Reason)
	// Output: deny – not today: rm -rf /
}
