package agents

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The test binary is also the MCP server of the clients, and a bridge, under other names.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "probe-mcp":
		serveMCP()
		return
	case "tenterhook-bridge":
		fakeBridge()
	}
	checks := "40" // for each of eight agents; the command line sets another number
	if runtime.GOOS == "windows" {
		checks = "4" // each takes ten times as long under Wine
	}
	_ = flag.Set("rapid.checks", checks)
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // sessions wait more than they compute
	flag.Parse()
	code := m.Run()
	if *update {
		if err := writeTable(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	} else if missing := unseen(); code == 0 && wholeRun() && len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "%s says that these were seen; no test sees them: %q\n", tableFile, missing)
		code = 1
	}
	if built != "" {
		_ = os.RemoveAll(built) // a leftover harms nothing
	}
	os.Exit(code)
}

// wholeRun reports whether all tests run.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

// serveMCP is an MCP server with one tool, mark, which makes the file that it is
// given.
func serveMCP() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct{ Path string }
			}
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		result := any(map[string]any{})
		switch r.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": r.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "probe", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "mark", "description": "makes a file", "inputSchema": map[string]any{
				"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}, "required": []string{"path"}}}}}
		case "tools/call":
			text := "MARKED"
			if err := os.WriteFile(r.Params.Arguments.Path, []byte("x"), 0o644); err != nil {
				text = err.Error()
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
		}
		answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result})
		if err != nil {
			return
		}
		fmt.Println(string(answer))
	}
}
