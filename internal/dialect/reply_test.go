package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// specific is an answer with members in its hookSpecificOutput.
func specific(event hook.Event, members string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + string(event) + `",` + members + `}}`
}

func pre(members string) string { return specific(hook.EventPreToolUse, members) }

// read reads one answer, and what the failure policy then makes of it.
type readCase struct {
	name    string
	event   hook.Event // "" = PreToolUse
	with    []func(*hook.Call)
	stdout  string
	stderr  string
	exit    int
	want    hook.Verdict // of the Output
	reason  string
	failure hook.Failure
	codes   []string
}

func runReadCases(t *testing.T, cases []readCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if tc.event == "" {
				tc.event = hook.EventPreToolUse
			}
			c := newCall(t, tc.event, tc.with...)
			out, err := Read(c, Reply{[]byte(tc.stdout), []byte(tc.stderr), tc.exit})
			got := answeredOf(t, c, out, err)
			if got.Verdict != tc.want || got.Reason != tc.reason || got.Failure != tc.failure {
				t.Errorf("got %v %q, failure %q (%v); want %v %q, failure %q",
					got.Verdict, got.Reason, got.Failure, err, tc.want, tc.reason, tc.failure)
			}
			if diff := cmp.Diff(tc.codes, got.Codes); diff != "" {
				t.Errorf("warnings (-want +got):\n%s\n%v", diff, c.Report.Warnings)
			}
			if failed := failureOf(t, err); err != nil && (failed.Reason == "" || strings.Contains(failed.Reason, "\n")) {
				t.Errorf("reason %q is no line", failed.Reason)
			}
		})
	}
}

