package bridge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
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

// patching is a call of Codex that runs a line in /w.
func patching(t *testing.T, line string) []byte {
	t.Helper()
	built.NotOnWindows(t, "its paths are POSIX")
	raw, err := json.Marshal(map[string]any{"cwd": "/w", "tool_name": "Bash", "tool_input": map[string]string{"command": line}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const aPatch = "*** Begin Patch\n*** Add File: new.go\n+package x\n*** Update File: /etc/passwd\n@@\n-a\n+root\n*** Delete File: old\n*** End Patch"

func TestFilesOfAPatchInAShellLineAreJudgedAsFileTools(t *testing.T) {
	a, _ := Lookup("codex")
	alone := "cd sub && apply_patch <<'EOF'\n" + aPatch + "\nEOF"
	for name, tt := range map[string]struct {
		line, tool, text string
		denied           bool
	}{
		"a new file":                        {alone, "Write", "/w/sub/new.go", true},
		"its content":                       {alone, "Write", "package x", true},
		"an edit":                           {alone, "Edit", "/etc/passwd", true},
		"its text":                          {alone, "Edit", "root", true},
		"a deletion":                        {alone, "Edit", "/w/sub/old", true},
		"another file":                      {alone, "Write", "other", false},
		"a line that only patches":          {alone, "Bash", "", false},
		"a document that does not end":      {alone + " \n", "Bash", "", true},
		"one with another name and quotes":  {"applypatch <<\"X\"\n" + aPatch + "\nX\n", "Bash", "", false},
		"where it stands":                   {"applypatch <<\"X\"\n" + aPatch + "\nX\n", "Write", "/w/new.go", true},
		"a line that does more before":      {"ls; " + alone, "Bash", "ls", true},
		"a line that does more behind":      {alone + "\nrm x", "Bash", "rm x", true},
		"a line that goes on":               {strings.Replace(alone, "<<'EOF'", "<<'EOF'; rm x", 1), "Bash", "rm x", true},
		"an end in the middle":              {strings.Replace(alone, "\n@@\n", "\nEOF\nrm x\n", 1), "Bash", "rm x", true},
		"a document that is expanded":       {strings.Replace(alone, "'EOF'", "EOF", 1), "Bash", "apply_patch", true},
		"a directory that is not known":     {strings.Replace(alone, "sub", "$D", 1), "Bash", "apply_patch", true},
		"a file of one that is not known":   {strings.Replace(alone, "sub", "$D", 1), "Write", "/w/new.go", true},
		"no patch":                          {"apply_patch <<'EOF'\nrm x\nEOF", "Bash", "rm x", true},
		"a file below both directories":     {"cd a; ls && cd b && " + alone, "Write", "/w/a/b/sub/new.go", true},
		"a file where the line began":       {"(cd a); apply_patch <<E\n" + aPatch + "\nE", "Write", "/w/new.go", true},
		"a file where another command went": {"pushd 'a b'; apply_patch <<E\n" + aPatch + "\nE", "Write", "/w/a b/new.go", true},
	} {
		got := a.Respond("PreToolUse", patching(t, tt.line), Caller{}, nil, guard(tt.tool, tt.text))
		if (got.ExitCode == 2) != tt.denied {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestARewriteOfAPatchIsADenial(t *testing.T) {
	a, _ := Lookup("codex")
	got := a.Respond("PreToolUse", patching(t, "apply_patch <<'E'\n"+aPatch+"\nE"), Caller{}, nil, func(in hook.Input) (*hook.Outcome, error) {
		return &hook.Outcome{Event: in.Event(), UpdatedInput: json.RawMessage(`{"file_path":"/w/c","content":"x"}`)}, nil
	})
	if got.ExitCode != 2 || !strings.Contains(string(got.Stdout), `"deny"`) {
		t.Errorf("got %+v", got)
	}
}

func TestEachPartOfACallIsJudged(t *testing.T) {
	built.NotOnWindows(t, "its paths are POSIX")
	patch := `*** Begin Patch\n*** Update File: /w/b\n@@\n-a\n+c\n*** Move to: /w/c\n*** End Patch`
	for name, tt := range map[string]struct {
		agent, event, payload string
		tool, text            string
	}{
		"a later file of a list":         {"cline", "PreToolUse", `{"tool_call":{"name":"read_files","input":{"files":[{"path":"/w/a"},{"path":"/w/b"}]}}}`, "Read", `"file_path":"/w/b"`},
		"a later file that is a text":    {"cline", "PreToolUse", `{"tool_call":{"name":"read_files","input":{"files":["/w/a","/w/b"]}}}`, "Read", `"file_path":"/w/b"`},
		"a later address":                {"cline", "PreToolUse", `{"tool_call":{"name":"fetch_web_content","input":{"requests":[{"url":"http://a"},{"url":"http://b"}]}}}`, "WebFetch", `"url":"http://b"`},
		"Cline's patch":                  {"cline", "PreToolUse", `{"tool_call":{"name":"apply_patch","input":{"input":"` + patch + `"}}}`, "Edit", "/w/b"},
		"opencode's patch":               {"opencode", "tool.execute.before", `{"tool_name":"apply_patch","tool_input":{"patchText":"` + patch + `"}}`, "Edit", "/w/b"},
		"where opencode's patch moves":   {"opencode", "tool.execute.before", `{"tool_name":"apply_patch","tool_input":{"patchText":"` + patch + `"}}`, "Write", "/w/c"},
		"a patch of an agent without it": {"qwen", "PreToolUse", `{"tool_name":"apply_patch","tool_input":{"x":"` + patch + `"}}`, "Edit", "/w/b"},
	} {
		a, _ := Lookup(tt.agent)
		got := a.Respond(tt.event, []byte(tt.payload), Caller{Dir: "/w"}, nil, guard(tt.tool, tt.text))
		if all := string(got.Stdout) + string(got.Stderr); !strings.Contains(all, "R") {
			t.Errorf("%s: %+v", name, got)
		}
		if got := a.Respond(tt.event, []byte(tt.payload), Caller{Dir: "/w"}, nil, guard(tt.tool, "/w/other")); len(got.Stdout)+len(got.Stderr) > 0 {
			t.Errorf("%s: another guard: %+v", name, got)
		}
	}
}

func TestARewriteOfAPartOfAListIsADenial(t *testing.T) {
	a, _ := Lookup("cline")
	payload := []byte(`{"tool_call":{"name":"read_files","input":{"files":[{"path":"/w/a"},{"path":"/w/b"}]}}}`)
	got := a.Respond("PreToolUse", payload, Caller{Dir: "/w"}, nil, func(in hook.Input) (*hook.Outcome, error) {
		return &hook.Outcome{Event: in.Event(), UpdatedInput: json.RawMessage(`{"file_path":"/w/c"}`)}, nil
	})
	if !strings.Contains(string(got.Stdout), `"cancel":true`) {
		t.Errorf("got %+v", got)
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
