package dialect

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestClaudeFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"settings", ".claude/settings.json", `{
			"permissions": {"allow": ["Bash"]},
			"hooks": {
				"PreToolUse": [{"matcher": "Bash|Write", "hooks": [
					{"type": "command", "command": "./guard.sh", "if": "Bash(rm *)", "timeout": 5, "onFailure": "block"},
					{"type": "command", "command": "./tool", "args": ["-v"]},
					{"type": "http", "url": "https://example.com/hook", "headers": {"A": "b"}, "allowedEnvVars": ["T"]},
					{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}},
					{"type": "prompt", "prompt": "fine?", "model": "m", "continueOnBlock": true},
					{"type": "agent", "prompt": "look"}
				]}],
				"SessionStart": [{"hooks": [{"type": "command", "command": "x", "shell": "bash", "async": true}]}]
			}}`, "claude",
			[]string{
				`PreToolUse "Bash|Write" if Bash(rm *) command "./guard.sh" 5s or block`,
				`PreToolUse "Bash|Write" command "./tool"["-v"]`,
				`PreToolUse "Bash|Write" http`,
				`PreToolUse "Bash|Write" mcp`,
				`PreToolUse "Bash|Write" prompt`,
				`PreToolUse "Bash|Write" agent`,
				`SessionStart command "x" in bash`,
			}, nil},
		{"plugin hooks", "p/hooks/hooks.json", `{"description": "d", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`,
			"claude", []string{`Stop command "a"`}, nil},
		{"no hooks", ".claude/settings.json", `{"permissions": {}}`, "claude", nil, nil},
		{"empty hooks", "hooks/hooks.json", `{"hooks": {}}`, "claude", nil, nil},
		{"a kind that the event does not take", "settings.json",
			`{"hooks": {"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "p"}]}]}}`, "claude",
			[]string{`SessionStart prompt (unsupported)`}, []string{"1 w unsupported_kind"}},
		{"a rule where nothing is tested", "settings.json",
			`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "if": "Bash(x)"}]}]}}`, "claude",
			[]string{`Stop if Bash(x) command "a" (unsupported)`}, []string{"1 w if_never"}},
	})
}

func TestClaudeParamsKeepTheirNames(t *testing.T) {
	got := readText("settings.json", `{"hooks": {"PreToolUse": [{"hooks": [
		{"type": "http", "url": "u", "allowedEnvVars": ["A"]}, {"type": "prompt", "prompt": "p", "continueOnBlock": true}]}]}}`)
	want := []hook.Params{
		{"url": []byte(`"u"`), "allowedEnvVars": []byte(`["A"]`)},
		{"prompt": []byte(`"p"`), "continueOnBlock": []byte(`true`)},
	}
	for i, h := range got.Hooks {
		if diff := cmp.Diff(want[i], h.Params); diff != "" {
			t.Errorf("%s (-want +got):\n%s", h.Name, diff)
		}
	}
}

func TestCodexFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"json", ".codex/hooks.json", `{"hooks": {
			"PreToolUse": [{"matcher": "^apply_patch$", "hooks": [{"type": "command", "command": "a", "commandWindows": "b", "statusMessage": "…"}]}],
			"SessionEnd": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b", "timeout": 60}]}],
			"Interrupt": [{"hooks": [{"type": "command", "command": "a"}]}]}}`, "codex",
			[]string{
				`PreToolUse "^apply_patch$|^(?:Edit|Write|MultiEdit)$"/regexp command ` + forSystem(`"a"`, `"b"`),
				`SessionEnd/regexp command "a" 1s`, `SessionEnd/regexp command "b" 3s`, `Interrupt/regexp command "a" 1s`,
			}, nil},
		{"toml", ".codex/config.toml", `
model = "m"
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "a"
timeout = 10
[[hooks.PreToolUse.hooks]]
type = "command"
command = "b"
`, "codex", []string{`PreToolUse "Bash"/regexp command "a" 10s`, `PreToolUse "Bash"/regexp command "b"`}, nil},
		{"toml without hooks", ".codex/config.toml", `model = "m"`, "codex", nil, nil},
	})
}

// forSystem is what is picked on this system.
func forSystem(here, windows string) string {
	if runtime.GOOS == "windows" {
		return windows
	}
	return here
}

func TestGeminiFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"settings", ".gemini/settings.json", `{"hooks": {
			"BeforeTool": [
				{"matcher": "write_file|replace", "sequential": true, "hooks": [{"type": "command", "command": "a", "timeout": 5000, "env": {"A": "b"}}]},
				{"matcher": "shell", "hooks": [{"type": "command", "command": "b"}]},
				{"matcher": ".*", "hooks": [{"type": "command", "command": "c"}]},
				{"matcher": "(?=write)write_file", "hooks": [{"type": "command", "command": "d"}]}],
			"AfterAgent": [{"hooks": [{"type": "command", "command": "d"}]}],
			"PreCompress": [{"matcher": "auto", "hooks": [{"type": "command", "command": "e"}]}],
			"BeforeModel": [{"hooks": [{"type": "command", "command": "f"}]}]}}`, "gemini",
			[]string{
				`PreToolUse "write_file|replace|^(?:Edit|MultiEdit|Write)$"/regexp command "a" 5s`,
				`PreToolUse "shell|^(?:Bash)$"/regexp command "b" 1m0s`,
				`PreToolUse ".*"/regexp command "c" 1m0s`,
				`PreToolUse "(?=write)write_file"/regexp command "d" 1m0s`,
				`Stop command "d" 1m0s`, `PreCompact "auto" command "e" 1m0s`, `BeforeModel command "f" 1m0s`,
			}, []string{"6 w tool_names"}},
		{"an extension", "hooks/hooks.json", `{"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "a", "timeout": 2000}]}]}}`,
			"gemini", []string{`PostToolUse/regexp command "a" 2s`}, nil},
		{"disabled by name", ".gemini/settings.json", `{"hooksConfig": {"disabled": ["n"]}, "hooks": {"SessionStart": [{"hooks": [
			{"type": "command", "command": "a", "name": "n"}, {"type": "command", "command": "b"}]}]}}`, "gemini",
			[]string{`SessionStart command "a" 1m0s (disabled)`, `SessionStart command "b" 1m0s`}, nil},
	})
	if off := readText(".gemini/settings.json", `{"hooks": {"enabled": false}}`).Settings.DisableAllHooks; off == nil || !*off {
		t.Error("enabled: false among the hooks does not disable them")
	}
}

func TestQwenFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"settings", ".qwen/settings.json", `{"hooks": {
			"PreToolUse": [{"matcher": "run_shell_command|edit", "sequential": true, "hooks": [{"type": "command", "command": "a", "timeout": 5000, "statusMessage": "M"}]}],
			"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}`, "qwen",
			[]string{`PreToolUse "run_shell_command|edit|^(?:Edit|MultiEdit|Bash)$"/regexp command "a" 5s`, `Stop command "b" 1m0s`}, nil},
	})
	if off := readText(".qwen/settings.json", `{"disableAllHooks": true}`).Settings.DisableAllHooks; off == nil || !*off {
		t.Error("disableAllHooks is not read")
	}
}

func TestCopilotFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"camelCase", ".github/hooks/x.json", `{"version": 1, "hooks": {
			"preToolUse": [{"type": "command", "bash": "./a.sh", "powershell": "./a.ps1", "cwd": "scripts", "timeoutSec": 15, "env": {"A": "1"}}],
			"userPromptSubmitted": [{"type": "command", "bash": "b", "cwd": "."}],
			"agentStop": [{"type": "command", "bash": "c"}],
			"errorOccurred": [{"type": "command", "bash": "d"}]}}`, "copilot",
			[]string{
				`PreToolUse/regexp command ` + forSystem(`"./a.sh" in bash`, `"./a.ps1" in powershell`) + ` 15s or block`,
				`UserPromptSubmit command "b" in bash 30s`, `Stop command "c" in bash 30s`, `errorOccurred command "d" in bash 30s`,
			}, nil},
		{"PascalCase with groups", ".github/hooks/x.json", `{"version": 1, "hooks": {"PostToolUse": [
			{"matcher": "view", "hooks": [{"type": "command", "command": "a", "linux": "l", "osx": "o", "windows": "w"}]}]}}`, "copilot",
			[]string{`PostToolUse "view|^(?:Read)$"/regexp command ` + map[string]string{"linux": `"l"`, "darwin": `"o"`, "windows": `"w"`}[runtime.GOOS] + ` 30s`},
			nil},
		{"told by its keys", "templates/x.json", `{"hooks": {"sessionStart": [{"type": "command", "bash": "a"}]}}`, "copilot",
			[]string{`SessionStart command "a" in bash 30s`}, nil},
		{"a prompt for the agent", "hooks/x.json", `{"hooks": {"userPromptSubmitted": [], "sessionStart": [{"type": "prompt", "prompt": "read it"}]}}`,
			"copilot", []string{`SessionStart prompt (unsupported)`}, []string{"1 w unsupported_kind"}},
	})
}