func TestExitCodesBesideAnswers(t *testing.T) {
	allow, deny := pre(`"permissionDecision":"allow"`), pre(`"permissionDecision":"deny","permissionDecisionReason":"NO"`)
	must := []func(*hook.Call){mustNotFail}
	runReadCases(t, []readCase{
		{name: "silence at 0 has no opinion"},
		{name: "exit 1 with an object that says nothing failed", stdout: "{}", exit: 1, failure: hook.FailureExit},
		{name: "exit 1 with unknown keys alone failed", stdout: `{"x":1}`, exit: 1, failure: hook.FailureExit},
		{name: "exit 1 with an empty hookSpecificOutput failed", stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`,
			exit: 1, failure: hook.FailureExit},
		{name: "exit 1 with a message did answer", stdout: `{"systemMessage":"M"}`, exit: 1},
		{name: "exit 1 with a broken object failed", stdout: `{"a":}`, exit: 1, failure: hook.FailureExit,
			codes: []string{"unreadable_answer"}},
		{name: "exit 1 with a wrong type failed", stdout: `{"suppressOutput":true,"Reason":"R","systemMessage":5}`, exit: 1,
			failure: hook.FailureExit, codes: []string{"unreadable_answer"}},
		{name: "exit 1 with an allow does not lift on_failure block", with: must, stdout: allow, exit: 1, failure: hook.FailureExit},
		{name: "exit 1 with an ask does not lift on_failure block", with: must, exit: 1,
			stdout: pre(`"permissionDecision":"ask"`), failure: hook.FailureExit},
		{name: "exit 1 with a deny denies by itself", with: must, stdout: deny, exit: 1, want: hook.Deny, reason: "NO"},
		{name: "exit 0 with an allow allows under on_failure block", with: must, stdout: allow, want: hook.Allow},
		{name: "exit 1 answers where no policy blocks", event: hook.EventStop, with: must, stdout: `{"systemMessage":"M"}`, exit: 1},
		{name: "exit 1 answers where nothing can be blocked", event: hook.EventConfigChange, stdout: `{"suppressOutput":true}`, exit: 1,
			with: []func(*hook.Call){mustNotFail, withInput(hook.ConfigChange{Source: "policy_settings"})}},
		{name: "exit 2 with a silent deny tells stderr", stdout: pre(`"permissionDecision":"deny"`), stderr: "ERR\n", exit: 2,
			want: hook.Deny, reason: "ERR"},
		{name: "exit 2 with an ask denies", stdout: pre(`"permissionDecision":"ask","permissionDecisionReason":"R"`), stderr: "ERR",
			exit: 2, want: hook.Deny, reason: "ERR"},
		{name: "exit 2 with noise denies", stdout: "x\n" + allow, stderr: "ERR", exit: 2, want: hook.Deny, reason: "ERR"},
		{name: "exit 2 with a lost decision denies", stdout: `{"decision":"deny"}`, stderr: "ERR", exit: 2,
			want: hook.Deny, reason: "ERR", codes: []string{"unreadable_answer"}},
		{name: "exit 2 does not deny a permission request", event: hook.EventPermissionRequest, stderr: "ERR", exit: 2,
			failure: hook.FailureExit},
		{name: "exit 2 with a denied permission request denies", event: hook.EventPermissionRequest, exit: 2,
			stdout: specific(hook.EventPermissionRequest, `"decision":{"behavior":"deny","message":"NO"}`), want: hook.Deny, reason: "NO"},
		{name: "exit 2 with an allowed permission request failed", event: hook.EventPermissionRequest, exit: 2,
			stdout: specific(hook.EventPermissionRequest, `"decision":{"behavior":"allow"}`), failure: hook.FailureExit},
		{name: "exit 2 cannot block managed policy", event: hook.EventConfigChange, stderr: "ERR", exit: 2, failure: hook.FailureExit,
			with: []func(*hook.Call){withInput(hook.ConfigChange{Source: "policy_settings"})}},
		{name: "a block of managed policy is a failure", event: hook.EventConfigChange, stdout: `{"decision":"block"}`,
			with: []func(*hook.Call){withInput(hook.ConfigChange{Source: "policy_settings"})}, failure: hook.FailureOutput},
	})
}

func TestExitFailuresSayTheCodeTheFirstLineAndWhatToDo(t *testing.T) {
	for _, tc := range []struct {
		r            Reply
		reason, hint string
	}{
		{Reply{ExitCode: 3}, "exit code 3", ""},
		{Reply{ExitCode: 3, Stderr: []byte("\n  first \nsecond")}, "exit code 3: first", ""},
		{Reply{ExitCode: 1, Stderr: []byte("Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'no\xffpe'\n")},
			"exit code 1: ModuleNotFoundError: No module named 'no\uFFFDpe'", ""},
		{Reply{ExitCode: 127, Stderr: []byte("sh: 1: x: not found")},
			"exit code 127 (a command was not found): sh: 1: x: not found", "check the path, and that what it calls is installed"},
		{Reply{ExitCode: 126}, "exit code 126 (found, but it cannot be executed)",
			"make it executable, and check the interpreter in its first line"},
		{Reply{ExitCode: 1, Stderr: []byte("bad \xff byte")}, "exit code 1: bad \uFFFD byte", ""},
		{Reply{ExitCode: 1, Stderr: []byte(strings.Repeat("é", 500))}, "exit code 1: " + strings.Repeat("é", 200) + "…", ""},
	} {
		_, err := Read(newCall(t, hook.EventPreToolUse), tc.r)
		if got := failureOf(t, err); got.Failure != hook.FailureExit || got.Reason != tc.reason || got.Hint != tc.hint {
			t.Errorf("exit %d: got %q, hint %q; want %q, hint %q", tc.r.ExitCode, got.Reason, got.Hint, tc.reason, tc.hint)
		}
	}
}

func TestDecisions(t *testing.T) {
	request := func(members string) string {
		return specific(hook.EventPermissionRequest, `"decision":{`+members+`}`)
	}
	model := func(members string) string { return specific(hook.EventPreModelSwitch, members) }
	runReadCases(t, []readCase{
		{name: "approve allows a tool", stdout: `{"decision":"approve","reason":"R"}`, want: hook.Allow, reason: "R"},
		{name: "approve on Stop objects to nothing", event: hook.EventStop, stdout: `{"decision":"approve"}`},
		{name: "approve on a model switch objects to nothing", event: hook.EventPreModelSwitch, stdout: `{"decision":"approve"}`},
		{name: "approve and deny deny", stdout: `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse",` +
			`"permissionDecision":"deny","permissionDecisionReason":"P"}}`, want: hook.Deny, reason: "P"},
		{name: "block and ask deny", stdout: `{"decision":"block","reason":"B","hookSpecificOutput":{"hookEventName":"PreToolUse",` +
			`"permissionDecision":"ask","permissionDecisionReason":"P"}}`, want: hook.Deny, reason: "B"},
		{name: "a denial borrows the answer's reason", stdout: `{"reason":"R","hookSpecificOutput":{"hookEventName":"PreToolUse",` +
			`"permissionDecision":"deny"}}`, want: hook.Deny, reason: "R"},
		{name: "a stop needs a reason and blocks without", event: hook.EventStop, stdout: `{"decision":"block"}`,
			want: hook.Deny, reason: noReason, codes: []string{"missing_reason"}},
		{name: "decision of the wrong case is lost, and said", stdout: `{"decision":"Block"}`, failure: hook.FailureOutput},
		{name: "an empty decision is lost, and said", stdout: `{"decision":""}`, failure: hook.FailureOutput},
		{name: "a decision of two kinds keeps its ask", stdout: `{"decision":"deny","hookSpecificOutput":{"hookEventName":"PreToolUse",` +
			`"permissionDecision":"ask"}}`, want: hook.Ask, codes: []string{"unreadable_answer"}},
		{name: "a lost refusal takes the allow with it", stdout: `{"decision":"deny","hookSpecificOutput":{"hookEventName":"PreToolUse",` +
			`"permissionDecision":"allow"}}`, failure: hook.FailureOutput},
		{name: "a model switch can be asked about", event: hook.EventPreModelSwitch, stdout: model(`"permissionDecision":"ask"`), want: hook.Ask},
		{name: "a model switch cannot be deferred", event: hook.EventPreModelSwitch, stdout: model(`"permissionDecision":"defer"`),
			failure: hook.FailureOutput},
		{name: "updatedInput must be an object", stdout: pre(`"updatedInput":"x"`), failure: hook.FailureOutput},
		{name: "watchPaths must be strings", event: hook.EventSessionStart, stdout: specific(hook.EventSessionStart, `"watchPaths":["a",null]`),
			failure: hook.FailureOutput},
		{name: "watchPaths must be a list", event: hook.EventSessionStart, stdout: specific(hook.EventSessionStart, `"watchPaths":[7]`),
			failure: hook.FailureOutput},
		{name: "a request without behavior", event: hook.EventPermissionRequest, stdout: request(`"message":"M"`), failure: hook.FailureOutput},
		{name: "a request with another behavior", event: hook.EventPermissionRequest, stdout: request(`"behavior":"ask"`),
			failure: hook.FailureOutput},
		{name: "a request blocked at the top", event: hook.EventPermissionRequest, stdout: `{"decision":"block"}`, failure: hook.FailureOutput},
		{name: "an elicitation accepted in other words", event: hook.EventElicitation,
			stdout: specific(hook.EventElicitation, `"action":"reject"`), failure: hook.FailureOutput},
		{name: "an unknown event cannot be blocked", event: "Custom", stdout: `{"decision":"block"}`, failure: hook.FailureOutput},
	})
}

