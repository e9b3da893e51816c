package hooks_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// everyday returns the commands of testdata/everyday.txt, and which of them
// speak to the network.
func everyday(t *testing.T) (commands []string, speaks map[string]bool) {
	t.Helper()
	data, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	speaks = map[string]bool{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, network := strings.CutPrefix(line, "@")
		if strings.HasPrefix(line, `"`) {
			if line, err = strconv.Unquote(line); err != nil {
				t.Fatal(err)
			}
		}
		commands = append(commands, line)
		speaks[line] = network
	}
	return commands, speaks
}

// inProject is the payload of a command in a project that has the files which
// guards are about.
func inProject(t *testing.T) func(command string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "project-") // in lower case, as patterns are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{".env", ".env.example", "main.go", "README.md", "src/main.go", "src/key.pem", ".git/config", ".gitignore", "go.mod"} {
		write(t, dir+"/"+name, "x\n")
	}
	return func(command string) string {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return payload("PreToolUse", map[string]any{"cwd": dir, "tool_name": "Bash", "tool_input": json.RawMessage(input), "tool_use_id": "toolu_1"})
	}
}

func TestGuardsLetEverydayCommandsPass(t *testing.T) {
	commands, speaks := everyday(t)
	if len(commands) < 300 {
		t.Errorf("%d commands, want at least 300", len(commands))
	}
	call := inProject(t)
	judge := rules(t, "guard-destructive", "protect-secrets", "protect-secrets-from-changes", "ask-before-push")
	asked := 0
	for _, command := range commands {
		switch verdict, why := judge(call(command)); verdict {
		case "none":
		case "ask":
			asked++
			t.Logf("asked: %s\n\t%s", command, why)
		default:
			t.Errorf("%s: %s\n\t%s", verdict, command, why)
		}
	}
	t.Logf("%d of %d asked about", asked, len(commands))
	if asked*20 > len(commands) {
		t.Errorf("%d of %d commands are asked about, want at most 5 %%", asked, len(commands))
	}

	network := rules(t, "ask-before-network")
	for _, command := range commands {
		switch verdict, why := network(call(command)); {
		case verdict == "none":
		case verdict != "ask":
			t.Errorf("network: %s: %s\n\t%s", verdict, command, why)
		case !speaks[command]:
			t.Errorf("speaks to no network: %s\n\t%s", command, why)
		}
	}
}