func TestCopilotFolderIsThatOfTheProject(t *testing.T) {
	got := readText("/w/.github/hooks/x.json", `{"hooks": {"sessionStart": [
		{"type": "command", "command": "a", "cwd": "sub/dir"}, {"type": "command", "command": "a", "cwd": "/abs"},
		{"type": "command", "command": "a", "cwd": "."}, {"type": "command", "command": "a", "cwd": "$HOME"}]}}`)
	for i, want := range []string{"/w/sub/dir", "/abs", "", ""} {
		if dir := got.Hooks[i].Source.Dir; dir != want {
			t.Errorf("%d: folder %q, want %q", i, dir, want)
		}
	}
}

func TestSystemCommandIsPickedBySystem(t *testing.T) {
	for _, c := range []struct {
		goos, keys string
		want       string
	}{
		{"linux", `"bash": "b", "powershell": "p"`, `"b" in bash`},
		{"darwin", `"bash": "b", "osx": "o", "linux": "l", "command": "c"`, `"o"`},
		{"darwin", `"linux": "l", "command": "c"`, `"c"`},
		{"windows", `"bash": "b", "powershell": "p", "command": "c"`, `"p" in powershell`},
		{"windows", `"bash": "b"`, `"b" in bash`},
		{"windows", `"bash": "b", "command": "c"`, `"c"`},
		{"linux", `"powershell": "p"`, "none"},
		{"linux", `"windows": "w"`, "none"},
	} {
		doc := parseConfig("x.json", []byte("{"+c.keys+"}"))
		r := newConfigReader(ConfigSource{})
		r.p = &copilotConfig
		h := &hook.Hook{}
		r.newEntry("x", doc.Root).command(h, c.goos)
		got := "none"
		if h.Command != nil {
			h.Kind = ""
			got = describe(&hook.Hook{Command: h.Command, State: hook.StateReady})[2:]
		} else if h.Why == "" {
			t.Errorf("%s {%s}: no command, and no reason", c.goos, c.keys)
		}
		if got != c.want {
			t.Errorf("%s {%s}: %s, want %s", c.goos, c.keys, got, c.want)
		}
	}
}

func TestCursorFiles(t *testing.T) {
	const edits = `Edit|Write|MultiEdit|NotebookEdit`
	checkConfigs(t, []configCase{
		{"events about one tool", ".cursor/hooks.json", `{"version": 1, "hooks": {
			"beforeShellExecution": [
				{"command": "a"},
				{"command": "b", "matcher": "git push", "failClosed": true},
				{"command": "c", "matcher": "curl|wget"}],
			"beforeMCPExecution": [{"command": "d"}, {"command": "e", "matcher": "MCP:write|github"}],
			"beforeReadFile": [{"command": "f"}],
			"afterFileEdit": [{"command": "g", "matcher": "Write"}],
			"stop": [{"command": "h", "loop_limit": 3, "timeout": 10}],
			"afterAgentResponse": [{"command": "i"}]}}`, "cursor",
			[]string{
				`PreToolUse "Bash" command "a"`,
				`PreToolUse "Bash" if Bash(*git push*) command "b" or block`,
				`PreToolUse "Bash" command "c"`,
				`PreToolUse "mcp__.*" command "d"`,
				`PreToolUse "^(?=(?:mcp__.*)$).*(?:mcp__.*__write|github)"/regexp command "e"`,
				`PreToolUse "Read" command "f"`,
				`PostToolUse "^(?=(?:` + edits + `)$).*(?:Write|^(?:Edit|MultiEdit|NotebookEdit)$)"/regexp command "g"`,
				`Stop command "h" 10s`, `afterAgentResponse command "i"`,
			}, []string{"5 w command_matcher"}},
		{"tools", "hooks-cursor/hooks.json", `{"version": 1, "hooks": {"beforeSubmitPrompt": [{"command": "a"}],
			"preToolUse": [{"command": "b", "matcher": "Shell|Read"}]}}`, "cursor",
			[]string{`UserPromptSubmit command "a"`, `PreToolUse "Shell|Read|^(?:Bash)$"/regexp command "b"`}, nil},
		{"a name that is none of Cursor's", ".cursor/hooks.json", `{"version": 1, "hooks": {"userPromptSubmit": [{"command": "a"}], "whenever": [{"command": "b"}]}}`,
			"cursor", []string{`UserPromptSubmit command "a"`, `whenever command "b"`},
			[]string{"1 w unknown_event", "1 w unknown_event"}},
	})
}

func TestWindsurfFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"hooks", ".windsurf/hooks.json", `{"hooks": {
			"pre_run_command": [{"command": "a", "show_output": true, "working_directory": "sub"}],
			"pre_write_code": [{"command": "b"}], "post_mcp_tool_use": [{"command": "c"}],
			"pre_user_prompt": [{"command": "d"}], "post_cascade_response": [{"command": "e"}]}}`, "windsurf",
			[]string{
				`PreToolUse "Bash" command "a"`, `PreToolUse "Edit|Write|MultiEdit|NotebookEdit" command "b"`,
				`PostToolUse "mcp__.*" command "c"`, `UserPromptSubmit command "d"`, `Stop command "e"`,
			}, nil},
		{"told by its events", "x/hooks.json", `{"hooks": {"pre_read_code": [{"command": "a"}]}}`, "windsurf",
			[]string{`PreToolUse "Read" command "a"`}, nil},
	})
}

func TestKiroFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"an agent", ".kiro/agents/a.json", `{"name": "a", "tools": ["*"], "hooks": {
			"agentSpawn": [{"command": "a", "cache_ttl_seconds": 60}],
			"preToolUse": [{"matcher": "execute_bash", "command": "b", "timeout_ms": 2000}, {"matcher": "fs_*", "command": "c"},
				{"matcher": "@git/status", "command": "d"}, {"matcher": "@git", "command": "e"}, {"matcher": "@builtin", "command": "f"}],
			"stop": [{"command": "g"}]}}`, "kiro",
			[]string{
				`SessionStart command "a" 30s`,
				`PreToolUse "^execute_bash$|^(?:Bash)$"/regexp command "b" 2s`,
				`PreToolUse "^fs_.*$|^(?:Read|Write|Edit|MultiEdit|NotebookEdit)$"/regexp command "c" 30s`,
				`PreToolUse "^mcp__git__status$"/regexp command "d" 30s`,
				`PreToolUse "^mcp__git__"/regexp command "e" 30s`,
				`PreToolUse "^(?:[^m]|m[^c]|mc[^p])"/regexp command "f" 30s`,
				`Stop command "g" 30s`,
			}, nil},
		{"an agent without hooks", ".kiro/agents/a.json", `{"name": "a"}`, "kiro", nil, nil},
		{"a hook of the editor", ".kiro/hooks/lint.kiro.hook", `{"enabled": true, "name": "Lint", "version": "1",
			"when": {"type": "fileEdited", "patterns": ["src/**/*.ts"]}, "then": {"type": "runCommand", "command": "npm run lint"}}`, "kiro",
			[]string{`FileChanged "^.*\\.ts$" command "npm run lint" 30s`}, nil},
		{"one that asks the agent", ".kiro/hooks/doc.kiro.hook", `{"enabled": false, "name": "Doc",
			"when": {"type": "userTriggered"}, "then": {"type": "askAgent", "prompt": "document it"}}`, "kiro",
			[]string{`userTriggered askAgent (disabled)`}, []string{"2 w unknown_type"}},
	})
}

func TestFactoryFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"hooks", ".factory/hooks.json", `{"PreToolUse": [{"matcher": "Execute|Create", "hooks": [{"type": "command", "command": "a", "timeout": 30}]}]}`,
			"factory", []string{`PreToolUse "Execute|Bash|Create|Write" command "a" 30s`}, nil},
		{"settings", ".factory/settings.json", `{"hooks": {"PostToolUse": [{"matcher": "^Fetch", "hooks": [{"type": "command", "command": "a"}]}]}}`,
			"factory", []string{`PostToolUse "^Fetch|^(?:WebFetch)$" command "a"`}, nil},
	})
}

