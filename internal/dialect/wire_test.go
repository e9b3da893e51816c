package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestEveryProtocolHasAWire(t *testing.T) {
	for _, p := range hook.Protocols() {
		if _, ok := wires[p]; !ok {
			t.Errorf("%s is read as claude", p)
		}
	}
	if len(wires) != len(hook.Protocols()) {
		t.Errorf("%d wires, %d protocols", len(wires), len(hook.Protocols()))
	}
	if wireOf("") != &claudeWire || wireOf("no such") != &claudeWire {
		t.Error("claude is not the default")
	}
}

func TestProtocolsOrderExitCodesAndObjects(t *testing.T) {
	type row struct {
		stdout string
		exit   int
		want   map[hook.Protocol]string // verdict, or failure
	}
	allow := pre(`"permissionDecision":"allow"`)
	all := func(s string) map[hook.Protocol]string {
		m := map[hook.Protocol]string{}
		for _, p := range hook.Protocols() {
			m[p] = s
		}
		return m
	}
	with := func(m map[hook.Protocol]string, p hook.Protocol, s string) map[hook.Protocol]string {
		m[p] = s
		return m
	}
	for _, r := range []row{
		{"", 0, all("none")},
		{"", 1, with(all("exit"), hook.ProtocolMoltis, "deny")},
		{"", 2, with(with(all("deny"), hook.ProtocolStarpod, "exit"), hook.ProtocolMoltis, "exit")},
		{"", 3, all("exit")},
		{"{}", 2, with(with(all("deny"), hook.ProtocolStarpod, "exit"), hook.ProtocolMoltis, "exit")},
		{`{"systemMessage":"M"}`, 2, map[hook.Protocol]string{"claude": "deny", "claude-legacy": "deny", "caliban": "deny",
			"starpod": "none", "moltis": "exit"}},
		{"{oops}", 2, with(with(all("deny"), hook.ProtocolStarpod, "exit"), hook.ProtocolMoltis, "exit")},
		{allow, 0, with(all("allow"), hook.ProtocolMoltis, "output")},
		{allow, 1, with(all("allow"), hook.ProtocolMoltis, "deny")},
		{allow, 2, map[hook.Protocol]string{"claude": "deny", "claude-legacy": "allow", "caliban": "allow",
			"starpod": "allow", "moltis": "exit"}},
		{pre(`"permissionDecision":"ask"`), 2, map[hook.Protocol]string{"claude": "deny", "claude-legacy": "ask", "caliban": "ask",
			"starpod": "ask", "moltis": "exit"}},
		{`{"decision":"block"}`, 0, with(all("deny"), hook.ProtocolMoltis, "output")},
		{`{"hook_specific_output":{"hook_event_name":"PreToolUse","permission_decision":"deny"}}`, 0,
			with(all("deny"), hook.ProtocolMoltis, "output")},
		{`{"hookSpecificOutput":{"permissionDecision":"deny"}}`, 0, with(all("output"), hook.ProtocolCaliban, "deny")},
		{`{"hookSpecificOutput":{"permissionDecision":"allow"}}`, 0, with(all("output"), hook.ProtocolCaliban, "allow")},
		{specific(hook.EventPostToolUse, `"permissionDecision":"deny"`), 0, all("output")},
		{`{"decision":"deny"}`, 0, with(with(with(with(all("output"), hook.ProtocolGemini, "deny"), hook.ProtocolQwen, "deny"),
			hook.ProtocolCopilot, "deny"), hook.ProtocolCursor, "deny")},
		{`{"action":"block","reason":"R"}`, 0, with(all("output"), hook.ProtocolMoltis, "deny")},
		{`{"action":"continue"}`, 0, all("none")},
	} {
		for p, want := range r.want {
			c := newCall(t, hook.EventPreToolUse, withProtocol(p))
			out, err := Read(c, Reply{Stdout: []byte(r.stdout), ExitCode: r.exit})
			got := string(failureOf(t, err).Failure)
			if err == nil {
				got = out.Verdict.String()
			}
			if got != want {
				t.Errorf("%s: %s, exit %d: %s (%v), want %s", p, r.stdout, r.exit, got, err, want)
			}
		}
	}
}

