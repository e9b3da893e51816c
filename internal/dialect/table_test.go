package dialect

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

// samples show each field of the event table in an answer, and how to see in
// the Output that it counted.
var samples = []struct {
	field   hook.FieldSet
	top     string // members of the answer
	inside  string // members of its hookSpecificOutput
	counted func(o *hook.Output) bool
	decides bool // where it does not count it is a failure, not a warning
}{
	{hook.FieldContinue, `"continue":false,"stopReason":"S"`, "",
		func(o *hook.Output) bool { return o.Stop && o.StopReason == "S" }, true},
	{hook.FieldSystemMessage, `"systemMessage":"M"`, "", func(o *hook.Output) bool { return o.SystemMessage == "M" }, false},
	{hook.FieldTerminal, `"terminalSequence":"\u0007"`, "", func(o *hook.Output) bool { return o.TerminalSequence == "\a" }, false},
	{hook.FieldPermission, "", `"permissionDecision":"allow","permissionDecisionReason":"R"`,
		func(o *hook.Output) bool { return o.Verdict == hook.Allow && o.Reason == "R" }, true},
	{hook.FieldPermission, "", `"permissionDecision":"deny"`, func(o *hook.Output) bool { return o.Verdict == hook.Deny }, true},
	{hook.FieldPermission, "", `"permissionDecision":"ask"`, func(o *hook.Output) bool { return o.Verdict == hook.Ask }, true},
	{hook.FieldUpdatedInput, "", `"updatedInput":{"a":1}`,
		func(o *hook.Output) bool { return string(o.UpdatedInput) == `{"a":1}` }, true},
	{hook.FieldContext, "", `"additionalContext":"C"`, func(o *hook.Output) bool { return o.Context == "C" }, false},
	{hook.FieldToolOutput, "", `"updatedToolOutput":[1]`,
		func(o *hook.Output) bool { return string(o.UpdatedToolOutput) == "[1]" }, true},
	{hook.FieldToolOutput, "", `"updatedMCPToolOutput":"x"`,
		func(o *hook.Output) bool { return string(o.UpdatedToolOutput) == `"x"` }, true},
	{hook.FieldRequest, "", `"decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[]}`,
		func(o *hook.Output) bool {
			return o.Verdict == hook.Allow && o.UpdatedInput != nil && o.Permission != nil && string(o.Permission.UpdatedPermissions) == "[]"
		}, true},
	{hook.FieldRequest, "", `"decision":{"behavior":"deny","message":"M","interrupt":true}`,
		func(o *hook.Output) bool {
			return o.Verdict == hook.Deny && o.Reason == "M" && o.Permission != nil && o.Permission.Interrupt
		}, true},
	{hook.FieldRetry, "", `"retry":true`, func(o *hook.Output) bool { return o.Retry }, false},
	{hook.FieldInitialMessage, "", `"initialUserMessage":"I"`, func(o *hook.Output) bool { return o.InitialUserMessage == "I" }, false},
	{hook.FieldSessionTitle, "", `"sessionTitle":"T"`, func(o *hook.Output) bool { return o.SessionTitle == "T" }, false},
	{hook.FieldWatchPaths, "", `"watchPaths":["a","b"]`, func(o *hook.Output) bool { return len(o.WatchPaths) == 2 }, false},
	{hook.FieldSuppressPrompt, "", `"suppressOriginalPrompt":true`, func(o *hook.Output) bool { return o.SuppressOriginalPrompt }, false},
	{hook.FieldDisplay, "", `"displayContent":""`, func(o *hook.Output) bool { return o.DisplayContent != nil }, false},
	{hook.FieldElicitation, "", `"action":"accept","content":{"a":1}`,
		func(o *hook.Output) bool {
			return o.Verdict == hook.Allow && o.Elicitation != nil && o.Elicitation.Action == "accept" && string(o.Elicitation.Content) == `{"a":1}`
		}, true},
	{hook.FieldElicitation, "", `"action":"cancel"`,
		func(o *hook.Output) bool {
			return o.Verdict == hook.Deny && o.Elicitation != nil && o.Elicitation.Action == "cancel"
		}, true},
	{hook.FieldWorktreePath, "", `"worktreePath":"/w"`, func(o *hook.Output) bool { return o.WorktreePath == "/w" }, false},
}

func TestASampleOfEachFieldOfTheEventTableIsTried(t *testing.T) {
	var all, tried hook.FieldSet
	for _, info := range hook.Events() {
		all |= info.Fields
	}
	for _, s := range samples {
		tried |= s.field
	}
	if tried != all {
		t.Errorf("tried %v, the table has %v", tried.Names(), all.Names())
	}
}

