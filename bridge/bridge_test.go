package bridge

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/hook"
)

func TestEachEventHasAClassAndACanonicalCounterpart(t *testing.T) {
	for _, a := range Agents() {
		for _, native := range a.Events() {
			if closed.Classify(a.Name, native) == closed.Unknown {
				t.Errorf("%s %s has no class", a.Name, native)
			}
			ev, _ := a.Event(native)
			if _, known := hook.Lookup(ev); !known {
				t.Errorf("%s %s stands for %q, which is no event", a.Name, native, ev)
			}
			if a.IsGate(native) && hook.Info(ev).Block != hook.BlockAction {
				t.Errorf("%s %s is a gate, but %s cannot be prevented", a.Name, native, ev)
			}
		}
		if len(a.Events()) == 0 || a.Title == "" {
			t.Errorf("%s is not described", a.Name)
		}
		if found, ok := Lookup(a.Name); !ok || found != a {
			t.Errorf("%s cannot be looked up", a.Name)
		}
	}
}

func TestEveryAbilityOfEveryAgentIsInTheMatrix(t *testing.T) {
	if len(rows()) != len(Agents()) {
		t.Errorf("matrix.json has %d agents of %d", len(rows()), len(Agents()))
	}
	for _, a := range Agents() {
		for what, cell := range a.Row().Cells {
			if !slices.Contains(Abilities(), what) {
				t.Errorf("%s: %q is no row", a.Name, what)
			}
			if !slices.Contains([]Level{Yes, Partly, Stricter, Held, No}, cell.Level) || !cell.Seen.Fits(cell.Level) {
				t.Errorf("%s: %q is %s, and was seen as %q", a.Name, what, cell.Level, cell.Seen)
			}
			if cell.Seen != "" && a.Version() == "" {
				t.Errorf("%s: %q was seen with a client of no version", a.Name, what)
			}
			if (cell.Level == Partly || cell.Level == Held || cell.Level == Stricter) && cell.Note == "" {
				t.Errorf("%s: %q is %s without a note", a.Name, what, cell.Level)
			}
		}
		for _, what := range Abilities() {
			if _, said := a.Row().Cells[what]; !said {
				t.Errorf("%s says nothing of %q", a.Name, what)
			}
		}
	}
}

// decoded is what of an input the table of payloads names.
type decoded struct {
	Event     hook.Event
	Session   string
	Tool      string
	Input     string
	Server    string
	NativeOf  string
	Prompt    string
	AgentID   string
	LastWords string
}