func TestAntigravityFiles(t *testing.T) {
	checkConfigs(t, []configCase{
		{"named hooks", ".agents/hooks.json", `{
			"lint": {"PostToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "a", "timeout": 10}]}]},
			"gate": {"enabled": false, "PreToolUse": [{"matcher": "*", "hooks": [{"command": "b"}]}]},
			"note": {"PreInvocation": [{"type": "command", "command": "c"}], "Stop": [{"command": "d"}]}}`, "antigravity",
			[]string{
				`PostToolUse "run_command|^(?:Bash)$"/regexp command "a" 10s`, `PreToolUse "*"/regexp command "b" (disabled)`,
				`PreInvocation command "c"`, `Stop command "d"`,
			}, nil},
		{"the usual shape in the same place is somebody else's", ".agents/plugins/p/hooks/hooks.json",
			`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`, "claude", []string{`Stop command "a"`}, nil},
	})
	got := readText(".agents/hooks.json", `{"lint": {"Stop": [{"command": "a"}]}}`)
	if got.Hooks[0].Name != "hooks.json:lint.Stop[0]" {
		t.Errorf("name %q", got.Hooks[0].Name)
	}
}

func TestCalibanFiles(t *testing.T) {
	const hooks = `
[[hooks.PreToolUse]]
matcher = "Bash*"
if = "Bash:rm *"
[[hooks.PreToolUse.handlers]]
type = "command"
command = "a"
timeout = "200ms"
async = true
[[hooks.PreToolUse.handlers]]
type = "mcp"
mcp = "srv"
tool = "t"
if = "Bash(git *)"
matcher = "B*"
[[hooks.Stop]]
handlers = [{type = "agent", agent = "x", prompt = "p"}, {type = "http", url = "u"}]
`
	want := []string{
		`PreToolUse "Bash*"/glob if Bash:rm * command "a" 200ms`, `PreToolUse "B*"/glob if Bash(git *) mcp`,
		`Stop/glob agent`, `Stop/glob http`,
	}
	checkConfigs(t, []configCase{
		{"settings", ".caliban/settings.toml", "disable_all_hooks = false\n" + hooks, "caliban", want, []string{"16 w matcher_twice"}},
		{"the older file", ".caliban/hooks.toml", hooks, "caliban", want, []string{"1 w deprecated", "15 w matcher_twice"}},
		{"json", ".caliban/settings.json", `{"hooks": {"Stop": [{"handlers": [{"type": "command", "command": "a"}]}]}}`, "caliban",
			[]string{`Stop/glob command "a"`}, nil},
	})
	got := readText(".caliban/settings.toml", hooks)
	for _, h := range got.Hooks {
		if h.Protocol != hook.ProtocolCaliban {
			t.Errorf("%s: protocol %q", h.Name, h.Protocol)
		}
	}
	if !got.Hooks[0].Async || string(got.Hooks[1].Params["server"]) != `"srv"` || string(got.Hooks[2].Params["agent"]) != `"x"` {
		t.Errorf("async %v, params %v %v", got.Hooks[0].Async, got.Hooks[1].Params, got.Hooks[2].Params)
	}
	for i, line := range []int{5, 10, 17, 17} {
		if got.Hooks[i].Source.Line != line {
			t.Errorf("%s: line %d, want %d", got.Hooks[i].Name, got.Hooks[i].Source.Line, line)
		}
	}
}

func TestOurOwnFiles(t *testing.T) {
	got := readText("/home/u/.config/tenterhook/settings.toml", `
[[hooks.PreToolUse]]
name = "guard"
matcher = "Bash"
command = "./guard"
on_failure = "block"
priority = 5
rewrites = true
protocol = "moltis"
env = {A = "b"}
breaker = {failures = 3, cooldown = "10s"}
requires = {bins = ["jq"], os = ["linux"]}

[[hooks.Stop]]
hooks = [{type = "command", command = "a"}, {type = "plugin", hook = "h"}]

[[hooks.Setup]]
handlers = [{type = "command", command = "b", enabled = false}]
`)
	want := []string{
		`PreToolUse "Bash" command "./guard" or block`, `Stop command "a"`, `Stop plugin`, `Setup command "b" (disabled)`,
	}
	if diff := cmp.Diff(want, describeAll(got)); diff != "" || len(got.Notes) > 0 || got.Product != "tenterhook" {
		t.Errorf("%s: -want +got:\n%s\n%v", got.Product, diff, got.Notes)
	}
	h := got.Hooks[0]
	if h.Name != "guard" || h.Priority != 5 || !h.Rewrites || h.Protocol != hook.ProtocolMoltis || h.Env["A"] != "b" ||
		h.Breaker.Failures != 3 || h.Requires.Bins[0] != "jq" || h.Source.Line != 2 {
		t.Errorf("%+v", h)
	}
}
