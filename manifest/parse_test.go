package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/manifest"
)

// everything is what the manifests below say with every shared key.
func everything(line int) *hook.Hook {
	src := source.Source
	src.Line = line
	return &hook.Hook{
		ID: "project/guard", Name: "guard", Description: "Guards.", Event: hook.EventPreToolUse, Matcher: "Bash", If: hook.Rules{"Bash(rm *)"},
		Kind: hook.KindCommand, Scope: hook.ScopeProject, Source: src, Protocol: hook.ProtocolClaudeLegacy,
		Timeout: 1500 * time.Millisecond, OnFailure: hook.FailureBlock, Priority: -3, Rewrites: true, Once: true,
		StatusMessage: "guarding", Env: map[string]string{"LEVEL": "high", "N": "3", "ON": "true"},
		Requires: hook.Requires{Bins: []string{"jq"}, AnyBins: []string{"a", "b"}, Envs: []string{"TOKEN", "HOST"}, OS: []string{"linux", "macos", "windows"}},
		Breaker:  hook.BreakerSettings{Failures: 2, Cooldown: 90 * time.Second},
		Command:  &hook.Command{Line: "./guard", Args: []string{"-v", ""}},
		State:    hook.StateReady,
	}
}

func TestEveryKeyIsReadInEveryLanguage(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
	}{
		{"TOML", inTOML(`name = "guard"
description = "Guards."
event = "PreToolUse"
matcher = "Bash"
if = "Bash(rm *)"
type = "command"
command = "./guard"
args = ["-v", ""]
timeout = 1.5
on_failure = "block"
once = true
priority = -3
rewrites = true
protocol = "claude-legacy"
enabled = true
status_message = "guarding"
env = { LEVEL = "high", N = 3, ON = true }
[requires]
bins = "jq"
any_bins = ["a", "b"]
envs = ["TOKEN"]
env = ["HOST"]
os = ["linux", "darwin", "win32"]
[breaker]
failures = 2
cooldown = "90s"`), 4},
		{"YAML", inYAML(`name: guard
description: Guards.
events: [PreToolUse]
matcher: Bash
if: Bash(rm *)
command: ./guard
args:
  - -v
  - ""
timeout: 1.5
onFailure: block
once: true
priority: -3
rewrites: true
protocol: claude-legacy
statusMessage: guarding
env: {LEVEL: high, N: 3, ON: true}
requires:
  bins: [jq]
  anyBins: [a, b]
  envs: TOKEN
  env: [HOST]
  os: [Linux, macos, windows]
breaker: {failures: 2, cooldown: 1m30s}`), 4},
		{"JSON", `{
"name": "guard", "description": "Guards.",
"event": ["PreToolUse"], "matcher": "Bash", "if": "Bash(rm *)",
"command": ["./guard", "-v", ""], "timeout": "1.5s", "onFailure": "block", "once": true, "priority": -3,
"rewrites": true, "protocol": "claude-legacy", "statusMessage": "guarding",
"env": {"LEVEL": "high", "N": 3, "ON": true},
"requires": {
  "bins": ["jq"], "anyBins": ["a", "b"], "envs": ["TOKEN", "HOST"], "os": ["linux", "macos", "win32"]
}

, "breaker": {"failures": 2, "cooldown": 90}
}

What it does.
`, 3},
		{"JSON between fences", ";;;\n" + `{"name": "guard", "description": "Guards.", "event": "PreToolUse", "matcher": "Bash", "if": "Bash(rm *)",
"command": "./guard", "args": ["-v", ""], "timeout": 1.5, "on_failure": "block", "once": true, "priority": -3,
"rewrites": true, "protocol": "claude-legacy", "status_message": "guarding", "env": {"LEVEL": "high", "N": 3, "ON": true},
"bins": ["jq"], "any_bins": ["a", "b"], "envs": ["TOKEN", "HOST"], "os": ["linux", "macos", "win32"],
"breaker": {"failures": 2, "cooldown": 90}}
;;;
`, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, notes := one(t, test.text)
			if diff := cmp.Diff(everything(test.line), got); diff != "" {
				t.Error(diff)
			}
			if len(notes) != 0 {
				t.Error(notes)
			}
		})
	}
}