func TestPayloadsBecomeCanonicalInputs(t *testing.T) {
	tests := []struct {
		agent, event, payload string
		want                  decoded
	}{
		{"claude", "PreToolUse",
			`{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Bash", Input: `{"command":"ls"}`}},
		{"claude", "PreToolUse",
			`{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"mcp__probe__mark","tool_input":{"path":"/p"},"tool_use_id":"u","mcp_server":{"name":"probe","source":"dynamic"}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "mcp__probe__mark", Input: `{"path":"/p"}`, Server: "probe"}},
		{"claude", "PreToolUse", // Copilot runs a project's entry
			`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-22T01:56:18.548Z","cwd":"/w","tool_name":"Write","tool_input":{"path":"/w/new.txt","file_text":"hi"}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Write", Input: `{"content":"hi","file_path":"/w/new.txt"}`, NativeOf: "PreToolUse"}},
		{"codex", "PreToolUse",
			`{"session_id":"s","turn_id":"t","transcript_path":"/t","cwd":"/w","hook_event_name":"PreToolUse","model":"gpt-5.1-codex","permission_mode":"bypassPermissions","tool_name":"exec_command","tool_input":{"cmd":"ls"},"tool_use_id":"c"}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Bash", Input: `{"command":"ls"}`, NativeOf: "PreToolUse exec_command"}},
		{"gemini", "BeforeTool",
			`{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"BeforeTool","timestamp":"2026-11-22T00:04:55.676Z","tool_name":"replace","tool_input":{"file_path":"/w/a","old_string":"a","new_string":"b","allow_multiple":true}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Edit", Input: `{"file_path":"/w/a","new_string":"b","old_string":"a","replace_all":true}`, NativeOf: "BeforeTool replace"}},
		{"gemini", "BeforeTool",
			`{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"mcp_my_server_do_it","tool_input":{"path":"/p"},"mcp_context":{"server_name":"my_server","tool_name":"do_it","command":"python3"}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "mcp__my_server__do_it", Input: `{"path":"/p"}`, Server: "my_server", NativeOf: "BeforeTool mcp_my_server_do_it"}},
		{"gemini", "BeforeAgent", `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeAgent","prompt":"run it"}`,
			decoded{Event: "UserPromptSubmit", Session: "s", Prompt: "run it", NativeOf: "BeforeAgent"}},
		{"gemini", "AfterAgent", `{"session_id":"s","cwd":"/w","hook_event_name":"AfterAgent","prompt":"run it","prompt_response":"all done","stop_hook_active":false}`,
			decoded{Event: "Stop", Session: "s", LastWords: "all done", NativeOf: "AfterAgent"}},
		{"copilot", "PreToolUse",
			`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-22T01:56:19.059Z","cwd":"/w","tool_name":"Edit","tool_input":{"path":"/w/a","old_str":"a","new_str":"b"}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Edit", Input: `{"file_path":"/w/a","new_string":"b","old_string":"a"}`, NativeOf: "PreToolUse"}},
		{"copilot", "PreToolUse",
			`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"t","cwd":"/w","tool_name":"probe-mark","tool_input":{"path":"/p"}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "mcp__probe__mark", Input: `{"path":"/p"}`, Server: "probe", NativeOf: "PreToolUse probe-mark"}},
		{"copilot", "PermissionRequest",
			`{"hookName":"permissionRequest","sessionId":"s","timestamp":1795312580679,"cwd":"/w","toolName":"probe/mark","toolInput":{"path":"/p"},"permissionSuggestions":[]}`,
			decoded{Event: "PermissionRequest", Session: "s", Tool: "mcp__probe__mark", Input: `{"path":"/p"}`, Server: "probe", NativeOf: "PermissionRequest probe/mark"}},
		{"copilot", "SubagentStop", `{"hook_event_name":"SubagentStop","session_id":"s","cwd":"/w","agent_id":"a1","agent_type":"general-purpose","last_assistant_message":"sub done","stop_hook_active":false}`,
			decoded{Event: "SubagentStop", Session: "s", AgentID: "a1", LastWords: "sub done"}},
		{"qwen", "PreToolUse",
			`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","timestamp":"t","permission_mode":"yolo","tool_name":"run_shell_command","tool_input":{"command":"ls","is_background":false},"tool_use_id":"u","tool_call_id":"c"}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Bash", Input: `{"command":"ls","run_in_background":false}`, NativeOf: "PreToolUse run_shell_command"}},
		{"cline", "PreToolUse", `{"taskId":"s","agent_id":"a","parent_agent_id":null,"workspaceRoots":["/w"],"tool_call":{"id":"c","name":"probe__mark","input":{"path":"/p"}}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "mcp__probe__mark", Input: `{"path":"/p"}`, Server: "probe", NativeOf: "PreToolUse probe__mark"}},
		{"cline", "PreToolUse", `{"taskId":"s","agent_id":"a","parent_agent_id":"b","workspaceRoots":["/w"],"hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["a","b"]}}}`,
			decoded{Event: "PreToolUse", Session: "s", AgentID: "a", Tool: "Bash", Input: `{"command":"a\nb"}`, NativeOf: "PreToolUse run_commands"}},
		{"cline", "PreToolUse", `{"taskId":"s","workspaceRoots":["/w"],"tool_call":{"id":"c","name":"editor","input":{"path":"/w/a","old_text":null,"new_text":"x"}}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Write", Input: `{"content":"x","file_path":"/w/a","old_text":null}`, NativeOf: "PreToolUse editor"}},
		{"cline", "PreToolUse", `{"taskId":"s","workspaceRoots":["/w"],"tool_call":{"id":"c","name":"editor","input":{"path":"/w/a","old_text":"","new_text":"x"}}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Edit", Input: `{"file_path":"/w/a","new_string":"x","old_string":""}`, NativeOf: "PreToolUse editor"}},
		{"cline", "PreToolUse", `{"taskId":"s","workspaceRoots":["/w"],"tool_call":{"id":"c","name":"read_files","input":{"files":[{"path":"/w/a","start_line":1},{"path":"/w/b"}]}}}`,
			decoded{Event: "PreToolUse", Session: "s", Tool: "Read", Input: `{"file_path":"/w/a","start_line":1}`, NativeOf: "PreToolUse read_files"}},
		{"qwen", "UserPromptSubmit", `{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"run it","submitted_prompt":"run it"}`,
			decoded{Event: "UserPromptSubmit", Session: "s", Prompt: "run it"}},
	}
	for _, tt := range tests {
		a, _ := Lookup(tt.agent)
		in, err := a.Decode(tt.event, []byte(tt.payload), Caller{Dir: "/caller"})
		if err != nil {
			t.Errorf("%s %s: %v", tt.agent, tt.event, err)
			continue
		}
		if diff := cmp.Diff(tt.want, summary(in)); diff != "" {
			t.Errorf("%s %s %s\n%s", tt.agent, tt.event, tt.payload, diff)
		}
	}
}

func summary(in hook.Input) decoded {
	base := in.Common()
	name, input, _ := toolOf(in)
	d := decoded{Event: in.Event(), Session: base.SessionID, Tool: name, Input: string(input), AgentID: base.AgentID}
	if v, ok := hook.As[hook.PreToolUse](in); ok && v.MCPServer != nil {
		d.Server = v.MCPServer.Name
	}
	if v, ok := hook.As[hook.PermissionRequest](in); ok && v.MCPServer != nil {
		d.Server = v.MCPServer.Name
	}
	if v, ok := hook.As[hook.UserPromptSubmit](in); ok {
		d.Prompt = v.Prompt
	}
	if v, ok := hook.As[hook.Stop](in); ok {
		d.LastWords = v.LastAssistantMessage
	}
	if v, ok := hook.As[hook.SubagentStop](in); ok {
		d.LastWords = v.LastAssistantMessage
	}
	n := nativeOf(in)
	d.NativeOf = strings.TrimSpace(n.Event + " " + n.Tool)
	return d
}

func TestPayloadsThatCannotBeReadAreErrors(t *testing.T) {
	a, _ := Lookup("claude")
	for name, payload := range map[string]string{
		"empty": "", "text": "hello", "a list": "[]", "cut": `{"tool_name":"Bash"`, "a key twice": `{"tool_name":"A","tool_name":"B"}`,
		"no tool": `{"hook_event_name":"PreToolUse"}`, "another event": `{"hook_event_name":"Stop","tool_name":"Bash"}`,
		"a wrong type": `{"tool_name":"Bash","session_id":7}`, "a tool that is no text": `{"tool_name":{"a":1}}`, "a directory that is no text": `{"tool_name":"Bash","cwd":5}`,
	} {
		if in, err := a.Decode("PreToolUse", []byte(payload), Caller{}); err == nil {
			t.Errorf("%s became %+v", name, in)
		}
	}
	if _, err := a.Decode("BeforeTool", []byte(`{}`), Caller{}); err == nil {
		t.Error("an event that it does not have was decoded")
	}
}

// A guard of prompts would judge an empty one.
func TestPayloadWithoutItsPromptIsAnError(t *testing.T) {
	for _, a := range Agents() {
		for _, native := range a.Events() {
			if ours, _ := a.Event(native); ours != hook.EventUserPromptSubmit {
				continue
			}
			for _, payload := range []string{`{}`, `{"prompt":null}`, `{"prompt":7}`, `{"Prompt":"x"}`, `{"tool_info":{}}`} {
				if in, err := a.Decode(native, []byte(payload), Caller{}); err == nil || errors.Is(err, ErrNoEvent) {
					t.Errorf("%s: %s became %+v, %v", a.Name, payload, in, err)
				}
			}
		}
	}
}

func TestRepeatedEmptyPromptOfQwenIsNoEvent(t *testing.T) {
	a, _ := Lookup("qwen")
	payload := []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""}`)
	got := a.Respond("UserPromptSubmit", payload, Caller{}, []string{"kept"}, func(hook.Input) (*hook.Outcome, error) {
		t.Error("somebody was asked")
		return nil, nil
	})
	if len(got.Stdout) > 0 || got.ExitCode != 0 || !slices.Equal(got.Held, []string{"kept"}) {
		t.Errorf("got %+v", got)
	}
}

func TestBothCallsOfOneEventByCopilotHaveOneKey(t *testing.T) {
	payload := []byte(`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-22T01:56:17.968Z","cwd":"/w","tool_name":"Bash","tool_input":{"command":"ls"}}`)
	later := []byte(strings.Replace(string(payload), "17.968", "18.968", 1))
	own, _ := Lookup("copilot")
	project, _ := Lookup("claude")
	key := func(a *Agent, payload []byte) string {
		in, err := a.Decode("PreToolUse", payload, Caller{})
		if err != nil {
			t.Fatal(err)
		}
		return a.CallKey(in)
	}
	if a, b := key(own, payload), key(project, payload); a == "" || a != b {
		t.Errorf("%q and %q", a, b)
	}
	if key(own, payload) == key(own, later) {
		t.Error("another call has the same key")
	}
	in, err := project.Decode("PreToolUse", []byte(`{"session_id":"s","transcript_path":"/t","prompt_id":"p","tool_name":"Bash","tool_input":{}}`), Caller{})
	if err != nil || project.CallKey(in) != "" {
		t.Errorf("Claude Code's own call has a key, %v", err)
	}
}

// answered is what of an answer the table of outcomes names.
type answered struct {
	Stdout string
	Stderr string
	Code   int
	Losses []string
	Held   []string
}

func TestRespondFailsByTheEventWhateverGoesWrong(t *testing.T) {
	for _, a := range Agents() {
		for _, native := range a.Events() {
			for name, decide := range map[string]func(hook.Input) (*hook.Outcome, error){
				"nothing decided": func(hook.Input) (*hook.Outcome, error) { return nil, nil },
				"a panic":         func(hook.Input) (*hook.Outcome, error) { panic("x") },
			} {
				for _, payload := range []string{"", `{"tool_name":"Bash","tool_input":{},"prompt":"p"}`} {
					got := a.Respond(native, []byte(payload), Caller{}, nil, decide)
					want := a.Undecided(native, "")
					if got.ExitCode != want.ExitCode || (len(got.Stdout) > 0) != (len(want.Stdout) > 0) || len(got.Stderr) == 0 {
						t.Errorf("%s %s, %s: %+v", a.Name, native, name, got)
					}
				}
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("claude", "PreToolUse", []byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	f.Add("gemini", "BeforeTool", []byte(`{"tool_name":"mcp_a_b","tool_input":{},"mcp_context":{"server_name":"a","tool_name":"b"}}`))
	f.Add("copilot", "PermissionRequest", []byte(`{"sessionId":"s","toolName":"a/b","toolInput":{"path":"x"},"timestamp":1}`))
	f.Add("qwen", "PostToolBatch", []byte(`{"tool_calls":[{"tool_name":"edit","tool_input":{"a":1}}]}`))
	f.Add("codex", "Stop", []byte(`{"native":{"tool_name":"x"},"agent":"y"}`))
	f.Fuzz(func(t *testing.T, agent, event string, payload []byte) {
		a, ok := Lookup(agent)
		if !ok {
			return
		}
		in, err := a.Decode(event, payload, Caller{Dir: "/w"})
		if err != nil {
			return
		}
		if said := in.Common().Agent; said != agent && said != "copilot" {
			t.Errorf("the agent is %q", said)
		}
		if _, err := hook.Encode(in, in.Common()); err != nil {
			t.Errorf("a command hook cannot be given the input: %v", err)
		}
		for _, v := range []hook.Verdict{hook.NoOpinion, hook.Allow, hook.Ask, hook.Defer, hook.Deny} {
			got := a.Encode(event, in, &hook.Outcome{Event: in.Event(), Verdict: v, Reason: "r", UpdatedInput: json.RawMessage(`{"command":"x"}`)})
			if len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
				t.Errorf("%s printed %s", v, got.Stdout)
			}
			if v >= hook.Ask && a.IsGate(event) && len(got.Stdout) == 0 && got.ExitCode == 0 && in.Event() != hook.EventPermissionRequest {
				t.Errorf("%s at a gate became silence", v)
			}
		}
	})
}
