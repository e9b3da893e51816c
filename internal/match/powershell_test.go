package match

import (
	"encoding/json"
	"testing"
)

func TestTheToolPowerShellIsJudgedAsTextForPowerShell(t *testing.T) {
	call := func(tool, line string) *Call {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		return &Call{ToolName: tool, ToolInput: input, Cwd: "/w", Workspace: "/w", Home: "/home/u"}
	}
	for line, runs := range map[string]bool{
		"rm -rf /":                          true,
		"Remove-Item -Recurse -Force C:\\x": true,
		"ls | Remove-Item":                  true,
		"it's | out":                        true, // it cannot be read
		"Get-ChildItem":                     false,
		"git status":                        false,
	} {
		tool, text := Destructive(call("PowerShell", line)), Destructive(call("Bash", "pwsh -c "+singleQuoted(line)))
		if tool.Run != runs || text.Run != runs {
			t.Errorf("%s: as the tool %+v, handed to pwsh %+v, want %v", line, tool, text, runs)
		}
	}
	secrets, problems := ParseTouches([]string{"**/.env"}, TouchOptions{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if d := secrets.Match(call("PowerShell", "Get-Content .env"), Touch); !d.Run {
		t.Errorf("reads .env: %+v", d)
	}
}