func TestExitTwoDeclinesAnElicitation(t *testing.T) {
	for _, event := range []hook.Event{hook.EventElicitation, hook.EventElicitationResult} {
		for stdout, want := range map[string]string{
			"":                                   "decline",
			specific(event, `"action":"accept"`): "decline",
			specific(event, `"action":"cancel"`): "cancel",
			specific(event, `"action":"decline"`) + " ": "decline",
		} {
			out, err := Read(newCall(t, event), Reply{Stdout: []byte(stdout), ExitCode: 2})
			if err != nil || out.Verdict != hook.Deny || out.Elicitation == nil || out.Elicitation.Action != want {
				t.Errorf("%s %q: %+v, %v; want %s", event, stdout, out, err, want)
			}
		}
	}
}

func TestAHookThatOwesAPathBlocksWithoutOne(t *testing.T) {
	for stdout, reason := range map[string]string{
		"":     "the hook answered without a path",
		" \n ": "the hook answered without a path",
		"{}":   "the hook answered without a path",
		specific(hook.EventWorktreeCreate, `"worktreePath":" "`): "the hook answered without a path",
		`{"async":true}`:       "the hook answered without a path",
		"{oops}":               "the hook answered without a path: the answer is no JSON object: line 1: invalid character 'o' looking for beginning of object key string",
		"made \x00 it":         "the hook answered without a path: stdout is binary: it holds NUL bytes or is not UTF-8",
		`{"decision":"block"}`: `the hook answered without a path: decision "block" has no effect on WorktreeCreate`,
		`{"continue":false,` + specific(hook.EventWorktreeCreate, `"worktreePath":"/w"`)[1:]: "the hook answered without a path: continue: false has no effect on WorktreeCreate",
	} {
		out, err := Read(newCall(t, hook.EventWorktreeCreate), Reply{Stdout: []byte(stdout)})
		if err != nil || out.Verdict != hook.Deny || out.Reason != reason || out.WorktreePath != "" {
			t.Errorf("%q: %+v, %v", stdout, out, err)
		}
	}
	out, err := Read(newCall(t, hook.EventWorktreeCreate), Reply{Stdout: []byte("noise\n/tmp/w t\r\n\n")})
	if err != nil || out.WorktreePath != "/tmp/w t" || out.Verdict != hook.NoOpinion {
		t.Errorf("a path: %+v, %v", out, err)
	}
}

