package hooks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func toolResult(tool string, input, response any) string {
	return payload("PostToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_response": response,
		"tool_use_id": "toolu_1", "duration_ms": 12})
}

func readLog(t *testing.T, path string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

func TestAuditLogNeverLogsContents(t *testing.T) {
	needs(t, "go")
	log := filepath.Join(t.TempDir(), "sub", "calls.jsonl")
	const secret = "what-stands-in-the-file"
	for _, p := range []string{
		toolResult("Write", map[string]any{"file_path": "/project/a.go", "content": secret}, map[string]any{"text": secret}),
		toolResult("Edit", map[string]any{"file_path": "/project/a.go", "old_string": secret, "new_string": secret}, secret),
		toolResult("MultiEdit", map[string]any{"file_path": "/project/a.go", "edits": []any{map[string]any{"new_string": secret}}}, nil),
		toolResult("Bash", map[string]any{"command": "cat > a.txt <<EOF\n" + secret + "\nEOF", "description": secret}, secret),
		toolResult("Bash", map[string]any{"command": "curl -H 'Authorization: Bearer " + secret + "' https://x:" + secret + "@example.com"}, nil),
		toolResult("Bash", map[string]any{"command": "deploy --token " + secret + " API_KEY=" + secret}, nil),
		toolResult("WebFetch", map[string]any{"url": "https://u:" + secret + "@example.com/a?key=" + secret, "prompt": secret}, secret),
		toolResult("mcp__x__y", secret, secret),
		payload("PostToolUseFailure", map[string]any{"tool_name": "Read", "tool_input": map[string]any{"file_path": "/project/b"}, "error": secret}),
	} {
		if r := run(t, "audit-log", "run.sh", p, "TENTERHOOK_LOG="+log); r != (reply{}) {
			t.Fatalf("got %+v, want nothing", r)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) {
		t.Errorf("contents were logged:\n%s", text)
	}
	lines := readLog(t, log)
	if len(lines) != 9 {
		t.Fatalf("%d lines, want 9", len(lines))
	}
	input := lines[0]["input"].(map[string]any)
	if input["file_path"] != "/project/a.go" || lines[0]["tool"] != "Write" || lines[0]["id"] != "toolu_1" || lines[0]["ms"] != 12.0 {
		t.Errorf("what was called is missing: %v", lines[0])
	}
	if got := lines[3]["input"].(map[string]any)["command"]; got != "cat > a.txt <<EOF (and 2 more lines)" {
		t.Errorf("a command became %q", got)
	}
	if got := lines[6]["input"].(map[string]any)["url"]; got != "https://example.com/a" {
		t.Errorf("a URL became %q", got)
	}
	if info, _ := os.Stat(log); info.Mode().Perm() != 0o600 {
		t.Errorf("the log has mode %v, want 0600", info.Mode().Perm())
	}
}

func TestAuditLogInParallelKeepsLinesWhole(t *testing.T) {
	needs(t, "go")
	log := filepath.Join(t.TempDir(), "calls.jsonl")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			run(t, "audit-log", "run.sh", toolResult("Bash", map[string]any{"command": strings.Repeat("x ", 90)}, nil), "TENTERHOOK_LOG="+log)
		})
	}
	wg.Wait()
	if n := len(readLog(t, log)); n != 8 {
		t.Errorf("%d lines, want 8", n)
	}
}

func TestAuditLogHasAPlaceByDefaultAndMovesAFullLog(t *testing.T) {
	needs(t, "go")
	home := t.TempDir()
	log := filepath.Join(home, ".local", "state", "tenterhook", "tool-calls.jsonl")
	write(t, log, strings.Repeat("x", 11<<20))
	run(t, "audit-log", "run.sh", toolResult("Bash", map[string]any{"command": "ls"}, nil), "HOME="+home)
	if n := len(readLog(t, log)); n != 1 {
		t.Errorf("%d lines in the new log, want 1", n)
	}
	if info, err := os.Stat(log + ".1"); err != nil || info.Size() != 11<<20 {
		t.Errorf("the full log was not kept: %v", err)
	}
}