// callOf makes a call with an input about a tool of an MCP server, where the
// event is about a tool.
func callOf(t *testing.T, event hook.Event) *hook.Call {
	t.Helper()
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"` + string(event) + `","tool_name":"mcp__s__t"}`))
	if err != nil {
		t.Fatal(err)
	}
	return newCall(t, event, withInput(in))
}

// everyEvent is the table's events and one that it does not know.
func everyEvent() []hook.Event {
	var events []hook.Event
	for _, info := range hook.Events() {
		events = append(events, info.Event)
	}
	return append(events, "SomethingElse")
}

func TestEachFieldCountsOnAnEventIfAndOnlyIfTheTableSaysSo(t *testing.T) {
	for _, event := range everyEvent() {
		info := hook.Info(event)
		if info.Plain == hook.PlainResult {
			continue // an object there is the result, like any other text
		}
		for _, s := range samples {
			if info.Plain == hook.PlainPath && s.field != hook.FieldWorktreePath {
				continue // whatever it is, it is no path: see TestAHookThatOwesAPathBlocksWithoutOne
			}
			text := "{" + s.top + "}"
			if s.inside != "" {
				text = `{"hookSpecificOutput":{"hookEventName":"` + string(event) + `",` + s.inside + "}}"
			}
			c := callOf(t, event)
			out, err := Reader{}.Read(c, Reply{Stdout: []byte(text)})
			got, want := out != nil && s.counted(out), info.Fields.Has(s.field)
			if got != want {
				t.Errorf("%s %s: counted %v, the table says %v", event, text, got, want)
			}
			if want && err != nil || !want && (err != nil) != s.decides {
				t.Errorf("%s %s: error %v", event, text, err)
			}
			if !want && err == nil && len(c.Report.Warnings) == 0 {
				t.Errorf("%s %s: ignored in silence", event, text)
			}
		}
	}
}

func TestDecisionBlockDeniesIfAndOnlyIfTheTableSaysSo(t *testing.T) {
	for _, event := range everyEvent() {
		info := hook.Info(event)
		if info.Plain != hook.PlainIgnored && info.Plain != hook.PlainContext {
			continue
		}
		out, err := Reader{}.Read(callOf(t, event), Reply{Stdout: []byte(`{"decision":"block","reason":"R","systemMessage":"M"}`)})
		if denied := out.Verdict == hook.Deny; denied != info.BlockField || denied != (err == nil) {
			t.Errorf("%s: denied %v, error %v, the table says %v", event, denied, err, info.BlockField)
		}
		if said := out.SystemMessage == "M"; said != info.Fields.Has(hook.FieldSystemMessage) {
			t.Errorf("%s: message kept %v", event, said)
		}
	}
}

func TestExitCodesBlockIfAndOnlyIfTheTableSaysSo(t *testing.T) {
	for _, event := range everyEvent() {
		info := hook.Info(event)
		for code := 1; code <= 3; code++ {
			out, err := Reader{}.Read(callOf(t, event), Reply{Stderr: []byte(" why\n"), ExitCode: code})
			blocks := info.AnyExit || code == 2 && info.Block != hook.BlockNothing && !info.NoExit2
			if got := out.Verdict == hook.Deny && out.Reason == "why"; got != blocks {
				t.Errorf("%s, exit %d: blocks %v, the table says %v", event, code, got, blocks)
			}
			var failure *hook.Error
			if failed := errors.As(err, &failure) && failure.Failure == hook.FailureExit; failed == blocks {
				t.Errorf("%s, exit %d: error %v", event, code, err)
			}
			toUser := code == 2 && !blocks && info.Stderr == hook.ToUser
			if got := out.SystemMessage == "why"; got != toUser {
				t.Errorf("%s, exit %d: told to the user %v, the table says %v", event, code, got, toUser)
			}
		}
	}
}

func TestPlainTextMeansWhatTheTableSays(t *testing.T) {
	for _, event := range everyEvent() {
		c := callOf(t, event)
		out, err := Reader{}.Read(c, Reply{Stdout: []byte("one\n\n two \n\n")})
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		got := []string{out.Context, out.Text, out.WorktreePath}
		want := map[hook.PlainText][]string{
			hook.PlainIgnored: {"", "", ""},
			hook.PlainContext: {"one\n\n two", "", ""},
			hook.PlainResult:  {"", "one\n\n two", ""},
			hook.PlainPath:    {"", "", "two"},
		}[hook.Info(event).Plain]
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: context, text, path are %q, want %q", event, got, want)
				break
			}
		}
		if said := len(c.Report.Warnings) == 1 && c.Report.Warnings[0].Severity == hook.SeverityInfo; said != (want[0]+want[1]+want[2] == "") {
			t.Errorf("%s: diagnostics %v", event, c.Report.Warnings)
		}
	}
}

// displays is an event on which an answer can do nothing of what most others take.
const displays = hook.EventMessageDisplay

// These count by themselves: the event table has no say on them.
func TestFieldsThatCountOnEveryEventVoidTheAnswerIfTheirTypeIsWrong(t *testing.T) {
	moltis, model := withProtocol(hook.ProtocolMoltis), []string{"ok", "reason", "impossible"}
	refused := func(key string, out *hook.Output, err error) {
		t.Helper()
		if out != nil || !strings.HasPrefix(failureOf(t, err).Reason, key+": want ") {
			t.Errorf("%s: %+v, %v", key, out, err)
		}
	}
	for _, key := range []string{"stopReason", "suppressOutput", "decision", "reason", "hookSpecificOutput"} {
		out, err := Read(newCall(t, displays), Reply{Stdout: []byte(`{"` + key + `":7}`)})
		refused(key, out, err)
	}
	out, err := Read(newCall(t, displays), Reply{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":7}}`)})
	refused("hookEventName", out, err)
	for _, key := range []string{"action", "reason"} {
		out, err := Read(newCall(t, displays, moltis), Reply{Stdout: []byte(`{"` + key + `":7}`)})
		refused(key, out, err)
	}
	for _, key := range model {
		out, err := Reader{}.ReadModel(newCall(t, displays), []byte(`{"`+key+`":7}`))
		refused(key, out, err)
	}
}