func TestLittleIsEnough(t *testing.T) {
	got, notes := one(t, inTOML("event = \"Stop\"\ncommand = \" ./run \""))
	src := source.Source
	src.Line = 2
	want := &hook.Hook{
		ID: "project/folder", Name: "folder", Event: hook.EventStop, Kind: hook.KindCommand, Scope: hook.ScopeProject, Source: src,
		Command: &hook.Command{Line: "./run"}, State: hook.StateReady,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(notes) != 0 {
		t.Error(diff, notes)
	}
}

func TestEachKindKeepsItsOwnKeys(t *testing.T) {
	tests := []struct {
		text string
		kind hook.Kind
		want map[string]string
	}{
		{"type = \"http\"\nurl = \"https://x\"\nmethod = \"PUT\"\nallowed_env_vars = [\"A\"]\n[headers]\nAuthorization = \"Bearer $A\"", hook.KindHTTP,
			map[string]string{"url": `"https://x"`, "method": `"PUT"`, "allowedEnvVars": `["A"]`, "headers": `{"Authorization":"Bearer $A"}`}},
		{"type = \"mcp\"\nserver = \"s\"\ntool = \"t\"\n[input]\nn = 1\ndeep = {list = [1.5, true, \"${a.b}\"]}", hook.KindMCP,
			map[string]string{"server": `"s"`, "tool": `"t"`, "input": `{"deep":{"list":[1.5,true,"${a.b}"]},"n":1}`}},
		{"type = \"mcp_tool\"\nserver = \"s\"\ntool = \"t\"", hook.KindMCP, map[string]string{"server": `"s"`, "tool": `"t"`}},
		{"type = \"prompt\"\nprompt = \"is it safe?\"\nmodel = \"m\"\ncontinueOnBlock = true", hook.KindPrompt,
			map[string]string{"prompt": `"is it safe?"`, "model": `"m"`, "continueOnBlock": "true"}},
		{"type = \"agent\"\nprompt = \"look\"\nschema = {type = \"object\"}", hook.KindAgent, map[string]string{"prompt": `"look"`, "schema": `{"type":"object"}`}},
		{"type = \"plugin\"", hook.KindPlugin, map[string]string{}},
		{"type = \"plugin\"\nhook = \"audit\"", hook.KindPlugin, map[string]string{"hook": `"audit"`}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, notes := one(t, inTOML("event = \"PreToolUse\"\n"+test.text))
			params := make(map[string]string)
			for key, raw := range got.Params {
				if !json.Valid(raw) {
					t.Errorf("%s is no JSON: %s", key, raw)
				}
				params[key] = string(raw)
			}
			if diff := cmp.Diff(test.want, params); diff != "" || got.Kind != test.kind || got.State != hook.StateReady || got.Command != nil || len(notes) != 0 {
				t.Error(diff, got.Kind, got.State, notes)
			}
		})
	}
}

func TestManyEventsAreManyHooksOfOneID(t *testing.T) {
	hooks, notes := manifest.Parse(source, []byte(inTOML("events = [\"PreToolUse\", \"Stop\", \"TeatimeReached\"]\nevent = \"SessionEnd\"\ncommand = \"x\"\non_failure = \"block\"")))
	var events []hook.Event
	for _, h := range hooks {
		events = append(events, h.Event)
		if h.ID != "project/folder" || h.State != hook.StateReady {
			t.Errorf("%s on %s is %s", h.ID, h.Event, h.State)
		}
	}
	if diff := cmp.Diff([]hook.Event{"SessionEnd", "PreToolUse", "Stop", "TeatimeReached"}, events); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"warning unknown_event:3", "warning no_effect:5", "warning no_effect:5", "warning no_effect:5"}, short(notes)); diff != "" {
		t.Error(diff)
	}
}

func TestHooksOfOneManifestShareNothingThatSettles(t *testing.T) {
	hooks, _ := manifest.Parse(source, []byte(inTOML("events = [\"PreToolUse\", \"SessionStart\"]\ntype = \"http\"\nurl = \"https://x\"")))
	if hooks[0].State != hook.StateReady || hooks[0].Why != "" || hooks[1].State != hook.StateUnsupported {
		t.Errorf("states %s (%s), %s", hooks[0].State, hooks[0].Why, hooks[1].State)
	}
	if !strings.Contains(hooks[1].Why, "SessionStart") || !strings.Contains(hooks[1].Why, "http") {
		t.Errorf("why %q names not both", hooks[1].Why)
	}
}

