package match

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	regexp2.StopTimeoutClock() // would end by itself, a second later
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// load reads a file of testdata.
func load(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// bash makes a call of Bash.
func bash(t testing.TB, command string) *Call {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return &Call{ToolName: "Bash", ToolInput: input}
}

// tool makes a call in a workspace like that of the observations.
func tool(name, input string) *Call {
	return &Call{ToolName: name, ToolInput: json.RawMessage(input), Cwd: "/tmp/d/w", Workspace: "/tmp/d/w", Home: "/tmp/d/h"}
}