func TestAFailedAnswerRewritesNothingButKeepsWhatItTells(t *testing.T) {
	c := newCall(t, hook.EventPreToolUse)
	out, err := Read(c, Reply{Stdout: []byte(`{"continue":false,"stopReason":"S","systemMessage":"M","suppressOutput":true,"decision":"deny",` +
		`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1},"additionalContext":"C"}}`)})
	want := &hook.Output{Stop: true, StopReason: "S", SystemMessage: "M", SuppressOutput: true, Context: "C"}
	if diff := cmp.Diff(want, out); diff != "" || failureOf(t, err).Failure != hook.FailureOutput {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestOutputDoesNotShareTheBytesOfStdout(t *testing.T) {
	stdout := []byte(pre(`"permissionDecision":"ask","permissionDecisionReason":"R","updatedInput":{"a":1}`))
	out, err := Read(newCall(t, hook.EventPreToolUse), Reply{Stdout: stdout})
	clear(stdout)
	if err != nil || string(out.UpdatedInput) != `{"a":1}` || out.Reason != "R" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestUpdatedMCPToolOutputCountsForToolsOfServersAndYieldsToTheNewerField(t *testing.T) {
	for _, tc := range []struct{ tool, members, want string }{
		{"Bash", `"updatedMCPToolOutput":"old"`, ``},
		{"mcp__s__t", `"updatedMCPToolOutput":"old"`, `"old"`},
		{"mcp__s__t", `"updatedMCPToolOutput":"old","updatedToolOutput":"new"`, `"new"`},
		{"Bash", `"updatedMCPToolOutput":"old","updatedToolOutput":"new"`, `"new"`},
	} {
		c := newCall(t, hook.EventPostToolUse, withInput(&hook.PostToolUse{ToolName: tc.tool}))
		out, err := Read(c, Reply{Stdout: []byte(specific(hook.EventPostToolUse, tc.members))})
		if err != nil || string(out.UpdatedToolOutput) != tc.want {
			t.Errorf("%s %s: %s, %v; want %s", tc.tool, tc.members, out.UpdatedToolOutput, err, tc.want)
		}
		if diff := cmp.Diff([]string{"deprecated_field"}, codesOf(c)); diff != "" {
			t.Errorf("%s %s: warnings (-want +got):\n%s", tc.tool, tc.members, diff)
			continue
		}
		if said := strings.Contains(c.Report.Warnings[0].Message, "counts only for tools of MCP servers"); said != (tc.tool == "Bash") {
			t.Errorf("%s: %s", tc.tool, c.Report.Warnings[0].Message)
		}
	}
}

func TestReadBody(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       hook.Verdict
		failure    hook.Failure
	}{
		{"an empty body is a success", "", hook.NoOpinion, ""},
		{"white space is an empty body", " \r\n", hook.NoOpinion, ""},
		{"an object is read as stdout is", "\uFEFF" + pre(`"permissionDecision":"deny"`) + "\n", hook.Deny, ""},
		{"an empty object has no opinion", "{}", hook.NoOpinion, ""},
		{"plain text is a failure", "OK", hook.NoOpinion, hook.FailureOutput},
		{"a page is a failure", "<html>{}</html>", hook.NoOpinion, hook.FailureOutput},
		{"a list is a failure", "[]", hook.NoOpinion, hook.FailureOutput},
		{"a broken object is a failure", "{oops}", hook.NoOpinion, hook.FailureOutput},
		{"a decision of a wrong type is a failure", `{"decision":7}`, hook.NoOpinion, hook.FailureOutput},
		{"binary is a failure", "\x00\xff", hook.NoOpinion, hook.FailureOutput},
		{"nothing is handed off", `{"async":true}`, hook.NoOpinion, hook.FailureOutput},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Reader{}.ReadBody(newCall(t, hook.EventPreToolUse), []byte(tc.body))
			if got := failureOf(t, err); got.Failure != tc.failure {
				t.Errorf("failure %v, want %q", err, tc.failure)
			}
			if tc.failure == "" && (out.Verdict != tc.want || out.Handoff != nil) {
				t.Errorf("got %+v, want %v", out, tc.want)
			}
		})
	}
}

func TestABodyThatIsPlainTextIsContextNowhere(t *testing.T) {
	out, err := Reader{}.ReadBody(newCall(t, hook.EventUserPromptSubmit), []byte("hello"))
	if out != nil || failureOf(t, err).Failure != hook.FailureOutput {
		t.Errorf("%+v, %v", out, err)
	}
}
