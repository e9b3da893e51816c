package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

// strictness orders verdicts by what they let happen: where no one has an
// opinion the host asks as it always does.
var strictness = map[hook.Verdict]int{
	hook.Allow: 0, hook.NoOpinion: 1, hook.Ask: 2, hook.Defer: 3, hook.Deny: 4,
}

// answered is what is expected of one observed answer.
type answered struct {
	Verdict hook.Verdict
	Reason  string
	Failure hook.Failure
	Stop    bool
	Told    string   // context, message for the person, or what replaces a tool's output
	Codes   []string // of the warnings
}

func answeredOf(t *testing.T, c *hook.Call, out *hook.Output, err error) answered {
	got := answered{Failure: failureOf(t, err).Failure, Codes: codesOf(c)}
	if out != nil {
		got.Verdict, got.Reason, got.Stop = out.Verdict, out.Reason, out.Stop
		got.Told = out.Context + out.SystemMessage + string(out.UpdatedToolOutput)
	}
	return got
}

// wantAnswers says of each observed answer to PreToolUse what ours makes of it.
var wantAnswers = map[string]answered{
	"ask":                   {Verdict: hook.Ask, Reason: "ASKR"},
	"defer":                 {Verdict: hook.Defer},
	"exit2":                 {Verdict: hook.Deny, Reason: "ERR"},
	"exit1":                 {Failure: hook.FailureExit},
	"exit1-deny":            {Verdict: hook.Deny, Reason: "NO"},
	"exit1-allow":           {Verdict: hook.Allow},
	"exit2-allow":           {Verdict: hook.Deny, Reason: "ERR"},
	"exit2-allow-silent":    {Verdict: hook.Deny, Reason: noReason},
	"exit2-deny":            {Verdict: hook.Deny, Reason: "NO"},
	"exit2-open-brace":      {Verdict: hook.Deny, Reason: "ERR"},
	"exit0-bad-json":        {Failure: hook.FailureOutput},
	"no-hookEventName":      {Failure: hook.FailureOutput},
	"wrong-hookEventName":   {Failure: hook.FailureOutput},
	"unknown-decision":      {Failure: hook.FailureOutput},
	"noise-first":           {Failure: hook.FailureOutput},
	"array":                 {Failure: hook.FailureOutput},
	"block-and-allow":       {Verdict: hook.Deny, Reason: "B"},
	"bom":                   {Verdict: hook.Deny, Reason: "NO"},
	"decision-deny":         {Failure: hook.FailureOutput},
	"hso-null":              {},
	"leading-space":         {Verdict: hook.Deny, Reason: "NO"},
	"text-after":            {Failure: hook.FailureOutput},
	"exit0-deny-and-stderr": {Verdict: hook.Deny, Reason: "NO"},
	"async-exit2":           {},
	"continue-string":       {Failure: hook.FailureOutput},
	"block-no-reason":       {Verdict: hook.Deny, Reason: noReason},
	"reason-number":         {Failure: hook.FailureOutput},
	"exit126":               {Failure: hook.FailureExit},
	"json-string":           {Failure: hook.FailureOutput},
	"comment":               {Failure: hook.FailureOutput},
	"single-quotes":         {Failure: hook.FailureOutput},
	"decision-null":         {},
	"suppress":              {Verdict: hook.Deny, Reason: "R"},
	"hso-array":             {Failure: hook.FailureOutput},
	"case-key":              {Failure: hook.FailureOutput},
	"top-level-perm":        {Failure: hook.FailureOutput, Codes: []string{"misplaced_key"}},
	"two-objects-one-line":  {Failure: hook.FailureOutput},
	"jsonl-deny-last":       {Failure: hook.FailureOutput},
	"jsonl-unknown":         {Failure: hook.FailureOutput},
	"exit1-text":            {Failure: hook.FailureExit},
	"allow-with-context":    {Verdict: hook.Allow, Told: "CTX"},
	"stop-and-allow":        {Verdict: hook.Allow, Stop: true},
}

func TestAnswersAreReadAsTheClientWasSeenToReadThem(t *testing.T) {
	var cases []struct {
		ID, Event, Stdout, Stderr string
		Exit                      int
		Observed                  hook.Verdict
		Said                      string
	}
	readTestdata(t, "answers.json", &cases)
	if len(cases) != len(wantAnswers) {
		t.Errorf("%d cases, %d expectations", len(cases), len(wantAnswers))
	}
	for _, tc := range cases {
		t.Run(tc.ID, func(t *testing.T) {
			c := newCall(t, hook.Event(tc.Event))
			out, err := Reader{}.Read(c, Reply{[]byte(tc.Stdout), []byte(tc.Stderr), tc.Exit})
			want, reviewed := wantAnswers[tc.ID]
			if diff := cmp.Diff(want, answeredOf(t, c, out, err)); diff != "" || !reviewed {
				t.Errorf("reviewed: %v (-want +got):\n%s", reviewed, diff)
			}
			got := resultOf(c, out, err).Verdict()
			if strictness[got] < strictness[tc.Observed] {
				t.Errorf("ours is %v, the client was stricter: %v", got, tc.Observed)
			}
			if got == hook.Deny && out.Reason != noReason && !strings.Contains(tc.Said, out.Reason) {
				t.Errorf("reason %q, the client said %q", out.Reason, tc.Said)
			}
		})
	}
}

