package bridge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

const (
	bashCall   = `{"session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}}`
	geminiCall = `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls","description":"x"}}`
	qwenCall   = `{"session_id":"s","cwd":"/w","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	createCall = `{"session_id":"s","cwd":"/w","timestamp":"t","tool_name":"Write","tool_input":{"path":"/a","file_text":"x"}}`
)

func TestOutcomesBecomeTheAgentsOwnAnswers(t *testing.T) {
	denial := hook.Outcome{Verdict: hook.Deny, Reason: "R"}
	ask := hook.Outcome{Verdict: hook.Ask, Reason: "R"}
	deferred := hook.Outcome{Verdict: hook.Defer, Reason: "R"}
	context := hook.Outcome{Contexts: []string{"C1", "C2"}}
	rewrite := hook.Outcome{UpdatedInput: json.RawMessage(`{"command":"pwd"}`)}
	stop := hook.Outcome{Verdict: hook.Deny, Reason: "S", Stop: true, StopReason: "S"}
	const specificDeny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}` + "\n"
	asked := func(title string) string {
		return "A person has to approve this, and " + title + " cannot ask for it. R"
	}
	specificReason := func(reason string) string { return strings.ReplaceAll(specificDeny, `"R"`, `"`+reason+`"`) }
	tests := []struct {
		agent, event, payload string
		out                   hook.Outcome
		want                  answered
	}{
		{"claude", "PreToolUse", bashCall, hook.Outcome{}, answered{}},
		{"claude", "PreToolUse", bashCall, denial, answered{Stdout: specificDeny, Stderr: "R\n", Code: 2}},
		{"claude", "PreToolUse", bashCall, ask, answered{Stdout: strings.ReplaceAll(specificDeny, "deny", "ask")}},
		{"claude", "PreToolUse", bashCall, deferred, answered{Stdout: strings.ReplaceAll(specificDeny, "deny", "defer")}},
		{"claude", "PreToolUse", bashCall, context, answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"C1\n\nC2"}}` + "\n"}},
		{"claude", "PreToolUse", bashCall, rewrite, answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}}` + "\n"}},
		{"claude", "Stop", `{"session_id":"s"}`, denial, answered{Stdout: `{"decision":"block","reason":"R"}` + "\n"}},
		{"claude", "UserPromptSubmit", `{"prompt":"p"}`, denial, answered{Stdout: `{"decision":"block","reason":"R"}` + "\n"}},
		{"claude", "PermissionRequest", bashCall, denial, answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"R"}}}` + "\n"}},

		{"codex", "PreToolUse", bashCall, denial, answered{Stdout: specificDeny, Stderr: "R\n", Code: 2}},
		{"codex", "PreToolUse", bashCall, ask, answered{Stdout: specificReason(asked("Codex")), Stderr: asked("Codex") + "\n", Code: 2, Losses: []string{"ask became deny"}}},
		{"codex", "PreToolUse", bashCall, rewrite, answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"pwd"}}}` + "\n"}},
		{"codex", "PreToolUse", bashCall, stop, answered{Stdout: specificReason("S"), Stderr: "S\n", Code: 2, Losses: []string{"continue: false became deny"}}},
		{"codex", "UserPromptSubmit", `{"prompt":"p"}`, denial, answered{Stderr: "R\n", Code: 2}},

		{"gemini", "BeforeTool", geminiCall, denial, answered{Stdout: `{"decision":"deny","reason":"R"}` + "\n", Stderr: "R\n", Code: 2}},
		{"gemini", "BeforeTool", geminiCall, context, answered{Losses: []string{"additionalContext became later"}, Held: []string{"C1", "C2"}}},
		{"gemini", "BeforeTool", geminiCall, hook.Outcome{UpdatedInput: json.RawMessage(`{"command":"pwd","description":"y"}`)},
			answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"pwd","description":"y"}}}` + "\n"}},
		{"gemini", "BeforeTool", geminiCall, stop, answered{Stdout: `{"continue":false,"stopReason":"S","decision":"deny","reason":"S"}` + "\n", Stderr: "S\n", Code: 2}},
		{"gemini", "AfterAgent", `{"session_id":"s"}`, denial, answered{Stdout: `{"decision":"deny","reason":"R"}` + "\n"}},

		{"copilot", "PreToolUse", createCall, denial, answered{Stdout: specificDeny}},
		{"copilot", "PreToolUse", createCall, hook.Outcome{UpdatedInput: json.RawMessage(`{"file_path":"/b","content":"y"}`)},
			answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_text":"y","path":"/b"}}}` + "\n"}},
		{"copilot", "UserPromptSubmit", `{"prompt":"p"}`, context, answered{Stdout: `{"additionalContext":"C1\n\nC2"}` + "\n"}},
		{"claude", "PreToolUse", createCall, denial, answered{Stdout: specificDeny}}, // Copilot runs a project's entry

		{"qwen", "PreToolUse", qwenCall, denial, answered{Stdout: specificDeny, Stderr: "R\n", Code: 2}},
		{"qwen", "PostToolUse", qwenCall, denial, answered{Stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"R"}}` + "\n", Losses: []string{"block became context"}}},
		{"qwen", "Stop", `{"session_id":"s"}`, hook.Outcome{Stop: true, StopReason: "S"}, answered{}},
	}
	for _, tt := range tests {
		a, _ := Lookup(tt.agent)
		in, err := a.Decode(tt.event, []byte(tt.payload), Caller{})
		if err != nil {
			t.Errorf("%s %s: %v", tt.agent, tt.event, err)
			continue
		}
		tt.out.Event = in.Event()
		got := a.Encode(tt.event, in, &tt.out)
		said := answered{Stdout: string(got.Stdout), Stderr: string(got.Stderr), Code: got.ExitCode, Held: got.Held}
		for _, l := range got.Losses {
			said.Losses = append(said.Losses, l.Wanted+" became "+l.Became)
		}
		if diff := cmp.Diff(tt.want, said); diff != "" {
			t.Errorf("%s %s %+v\n%s", tt.agent, tt.event, tt.out.Verdict, diff)
		}
	}
}

func TestRewriteThatIsNotEnforcedIsADenialThatNamesTheNewInput(t *testing.T) {
	for agent, c := range map[string]struct{ event, payload, updated, want string }{
		"qwen":   {"PreToolUse", qwenCall, `{"command":"pwd"}`, `{"command":"pwd"}`},
		"gemini": {"BeforeTool", geminiCall, `{"command":"pwd"}`, `{"command":"pwd"}`}, // merged, the description would stay
		"codex":  {"PreToolUse", bashCall, `{"cmd":"pwd"}`, `{"cmd":"pwd"}`},
	} {
		a, _ := Lookup(agent)
		in, err := a.Decode(c.event, []byte(c.payload), Caller{})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Encode(c.event, in, &hook.Outcome{UpdatedInput: json.RawMessage(c.updated)})
		if got.ExitCode != 2 || !strings.Contains(string(got.Stderr), c.want) || len(got.Losses) != 1 || got.Losses[0].Became != "deny" {
			t.Errorf("%s: %+v %s", agent, got, got.Stderr)
		}
		same := a.Encode(c.event, in, &hook.Outcome{UpdatedInput: mustInput(t, in)})
		if len(same.Stdout) > 0 || len(same.Losses) > 0 {
			t.Errorf("%s: the same input is taken for a rewrite: %s", agent, same.Stdout)
		}
	}
}

func mustInput(t *testing.T, in hook.Input) json.RawMessage {
	t.Helper()
	_, input, ok := toolOf(in)
	if !ok {
		t.Fatal("no tool")
	}
	return input
}

// guard denies calls of a tool whose input holds a text.
func guard(tool, text string) func(hook.Input) (*hook.Outcome, error) {
	return func(in hook.Input) (*hook.Outcome, error) {
		out := &hook.Outcome{Event: in.Event()}
		if name, input, ok := toolOf(in); ok && name == tool && strings.Contains(string(input), text) {
			out.Verdict, out.Reason = hook.Deny, "R"
		}
		return out, nil
	}
}

func TestFilesOfAPatchInAShellLineAreJudgedAsFileTools(t *testing.T) {
	a, _ := Lookup("codex")
	command := "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.go\n+package x\n*** Update File: /etc/passwd\n@@\n-a\n+root\n*** Delete File: old\n*** End Patch\nEOF"
	raw, err := json.Marshal(map[string]any{"cwd": "/w", "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tool, text string
		denied     bool
	}{
		"a new file": {"Write", "/w/new.go", true}, "its content": {"Write", "package x", true}, "an edit": {"Edit", "/etc/passwd", true},
		"its text": {"Edit", "root", true}, "a deletion": {"Edit", "/w/old", true}, "the line itself": {"Bash", "apply_patch", true},
		"another file": {"Write", "other", false},
	} {
		got := a.Respond("PreToolUse", raw, Caller{}, nil, guard(tt.tool, tt.text))
		if (got.ExitCode == 2) != tt.denied {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAmbiguousToolNamesOfCopilotAreJudgedAsEachToolThatTheyCanMean(t *testing.T) {
	a, _ := Lookup("copilot")
	payload := []byte(`{"session_id":"s","tool_name":"my-server-do-it","tool_input":{"path":"x"}}`)
	for _, tool := range []string{"mcp__my__server-do-it", "mcp__my-server__do-it", "mcp__my-server-do__it"} {
		if got := a.Respond("PreToolUse", payload, Caller{}, nil, guard(tool, "x")); !strings.Contains(string(got.Stdout), `"deny"`) {
			t.Errorf("%s: %s", tool, got.Stdout)
		}
	}
	if got := a.Respond("PreToolUse", payload, Caller{}, nil, guard("mcp__other__it", "x")); len(got.Stdout) > 0 {
		t.Errorf("another tool: %s", got.Stdout)
	}
}
