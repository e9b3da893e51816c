package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// answersOfProducts are what hooks of other products print, and what that comes
// to here.
var answersOfProducts = []struct {
	protocol hook.Protocol
	event    hook.Event
	answer   string
	verdict  hook.Verdict
	says     string // reason, or what else tells
	failure  hook.Failure
}{
	{"gemini", "PreToolUse", `{"decision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"gemini", "PreToolUse", `{"decision":"deny","systemMessage":"R"}`, hook.Deny, "R", ""},
	{"gemini", "PreToolUse", `{"decision":"block","reason":"R"}`, hook.Deny, "R", ""},
	{"gemini", "PreToolUse", `{"decision":"ask","reason":"R"}`, hook.Ask, "R", ""},
	{"gemini", "PreToolUse", `{"decision":"allow"}`, hook.Allow, "", ""},
	{"gemini", "UserPromptSubmit", `{"decision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"gemini", "PostToolUse", `{"decision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"gemini", "Stop", `{"decision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"gemini", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"ls"}}}`, hook.NoOpinion, `{"command":"ls","timeout":5}`, ""},
	{"gemini", "PreToolUse", `{"hookSpecificOutput":{"tool_input":{"more":1}}}`, hook.NoOpinion, `{"command":"rm x","more":1,"timeout":5}`, ""},
	{"gemini", "PreToolUse", `{"hookSpecificOutput":{"tool_input":null}}`, hook.NoOpinion, "", ""},
	{"gemini", "PreToolUse", `{"continue":false,"reason":"R"}`, hook.NoOpinion, "R", ""},
	{"gemini", "SessionEnd", `{"decision":"deny"}`, hook.NoOpinion, "", hook.FailureOutput},
	{"gemini", "PreToolUse", `{"permissionDecision":"deny"}`, hook.NoOpinion, "", hook.FailureOutput},
	{"qwen", "PreToolUse", `{"decision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"qwen", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`, hook.Deny, "R", ""},
	{"copilot", "PreToolUse", `{"permissionDecision":"deny","permissionDecisionReason":"R"}`, hook.Deny, "R", ""},
	{"copilot", "PreToolUse", `{"permissionDecision":"deny","reason":"R"}`, hook.Deny, "R", ""},
	{"copilot", "PreToolUse", `{"permissionDecision":"ask","permissionDecisionReason":"R"}`, hook.Ask, "R", ""},
	{"copilot", "PreToolUse", `{"permissionDecision":"allow"}`, hook.Allow, "", ""},
	{"copilot", "PreToolUse", `{"modifiedArgs":{"command":"ls"}}`, hook.NoOpinion, `{"command":"ls"}`, ""},
	{"copilot", "PostToolUse", `{"modifiedResult":"x"}`, hook.NoOpinion, `"x"`, ""},
	{"copilot", "SessionStart", `{"additionalContext":"C"}`, hook.NoOpinion, "C", ""},
	{"copilot", "PermissionRequest", `{"behavior":"deny","message":"R","interrupt":true}`, hook.Deny, "R", ""},
	{"copilot", "PermissionRequest", `{"behavior":"allow"}`, hook.Allow, "", ""},
	{"copilot", "Stop", `{"decision":"block","reason":"R"}`, hook.Deny, "R", ""},
	{"copilot", "PreToolUse", `{"behavior":"deny"}`, hook.NoOpinion, "", hook.FailureOutput},
	{"copilot", "PreToolUse", `{"permissionDecision":true}`, hook.NoOpinion, "", hook.FailureOutput},
	{"cursor", "PreToolUse", `{"continue":true,"permission":"deny","user_message":"U","agent_message":"R"}`, hook.Deny, "R", ""},
	{"cursor", "PreToolUse", `{"permission":"deny","userMessage":"R"}`, hook.Deny, "R", ""},
	{"cursor", "PreToolUse", `{"permission":"ask","agentMessage":"R"}`, hook.Ask, "R", ""},
	{"cursor", "PreToolUse", `{"permission":"allow","updated_input":{"command":"ls"}}`, hook.Allow, `{"command":"ls"}`, ""},
	{"cursor", "PreToolUse", `{"permission":"no"}`, hook.NoOpinion, "", hook.FailureOutput},
	{"cursor", "UserPromptSubmit", `{"continue":false,"user_message":"R"}`, hook.NoOpinion, "R", ""},
	{"cursor", "Stop", `{"followup_message":"R"}`, hook.Deny, "R", ""},
	{"cursor", "Stop", `{"followup_message":""}`, hook.NoOpinion, "", ""},
	{"cursor", "SessionStart", `{"additional_context":"C"}`, hook.NoOpinion, "C", ""},
	{"cursor", "PostToolUse", `{"updated_mcp_tool_output":{"a":1}}`, hook.NoOpinion, `{"a":1}`, ""},
	{"cline", "PreToolUse", `{"cancel":true,"errorMessage":"R"}`, hook.Deny, "R", ""},
	{"cline", "PreToolUse", `{"cancel":true}`, hook.Deny, noReason, ""},
	{"cline", "PreToolUse", `{"cancel":false,"contextModification":"C"}`, hook.NoOpinion, "C", ""},
	{"cline", "PreToolUse", `{"cancel":false,"overrideInput":{"command":"ls"}}`, hook.NoOpinion, `{"command":"ls"}`, ""},
	{"cline", "PreToolUse", `{"cancel":"yes"}`, hook.NoOpinion, "", hook.FailureOutput},
}

func readAs(t *testing.T, p hook.Protocol, event hook.Event, r Reply) (*hook.Output, error) {
	t.Helper()
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"` + string(event) + `","tool_name":"Bash","tool_input":{"command":"rm x","timeout":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	return Read(newCall(t, event, withInput(in), withProtocol(p)), r)
}

func TestAnswersInAProductsOwnWordsCountInItsProtocol(t *testing.T) {
	for _, tc := range answersOfProducts {
		out, err := readAs(t, tc.protocol, tc.event, Reply{Stdout: []byte(tc.answer)})
		if got := failureOf(t, err).Failure; got != tc.failure {
			t.Errorf("%s %s %s: failure %q (%v), want %q", tc.protocol, tc.event, tc.answer, got, err, tc.failure)
			continue
		}
		if out == nil {
			out = &hook.Output{}
		}
		if out.Verdict != tc.verdict {
			t.Errorf("%s %s %s: %v, want %v", tc.protocol, tc.event, tc.answer, out.Verdict, tc.verdict)
		}
		said := []string{out.Reason, out.StopReason, out.Context, string(out.UpdatedInput), string(out.UpdatedToolOutput)}
		if tc.failure == "" && tc.says != strings.Join(said, "") {
			t.Errorf("%s %s %s: says %q, want %q", tc.protocol, tc.event, tc.answer, said, tc.says)
		}
	}
}

func TestEachOwnWordOfAProductIsTried(t *testing.T) {
	for p, w := range wires {
		for _, own := range w.words {
			tried := false
			for _, tc := range answersOfProducts {
				tried = tried || tc.protocol == p && (strings.Contains(tc.answer, `"`+own.key+`"`) || strings.Contains(tc.answer, `"`+snakeCase(own.key)+`"`))
			}
			if !tried {
				t.Errorf("%s: no answer has %s", p, own.key)
			}
		}
	}
}

func TestOwnWordsOfAProductCountForNoOther(t *testing.T) {
	for _, tc := range answersOfProducts {
		if tc.verdict <= hook.Allow {
			continue
		}
		claude, _ := readAs(t, hook.ProtocolClaude, tc.event, Reply{Stdout: []byte(tc.answer)})
		moltis, _ := readAs(t, hook.ProtocolMoltis, tc.event, Reply{Stdout: []byte(tc.answer)})
		for _, out := range []*hook.Output{claude, moltis} {
			if out != nil && out.Verdict == hook.Allow {
				t.Errorf("%s: %s is an allow", tc.protocol, tc.answer)
			}
		}
	}
	for _, text := range []string{`{"permission":"deny"}`, `{"cancel":true}`, `{"decision":"deny"}`} {
		if out, err := readAs(t, hook.ProtocolClaude, hook.EventPreToolUse, Reply{Stdout: []byte(text)}); err == nil {
			t.Errorf("claude reads %s: %+v", text, out)
		}
	}
}

func TestTheStricterOfTwoWordsOfAProductStands(t *testing.T) {
	for _, tc := range []struct {
		protocol hook.Protocol
		answer   string
	}{
		{"copilot", `{"permissionDecision":"deny","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
		{"copilot", `{"permissionDecision":"allow","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`},
		{"copilot", `{"permissionDecision":"deny","permission_decision":"allow"}`},
		{"copilot", `{"permissionDecision":"allow","permission_decision":"deny"}`},
		{"cursor", `{"permission":"deny","permission":"allow"}`},
		{"cursor", `{"permission":"allow","decision":"deny"}`},
		{"cursor", `{"permission":"deny","decision":"allow"}`},
	} {
		out, err := readAs(t, tc.protocol, hook.EventPreToolUse, Reply{Stdout: []byte(tc.answer)})
		if err != nil || out.Verdict != hook.Deny {
			t.Errorf("%s %s: %+v, %v", tc.protocol, tc.answer, out, err)
		}
	}
	out, err := readAs(t, hook.ProtocolCopilot, hook.EventPreToolUse, Reply{Stdout: []byte(`{"permissionDecision":"allow","modifiedArgs":{"a":1},"modified_args":{"a":2}}`)})
	if err == nil || out.Verdict == hook.Allow || out.UpdatedInput != nil {
		t.Errorf("two rewrites: %+v, %v", out, err)
	}
	out, err = readAs(t, hook.ProtocolCopilot, hook.EventPreToolUse,
		Reply{Stdout: []byte(`{"permissionDecision":"deny","permissionDecisionReason":"first","permission_decision_reason":"second"}`)})
	if err != nil || out.Verdict != hook.Deny || out.Reason != "first" {
		t.Errorf("of two reasons the first stays: %+v, %v", out, err)
	}
}

func TestHintsOfAProductSayNoInItsOwnWords(t *testing.T) {
	for p, w := range wires {
		if !w.hasWords() {
			continue
		}
		_, err := readAs(t, p, hook.EventPreToolUse, Reply{Stdout: []byte(`{"status":"blocked"}`)})
		_, answer, ok := strings.Cut(failureOf(t, err).Hint, "print ")
		if !ok || !json.Valid([]byte(answer)) {
			t.Errorf("%s: hint %q", p, failureOf(t, err).Hint)
			continue
		}
		if out, err := readAs(t, p, hook.EventPreToolUse, Reply{Stdout: []byte(answer)}); err != nil || out.Verdict != hook.Deny || out.Reason != "…" {
			t.Errorf("%s: %s: %+v, %v", p, answer, out, err)
		}
	}
}

func TestGeminiBlocksOnCodesAboveTwoThatComeWithAText(t *testing.T) {
	for _, tc := range []struct {
		reply Reply
		want  hook.Verdict
		says  string
	}{
		{Reply{ExitCode: 3, Stderr: []byte("R")}, hook.Deny, "R"},
		{Reply{ExitCode: 127, Stdout: []byte("R")}, hook.Deny, "R"},
		{Reply{ExitCode: 2, Stdout: []byte("R")}, hook.Deny, "R"},
		{Reply{ExitCode: 2}, hook.Deny, noReason},
		{Reply{ExitCode: 3}, hook.NoOpinion, ""},
		{Reply{ExitCode: 1, Stderr: []byte("R")}, hook.NoOpinion, ""},
	} {
		out, err := readAs(t, hook.ProtocolGemini, hook.EventPreToolUse, tc.reply)
		if (err == nil) != (tc.want == hook.Deny) || out != nil && (out.Verdict != tc.want || out.Reason != tc.says) {
			t.Errorf("exit %d: %+v, %v", tc.reply.ExitCode, out, err)
		}
	}
}