// wantEvents says of each observed answer to other events what ours makes of it.
var wantEvents = map[string]answered{
	"SessionStart silent":               {},
	"SessionStart plain":                {Told: "PLAINTEXT"},
	"SessionStart exit2":                {Failure: hook.FailureExit, Told: "STDERR2"},
	"SessionStart exit1":                {Failure: hook.FailureExit},
	"SessionStart block":                {Failure: hook.FailureOutput},
	"SessionStart ctx":                  {Told: "ADDCTX"},
	"SessionStart contfalse":            {Stop: true},
	"UserPromptSubmit plain":            {Told: "PLAINTEXT"},
	"UserPromptSubmit exit1":            {Failure: hook.FailureExit},
	"UserPromptSubmit block":            {Verdict: hook.Deny, Reason: "BLOCKREASON"},
	"UserPromptSubmit ctx":              {Told: "ADDCTX"},
	"PostToolUse silent":                {},
	"PostToolUse plain":                 {Codes: []string{"ignored_text"}},
	"PostToolUse exit1":                 {Failure: hook.FailureExit},
	"PostToolUse ctx":                   {Told: "ADDCTX"},
	"Stop exit2":                        {Verdict: hook.Deny, Reason: "STDERR2"},
	"Stop exit1":                        {Failure: hook.FailureExit},
	"Stop block":                        {Verdict: hook.Deny, Reason: "BLOCKREASON"},
	"Stop ctx":                          {Told: "ADDCTX"},
	"Stop contfalse":                    {Stop: true},
	"SessionEnd silent":                 {},
	"SessionEnd plain":                  {Codes: []string{"ignored_text"}},
	"SessionEnd exit2":                  {Failure: hook.FailureExit, Told: "STDERR2"},
	"SessionEnd ctx":                    {Codes: []string{"ignored_field"}},
	"SessionEnd contfalse":              {Failure: hook.FailureOutput},
	"PostToolUse updatedToolOutput":     {Told: `{"stdout": "REPLACED", "stderr": "", "interrupted": false, "isImage": false}`},
	"PostToolUse updatedToolOutput str": {Told: `"REPLACED"`},
	"PostToolUse updatedMCP":            {Codes: []string{"deprecated_field"}},
	"PermissionRequest allow":           {Verdict: hook.Allow},
	"PermissionRequest silent":          {},
	"SubagentStop":                      {},
	"PostToolBatch block":               {Verdict: hook.Deny, Reason: "BB"},
	"badjson onFailure block":           {Failure: hook.FailureOutput},
}

func TestEventsAreAnsweredAsTheClientWasSeenToTakeThem(t *testing.T) {
	var cases []struct {
		ID, Event, Stdout, Stderr string
		Exit                      int
		OnFailure                 hook.FailurePolicy `json:"on_failure"`
		Observed                  struct {
			Fired      int
			ModelTurns int      `json:"model_turns"`
			ToolRan    bool     `json:"tool_ran"`
			ModelSaw   []string `json:"model_saw"`
			Ended      string
		}
	}
	readTestdata(t, "events.json", &cases)
	if len(cases) != len(wantEvents) {
		t.Errorf("%d cases, %d expectations", len(cases), len(wantEvents))
	}
	for _, tc := range cases {
		t.Run(tc.ID, func(t *testing.T) {
			c := newCall(t, hook.Event(tc.Event))
			c.Hook.OnFailure = tc.OnFailure
			out, err := Reader{}.Read(c, Reply{[]byte(tc.Stdout), []byte(tc.Stderr), tc.Exit})
			got := answeredOf(t, c, out, err)
			want, reviewed := wantEvents[tc.ID]
			if diff := cmp.Diff(want, got); diff != "" || !reviewed {
				t.Errorf("reviewed: %v (-want +got):\n%s", reviewed, diff)
			}

			r := resultOf(c, out, err)
			o, seen := hook.Merge(c.Hook.Event, []hook.Result{*r}), tc.Observed
			promptBlocked := seen.ModelTurns == 0
			continued := c.Hook.Event == hook.EventStop && seen.Fired > 1
			loopEnded := seen.Ended == "hook_stopped"
			if (promptBlocked || continued || loopEnded) && o.Verdict != hook.Deny {
				t.Errorf("verdict %v, the client was seen to block", o.Verdict)
			}
			if seen.Ended == "stop_hook_prevented" && !o.Stop {
				t.Error("the agent continues, the client was seen to stop")
			}
			if o.Verdict == hook.Allow && !(c.Hook.Event == hook.EventPermissionRequest && seen.ToolRan) {
				t.Error("allowed, the client was not seen to")
			}
			for _, word := range seen.ModelSaw {
				if !strings.Contains(got.Told+got.Reason, word) {
					t.Errorf("the model was told %s, ours has %+v", word, got)
				}
			}
		})
	}
}