func TestIDsOfPluginPackagesKeepApart(t *testing.T) {
	src := source
	src.Scope, src.Package = hook.ScopePlugin, "tools"
	hooks, _ := manifest.Parse(src, []byte(inTOML("event = \"Stop\"\ncommand = \"x\"\nname = \"guard\"")))
	if hooks[0].ID != "plugin/tools/guard" {
		t.Error(hooks[0].ID)
	}
}

func TestFences(t *testing.T) {
	want, _ := one(t, inTOML("event = \"Stop\"\ncommand = \"x\""))
	tests := []struct{ name, text string }{
		{"CRLF", "+++\r\nevent = \"Stop\"\r\ncommand = \"x\"\r\n+++\r\nbody\r\n"},
		{"byte order mark", "\ufeff+++\nevent = \"Stop\"\ncommand = \"x\"\n+++\n"},
		{"blank lines before", "\n \n+++\nevent = \"Stop\"\ncommand = \"x\"\n+++\n"},
		{"space behind", "+++ \nevent = \"Stop\"\ncommand = \"x\"\n+++\t\n"},
		{"no line end at the end", "+++\nevent = \"Stop\"\ncommand = \"x\"\n+++"},
		{"another in the body", "+++\nevent = \"Stop\"\ncommand = \"x\"\n+++\n+++\nevent = 1\n+++\n"},
		{"---toml", "---toml\nevent = \"Stop\"\ncommand = \"x\"\n---\n"},
		{"---yaml", "---yaml\nevent: Stop\ncommand: x\n---\n"},
		{"---json", "---json\n{\"event\": \"Stop\",\n\"command\": \"x\"}\n---\n"},
		{"YAML with CRLF", "---\r\nevent: Stop\r\ncommand: x\r\n---\r\n"},
		{"braces", "{\n\"event\": \"Stop\", \"command\": \"x\"\n}\n\nbody"},
		{"braces at the end of the file", "{\n\"event\": \"Stop\", \"command\": \"x\"\n}"},
		{"braces with CRLF", "{\r\n\"event\": \"Stop\", \"command\": \"x\"\r\n}\r\n\r\nbody"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, notes := one(t, test.text)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(hook.Source{}, "Line")); diff != "" || len(notes) != 0 {
				t.Error(diff, notes)
			}
		})
	}
}

func TestFenceInsideAValueIsNoFence(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"in a line", inTOML(`command = "echo +++"`), "echo +++"},
		{"in a comment", inTOML("# +++ not yet\ncommand = \"x\""), "x"},
		{"a line of its own", inTOML("command = '''\ncat <<X\n+++\nX'''"), "cat <<X\n+++\nX"},
		{"a line of its own, CRLF", strings.ReplaceAll(inTOML("command = '''\ncat <<X\n+++\nX'''"), "\n", "\r\n"), "cat <<X\r\n+++\r\nX"},
		{"in a basic string", inTOML("command = \"\"\"\na \\\"\"\" b \\\n+++\n+++ \"\" c\"\"\"\"\""), "a \"\"\" b +++\n+++ \"\" c\"\""},
		{"in YAML", inYAML("command: |-\n  cat <<X\n  ---\n  X"), "cat <<X\n---\nX"},
		{"in YAML quotes", inYAML("command: \"a\n  ---\n  b\""), "a --- b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fence := test.text[:strings.IndexAny(test.text, "\r\n")+1]
			if strings.HasPrefix(test.text, "+++\r\n") {
				fence = "+++\r\n"
			}
			event := "event = \"Stop\"\n"
			if strings.HasPrefix(fence, "---") {
				event = "event: Stop\n"
			}
			got, notes := one(t, fence+event+test.text[len(fence):])
			if got.Command == nil || got.Command.Line != test.want || len(notes) != 0 {
				t.Errorf("command %+v, diagnostics %v", got.Command, notes)
			}
		})
	}
}

func TestBrokenStandsForAFileThatCannotBeRead(t *testing.T) {
	h := manifest.Broken(source, hook.Diagnostic{Severity: hook.SeverityError, Code: "not_a_file", Message: "a pipe, not a file"})
	if h.ID != "project/folder" || h.Name != "folder" || h.Event != "" || h.State != hook.StateInvalid || h.Why != "a pipe, not a file" || h.Source.Path != "HOOK.md" {
		t.Errorf("%+v", h)
	}
}
