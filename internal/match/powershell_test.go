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
		`git commit -m "x"`:                 false,
		`git commit -m "it's für #5, x; y!" --amend`: false,
		`Get-Content "C:\a b\c.txt"`:                 false,
		`rm -rf "/"`:                                 true,
		`Remove-Item -Recurse "C:\"`:                 true,
		`git push "--force"`:                         true,
		`git commit -m "it's a rm, don't"`:           false,
		`bash -c "rm -rf /"`:                         true,
		`cmd /c "rm -rf C:\x"`:                       true,
		`pwsh -c "git status"`:                       false,
		`pwsh -c "rm -rf /"`:                         true,
		`git commit -m "$(rm x)"`:                    true,
		`git commit -m "$x"`:                         true,
		"git commit -m \"`$\"":                       true,
		`git commit -m "(x)"`:                        true,
		`git commit -m "“"`:                          true,
		`git commit -m "x"y`:                         true,
		`git commit -m ""`:                           true,
		`git commit -m "a\" x`:                       true,
		"git commit -m \"a\nb\"":                     true,
		"git commit\n-m x":                           true,
		`Remove-Item "*"`:                            true,
		`"git" status`:                               true,
		`g"it" status`:                               true,
		`Invoke-Expression "git status"`:             true,
		`IEX.exe "git status"`:                       true,
		`Start-Process "git" "status"`:               true,
		`wmic process call create "x"`:               true,
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