func TestAFieldTakesValuesOfItsTypeAlone(t *testing.T) {
	values := map[string]string{"string": `"x"`, "true": "true", "false": "false", "number": "7", "negative": "-7", "nine": "9.5", "zero": "0", "object": `{"a":1}`, "list": "[1]", "strings": `["a"]`}
	for _, tt := range []struct {
		event         hook.Event
		answer, takes string
	}{
		{displays, `{"stopReason":%}`, "string"},
		{displays, `{"suppressOutput":%}`, "true false"},
		{displays, `{"asyncTimeout":%}`, "number negative nine zero"},
		{displays, `{"hookSpecificOutput":%}`, "object"},
		{hook.EventSessionStart, specific(hook.EventSessionStart, `"watchPaths":%`), "strings"},
		{hook.EventPermissionRequest, specific(hook.EventPermissionRequest, `"decision":{"behavior":"allow","updatedPermissions":%}`), "list strings"},
	} {
		for name, value := range values {
			_, err := Read(newCall(t, tt.event), Reply{Stdout: []byte(strings.Replace(tt.answer, "%", value, 1))})
			fails := strings.Contains(failureOf(t, err).Reason, ": want ")
			if want := !slices.Contains(strings.Fields(tt.takes), name); fails != want {
				t.Errorf("%s of %s: %v", tt.answer, name, err)
			}
		}
	}
}

func TestFieldsThatCountOnEveryEventAreIgnoredOnNone(t *testing.T) {
	c := newCall(t, displays)
	out, err := Read(c, Reply{Stdout: []byte(`{"async":true,"asyncTimeout":5,"stopReason":"S","suppressOutput":true,"reason":"R","decision":"approve",` +
		`"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":"D","decision":{"behavior":"deny","updatedInput":{"a":1},` +
		`"updatedPermissions":[1],"message":"M","interrupt":true}}}`)})
	if out == nil || !out.SuppressOutput || out.DisplayContent == nil || err == nil {
		t.Errorf("%+v, %v", out, err)
	}
	if codes := codesOf(c); slices.Contains(codes, "ignored_field") || slices.Contains(codes, "misplaced_key") {
		t.Errorf("%v", c.Report.Warnings)
	}
}

func TestEachKeyIsKnownInBothSpellings(t *testing.T) {
	for key, want := range map[string]string{
		"continue": "continue", "stopReason": "stop_reason", "hookEventName": "hook_event_name",
		"updatedMCPToolOutput": "updated_mcp_tool_output", "permissionDecisionReason": "permission_decision_reason",
	} {
		if got := snakeCase(key); got != want {
			t.Errorf("%s in snake_case is %s, want %s", key, got, want)
		}
	}
	for id := range fieldCount {
		f := fieldTable[id]
		if f.key == "" || fieldIndex()[f.at][f.key] != id || fieldIndex()[f.at][snakeCase(f.key)] != id {
			t.Errorf("field %d (%s) is not found by its key", id, f.key)
		}
		if id > 0 && fieldTable[id-1].at != f.at && firstField[f.at] != id {
			t.Errorf("%s does not begin its place", f.key)
		}
	}
}

// Read reads with the zero Reader.
func Read(c *hook.Call, r Reply) (*hook.Output, error) { return Reader{}.Read(c, r) }
