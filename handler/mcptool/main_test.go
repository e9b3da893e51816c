package mcptool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// The test binary is its own MCP server: a real one of the SDK, or one that
// does what no server should.
const modeVariable = "MCPTOOL_TEST_SERVER"

func TestMain(m *testing.M) {
	mode := os.Getenv(modeVariable)
	if mode == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if file := os.Getenv("MCPTOOL_TEST_PIDFILE"); file != "" {
		_ = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	os.Exit(serve(mode))
}

func serve(mode string) int {
	switch mode {
	case "tools":
		if err := newToolServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			return 1
		}
	case "silent":
		time.Sleep(time.Minute)
	case "garbage":
		fmt.Println("Server listening on stdio…")
		time.Sleep(time.Minute)
	case "long line":
		chunk := strings.Repeat("x", 1<<20)
		for range 64 {
			fmt.Print(chunk)
		}
		time.Sleep(time.Minute)
	case "exits":
		fmt.Fprintln(os.Stderr, "no such config: policy.toml\nkey was", os.Getenv("SECRET_KEY"))
		return 3
	case "newest only":
		return serveNewestOnly()
	case "garbage in call":
		return serveRaw(func(string) string { return "panic: oh no" })
	case "huge reply":
		return serveRaw(func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 64<<20) + `"}]}}`
		})
	case "bare":
		return serveRaw(func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"{}"}]}}`
		})
	}
	return 0
}

// serveRaw is a server of a few lines: tools/call is answered with a line.
func serveRaw(answer func(id string) string) int {
	return serveLines(os.Stdin, os.Stdout, func(method, id string, _ json.RawMessage) string {
		switch method {
		case "initialize":
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}}`
		case "tools/call":
			return answer(id)
		}
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no such method"}}`
	})
}

// serveNewestOnly knows the newest revision alone.
func serveNewestOnly() int {
	return serveLines(os.Stdin, os.Stdout, func(method, id string, _ json.RawMessage) string {
		switch method {
		case "server/discover":
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
		case "tools/call":
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"newest"}]}}`
		}
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no such method"}}`
	})
}

func newToolServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	text := func(t string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}, nil, nil
	}
	type none struct{}
	type policyInput struct {
		Command string `json:"command"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "policy"}, func(_ context.Context, _ *mcp.CallToolRequest, in policyInput) (*mcp.CallToolResult, any, error) {
		if strings.HasPrefix(in.Command, "rm") {
			return text(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm"}}`)
		}
		return text("")
	})
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo " + string(r.Params.Arguments)}}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "pid"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		time.Sleep(20 * time.Millisecond)
		return text("pid " + strconv.Itoa(os.Getpid()))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("\x1b[31mthe database is away\nand the key is " + os.Getenv("SECRET_KEY"))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "leak"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("refused " + os.Getenv("SECRET_KEY"))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "crash"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "fatal: out of cheese")
		os.Exit(7)
		return nil, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(s, &mcp.Tool{Name: "nap"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		time.Sleep(700 * time.Millisecond)
		return text("pid " + strconv.Itoa(os.Getpid()))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "stop"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		stopSelf()
		return text("")
	})
	type bigInput struct {
		Bytes int `json:"bytes"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "big"}, func(_ context.Context, _ *mcp.CallToolRequest, in bigInput) (*mcp.CallToolResult, any, error) {
		return text(strings.Repeat("x", in.Bytes))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "progress"}, func(ctx context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		for i, message := range []string{"reading\x1b[2J", ""} {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Message: message, Progress: float64(i + 1), Total: 2})
		}
		time.Sleep(200 * time.Millisecond)
		return text("")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "grandchild"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		cmd := exec.Command("sleep", "60")
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, nil, err
		}
		return text("pid " + strconv.Itoa(cmd.Process.Pid))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "grown"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("grown")
		})
		return text("")
	})
	return s
}

// serveLines answers each request line by line until its input ends.
func serveLines(in interface{ Read([]byte) (int, error) }, out interface{ Write([]byte) (int, error) }, answer func(method, id string, params json.RawMessage) string) int {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		if line := answer(req.Method, string(req.ID), req.Params); line != "" {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return 1
			}
		}
	}
	return 0
}
