package mcptool_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenterhook/tenterhook/hook"
)

// BenchmarkCall is a call of a tool over stdio through Handle, and in the same
// run, by turns, the SDK's bare CallTool of the same server. Both revisions of
// the protocol that the SDK speaks are floors: its newest sends more with each
// call.
func BenchmarkCall(b *testing.B) {
	spec := local(b, "tools")
	h := with(b, spec)
	c := call("policy", `{"command":"${tool_input.command}"}`)
	ctx := context.Background()
	bare := bareSession(b, "2025-11-25")
	newest := bareSession(b, "")
	input := json.RawMessage(`{"command":"rm -rf /"}`)
	var ours, floor, newestFloor time.Duration
	turn := func(sum *time.Duration, f func() error) {
		began := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		*sum += time.Since(began)
	}
	throughHandle := func() error {
		run := *c
		_, err := h.Handle(ctx, &run)
		return err
	}
	throughSDK := func(s *mcp.ClientSession) func() error {
		return func() error {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "policy", Arguments: input})
			return err
		}
	}
	for range 50 {
		var warm time.Duration
		turn(&warm, throughHandle)
		turn(&warm, throughSDK(bare))
		turn(&warm, throughSDK(newest))
	}
	n := 0
	for b.Loop() {
		n++
		turn(&ours, throughHandle)
		turn(&floor, throughSDK(bare))
		turn(&newestFloor, throughSDK(newest))
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(n), "µs/call")
	b.ReportMetric(float64(floor.Microseconds())/float64(n), "µs/bare")
	b.ReportMetric(float64(ours)/float64(floor), "×bare")
	b.ReportMetric(float64(ours)/float64(newestFloor), "×newest")
}

func bareSession(b *testing.B, version string) *mcp.ClientSession {
	b.Helper()
	spec := local(b, "tools")
	cmd := exec.Command(spec.Command)
	cmd.Env = append(cmd.Environ(), modeVariable+"=tools")
	client := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	s, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkInput is what the placeholders of an input cost.
func BenchmarkInput(b *testing.B) {
	h := hosted(b, answering(`{"content":[]}`))
	in := hook.PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"rm -rf /"}`)}
	c := callFor(in, "s", "t", `{"command":"${tool_input.command}","note":"by ${tool_name}"}`)
	for b.Loop() {
		run := *c
		if _, err := h.Handle(context.Background(), &run); err != nil {
			b.Fatal(err)
		}
	}
}