func TestStarpodsSnakeCaseAnswerIsReadWhole(t *testing.T) {
	out, err := Read(newCall(t, hook.EventPreToolUse, withProtocol(hook.ProtocolStarpod)), Reply{ExitCode: 1, Stdout: []byte(
		`{"continue":false,"stop_reason":"S","suppress_output":true,"system_message":"M","decision":"approve","reason":"R",` +
			`"hook_specific_output":{"hookEventName":"PreToolUse","updated_input":{"a":1},"additional_context":"C"}}`)})
	want := &hook.Output{Verdict: hook.Allow, Reason: "R", Stop: true, StopReason: "S", SuppressOutput: true, SystemMessage: "M",
		UpdatedInput: []byte(`{"a":1}`), Context: "C"}
	if diff := cmp.Diff(want, out); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMoltisAnswers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		event   hook.Event
		reply   Reply
		want    hook.Output
		failure hook.Failure
	}{
		{"modify replaces the tool's input", hook.EventPreToolUse,
			Reply{Stdout: []byte(`{"action":"modify","data":{"command":"ls"}}`)}, hook.Output{UpdatedInput: []byte(`{"command":"ls"}`)}, ""},
		{"modify replaces the tool's output", hook.EventPostToolUse,
			Reply{Stdout: []byte(`{"action":"modify","data":"redacted"}`)}, hook.Output{UpdatedToolOutput: []byte(`"redacted"`)}, ""},
		{"modify of a prompt cannot be done", hook.EventUserPromptSubmit,
			Reply{Stdout: []byte(`{"action":"modify","data":{"content":"x"}}`)}, hook.Output{}, hook.FailureOutput},
		{"modify without data", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"modify"}`)}, hook.Output{}, hook.FailureOutput},
		{"modify with null", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"modify","data":null}`)}, hook.Output{}, hook.FailureOutput},
		{"modify of an input that is no object", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"modify","data":"ls"}`)},
			hook.Output{}, hook.FailureOutput},
		{"block", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"block","reason":"R"}`)},
			hook.Output{Verdict: hook.Deny, Reason: "R"}, ""},
		{"an unknown action", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"deny"}`)}, hook.Output{}, hook.FailureOutput},
		{"no action", hook.EventPreToolUse, Reply{Stdout: []byte(`{"data":{}}`)}, hook.Output{}, hook.FailureOutput},
		{"an empty object", hook.EventPreToolUse, Reply{Stdout: []byte(`{}`)}, hook.Output{}, ""},
		{"another case", hook.EventPreToolUse, Reply{Stdout: []byte(`{"Action":"block"}`)}, hook.Output{}, hook.FailureOutput},
		{"a broken object", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":}`)}, hook.Output{}, hook.FailureOutput},
		{"exit 1 blocks with stderr", hook.EventUserPromptSubmit, Reply{Stderr: []byte("E\n"), ExitCode: 1},
			hook.Output{Verdict: hook.Deny, Reason: "E"}, ""},
		{"exit 1 rewrites nothing", hook.EventPreToolUse,
			Reply{Stdout: []byte(`{"action":"modify","data":{}}`), Stderr: []byte("E"), ExitCode: 1},
			hook.Output{Verdict: hook.Deny, Reason: "E"}, ""},
		{"exit 2 goes on, as a failure", hook.EventPreToolUse, Reply{Stdout: []byte(`{"action":"block"}`), ExitCode: 2},
			hook.Output{}, hook.FailureExit},
		{"exit 1 keeps no agent from stopping", hook.EventStop, Reply{Stderr: []byte("E"), ExitCode: 1}, hook.Output{}, hook.FailureExit},
		{"block keeps no agent from stopping", hook.EventStop, Reply{Stdout: []byte(`{"action":"block"}`)}, hook.Output{}, hook.FailureOutput},
		{"text is no context", hook.EventUserPromptSubmit, Reply{Stdout: []byte("hello")}, hook.Output{}, ""},
		{"text that ends in an answer", hook.EventPreToolUse, Reply{Stdout: []byte("x\n{\"action\":\"block\"}")}, hook.Output{}, hook.FailureOutput},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Read(newCall(t, tc.event, withProtocol(hook.ProtocolMoltis)), tc.reply)
			if out == nil {
				out = &hook.Output{}
			}
			if diff := cmp.Diff(tc.want, *out); diff != "" || failureOf(t, err).Failure != tc.failure {
				t.Errorf("error %v, want %q (-want +got):\n%s", err, tc.failure, diff)
			}
		})
	}
}
