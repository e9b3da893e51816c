package protect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/protect"
)

// installed is the protection of a user whose Claude Code has its entries from a program
// that is in a directory with a space.
func installed(t *testing.T) (ask func(tool, key, value string) hook.Verdict, home string) {
	t.Helper()
	home = t.TempDir()
	state := filepath.Join(home, "AppData", "Local", "tenterhook")
	receipt, _ := json.Marshal(map[string]any{"agent": "claude", "program": filepath.Join(home, "Program Files", "th", "tenterhook-bridge.exe"),
		"files": []map[string]any{{"path": filepath.Join(home, ".claude", "settings.json")}}})
	if err := os.MkdirAll(filepath.Join(state, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "agents", "claude-user.json"), receipt, 0o600); err != nil {
		t.Fatal(err)
	}
	guard := protect.New(nil, nil, protect.Dirs{Home: home, Config: filepath.Join(home, "AppData", "Roaming", "tenterhook"), Data: state, State: state}).Guard()
	return func(tool, key, value string) hook.Verdict {
		t.Helper()
		input, _ := json.Marshal(map[string]string{key: value})
		out, err := guard.Handler.Handle(t.Context(), &hook.Call{ProjectDir: filepath.Join(home, "code"), Dir: filepath.Join(home, "code"),
			Input: hook.PreToolUse{ToolName: tool, ToolInput: input}})
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			return hook.NoOpinion
		}
		return out.Verdict
	}, home
}

func TestTheGuardsAreKeptFromPowerShell(t *testing.T) {
	ask, home := installed(t)
	for line, want := range map[string]hook.Verdict{
		`Remove-Item -Recurse -Force ~/AppData/Roaming/tenterhook`: hook.Deny, `ri -r $env:APPDATA/tenterhook`: hook.Deny, `Remove-Item -Recurse ~/.claude`: hook.Deny,
		`Set-Content $HOME/.claude/settings.json '{}'`: hook.Deny, `'{}' > ~/.claude/settings.json`: hook.Deny, `gc x | Out-File ~/.claude/settings.json`: hook.Deny,
		"Get-Content ~/.claude/settings.json\nRemove-Item ~/.claude/settings.json": hook.Deny, `gc x; del ~/.claude/settings.json`: hook.Deny,
		`tenterhook disable user/g`: hook.Deny, `tenterhook.exe uninstall claude --yes`: hook.Deny, `& "$HOME/Program Files/th/tenterhook.exe" trust --all`: hook.Deny,
		`Stop-Process -Name tenterhook`: hook.Deny, `taskkill /f /im tenterhook.exe`: hook.Deny, `Get-Process tenterhook | Stop-Process`: hook.Deny,
		`schtasks /create /tn x /tr y`: hook.Deny, `Register-ScheduledTask -TaskName x`: hook.Deny, "Remove-Item $env:APP`DATA/tenterhook": hook.Deny,
		`git diff --output=$HOME/.claude/settings.json`: hook.Deny,
		`Remove-Item -Recurse build`:                    hook.NoOpinion, `Get-Content ~/.claude/settings.json`: hook.NoOpinion, `ls`: hook.NoOpinion, `tenterhook list`: hook.NoOpinion,
		`npm test; if ($?) { git push }`: hook.NoOpinion, `git commit -m "tenterhook disable"`: hook.NoOpinion, `Get-ChildItem -Recurse $env:APPDATA/tenterhook`: hook.NoOpinion,
		`Remove-Item ~/code/x.txt`: hook.NoOpinion, `Stop-Process -Name node`: hook.NoOpinion,
	} {
		if got := ask("PowerShell", "command", line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
		if runtime.GOOS == "windows" {
			if line := strings.ReplaceAll(strings.ReplaceAll(line, "/", `\`), "~", home); !strings.Contains(line, `\f`) && ask("PowerShell", "command", line) != want {
				t.Errorf("%s: want %v", line, want)
			}
		}
	}
}

func TestTheGuardsAreKeptUnderEachSpellingOfAWindowsPath(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("only Windows has drives")
	}
	ask, home := installed(t)
	drive, below := strings.ToLower(home[:1]), filepath.ToSlash(home[2:])
	for _, settings := range []string{
		filepath.Join(home, ".claude", "settings.json"), "/" + drive + below + "/.claude/settings.json", drive + ":" + below + "/.CLAUDE/Settings.json",
		`\\?\` + filepath.Join(home, ".claude", "settings.json"), `\\localhost\` + drive + `$` + filepath.FromSlash(below) + `\.claude\settings.json`,
		filepath.Join(home, ".claude", "settings.json."), filepath.Join(home, ".claude", "settings.json::$DATA"),
	} {
		for tool, key := range map[string]string{"Write": "file_path", "Edit": "file_path"} {
			if got := ask(tool, key, settings); got != hook.Deny {
				t.Errorf("%s of %s: %v, want deny", tool, settings, got)
			}
		}
		for _, line := range []string{`echo '{}' > '%s'`, `rm '%s'`, `cmd //c del '%s'`} {
			if line := strings.ReplaceAll(line, "%s", settings); ask("Bash", "command", line) != hook.Deny {
				t.Errorf("%s: want deny", line)
			}
		}
	}
	for _, path := range []string{filepath.Join(home, ".claude", "settings.json"), "/" + drive + below + "/.claude/settings.json"} {
		if got := ask("mcp__fs__write_file", "path", path); got != hook.Deny {
			t.Errorf("another tool on %s: %v, want deny", path, got)
		}
	}
	for line, want := range map[string]hook.Verdict{
		`rm -rf build`: hook.NoOpinion, `rm -rf ` + filepath.ToSlash(home) + `/code/build`: hook.NoOpinion, `rm -rf ` + filepath.ToSlash(home): hook.Deny, `rm -rf /` + drive + filepath.ToSlash(filepath.Dir(home)[2:]): hook.Deny,
		`"` + filepath.ToSlash(home) + `/Program Files/th/tenterhook.exe" disable x`: hook.Deny, `tenterhook.exe disable x`: hook.Deny, `cmd //c rd //s //q '` + home + `'`: hook.Deny,
		`cmd /c "tenterhook disable x"`: hook.Deny, `powershell -c "Remove-Item ~/.claude/settings.json"`: hook.Deny, `cat ~/.claude/settings.json`: hook.NoOpinion, `npm.cmd test`: hook.NoOpinion,
	} {
		if got := ask("Bash", "command", line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
