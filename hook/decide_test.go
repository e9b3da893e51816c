package hook_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestOnlyNoOpinionAndAllowMayProceed(t *testing.T) {
	for _, tt := range []struct {
		event   hook.Event
		verdict hook.Verdict
		stop    bool
		want    bool
	}{
		{hook.EventPreToolUse, hook.NoOpinion, false, true},
		{hook.EventPreToolUse, hook.Allow, false, true},
		{hook.EventPreToolUse, hook.Ask, false, false},
		{hook.EventPreToolUse, hook.Defer, false, false},
		{hook.EventPreToolUse, hook.Deny, false, false},
		{hook.EventPreToolUse, hook.Deny + 1, false, false},
		{hook.EventPreToolUse, hook.Allow, true, false},
		{hook.EventSessionStart, hook.NoOpinion, true, false},
		{hook.EventPostToolUse, hook.Deny, false, false},
		{hook.EventStop, hook.NoOpinion, true, true}, // what proceeds is the stop
		{hook.EventStop, hook.Deny, false, false},
	} {
		o := &hook.Outcome{Event: tt.event, Verdict: tt.verdict, Stop: tt.stop}
		if got := o.MayProceed(); got != tt.want {
			t.Errorf("%s %v, stop %v: %v", tt.event, tt.verdict, tt.stop, got)
		}
	}
	var none *hook.Outcome
	if none.MayProceed() {
		t.Error("what was not decided may proceed")
	}
}

func TestFailuresAreTheHooksThatDidNotDoTheirWork(t *testing.T) {
	h := &hook.Hook{ID: "dir/a", Event: hook.EventPreToolUse}
	results := []hook.Result{
		{Hook: h, Status: hook.StatusSuccess}, {Hook: h, Status: hook.StatusBlocked}, {Hook: h, Status: hook.StatusFailed, Failure: hook.FailureExit},
		{Hook: h, Status: hook.StatusSkipped}, {Hook: h, Status: hook.StatusSkipped, Failure: hook.FailureUntrusted},
		{Hook: h, Status: hook.StatusAsync}, {Hook: h, Status: hook.StatusCancelled},
		{Hook: h, Status: hook.StatusFailed, Reason: "of no kind"},
	}
	var got []hook.Failure
	for _, r := range hook.Merge(hook.EventPreToolUse, results).Failures() {
		got = append(got, r.Failure)
	}
	if diff := cmp.Diff([]hook.Failure{hook.FailureExit, hook.FailureUntrusted, ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLastRewriteCounts(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	rewrite := func(word string, change ...func(*hook.Result)) hook.Result {
		r := ran("dir/"+word, hook.Output{UpdatedInput: raw(word), UpdatedToolOutput: raw(word)})
		for _, c := range change {
			c(&r)
		}
		return r
	}
	declared := func(r *hook.Result) { r.Hook.Rewrites = true }
	turn := func(n int) func(*hook.Result) { return func(r *hook.Result) { r.Turn = n } }
	status := func(s hook.Status) func(*hook.Result) { return func(r *hook.Result) { r.Status = s } }
	stale := func(r *hook.Result) { r.Stale = true }
	silent := ran("dir/silent", hook.Output{Context: "x"})
	for name, tt := range map[string]struct {
		results       []hook.Result
		input, output string
	}{
		"none":                               {[]hook.Result{silent}, "", ""},
		"the last in order":                  {[]hook.Result{rewrite("a"), rewrite("b")}, "b", "b"},
		"a later one that rewrites nothing":  {[]hook.Result{rewrite("a"), silent}, "a", "a"},
		"a later one without an answer":      {[]hook.Result{rewrite("a"), {Hook: silent.Hook, Status: hook.StatusSuccess}}, "a", "a"},
		"an undeclared one":                  {[]hook.Result{rewrite("a"), rewrite("b", declared)}, "a", "a"},
		"the last declared one":              {[]hook.Result{rewrite("a", declared), rewrite("b", declared)}, "b", "b"},
		"a later turn":                       {[]hook.Result{rewrite("a", turn(2)), rewrite("b", turn(1))}, "a", "a"},
		"a later turn, declared":             {[]hook.Result{rewrite("a", turn(2), declared), rewrite("b", turn(1))}, "a", "a"},
		"one that failed":                    {[]hook.Result{rewrite("a"), rewrite("b", status(hook.StatusFailed))}, "a", "a"},
		"one that is not about the input":    {[]hook.Result{rewrite("a"), rewrite("b", stale)}, "a", "a"},
		"one that blocks replaces an output": {[]hook.Result{rewrite("a"), rewrite("b", status(hook.StatusBlocked))}, "a", "b"},
	} {
		for ev, want := range map[hook.Event]string{hook.EventPreToolUse: tt.input, hook.EventPermissionRequest: tt.input, hook.EventPostToolUse: tt.output,
			hook.EventUserPromptSubmit: "", "DeploymentStarted": ""} {
			o := hook.Merge(ev, tt.results)
			got := string(o.UpdatedInput) + string(o.UpdatedToolOutput)
			if want != "" {
				want = `"` + want + `"`
			}
			if got != want || o.UpdatedInput != nil && o.UpdatedToolOutput != nil {
				t.Errorf("%s, %s: %s, want %s", name, ev, got, want)
			}
		}
	}
}

// Every answer to another input refuses, and none approves.
func TestAnswersToOtherInputsOnlyRefuse(t *testing.T) {
	grants := &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[]`)}
	for v := hook.NoOpinion; v <= hook.Deny; v++ {
		want := v
		if v <= hook.Allow {
			want = hook.NoOpinion
		}
		stale := ran("dir/a", hook.Output{Verdict: v, Reason: "first", Permission: grants})
		stale.Stale = true
		before := stale
		before.Stale = false // being an earlier answer is enough
		for name, r := range map[string]hook.Result{
			"stale":            stale,
			"earlier":          {Hook: stale.Hook, Status: hook.StatusSuccess, Earlier: &before},
			"earlier by two":   {Hook: stale.Hook, Status: hook.StatusSuccess, Earlier: &hook.Result{Hook: stale.Hook, Status: hook.StatusSuccess, Earlier: &before}},
			"then failed":      {Hook: stale.Hook, Status: hook.StatusFailed, Failure: hook.FailureExit, Earlier: &before},
			"then not started": {Hook: stale.Hook, Status: hook.StatusSkipped, Failure: hook.FailureUntrusted, Earlier: &before},
		} {
			o := hook.Merge(hook.EventPermissionRequest, []hook.Result{r})
			if o.Verdict != want || o.Permission != nil || want != hook.NoOpinion && o.Reason != "first" {
				t.Errorf("%s %v: %v %q %v", name, v, o.Verdict, o.Reason, o.Permission)
			}
		}
	}
	given := ran("dir/a", hook.Output{Verdict: hook.Allow, Permission: grants, Retry: true, WorktreePath: "/w", Elicitation: &hook.ElicitationAnswer{Action: "accept"}})
	for _, stale := range []bool{false, true} { // another hook allows the final input
		given.Stale = stale
		o := hook.Merge(hook.EventPermissionRequest, []hook.Result{given, ran("dir/b", hook.Output{Verdict: hook.Allow})})
		if o.Verdict != hook.Allow || (o.Permission == nil) != stale || o.Retry == stale || (o.WorktreePath == "") != stale || (o.Elicitation == nil) != stale {
			t.Errorf("stale %v: %+v", stale, o)
		}
	}
	before := ran("dir/a", hook.Output{Verdict: hook.Ask, Reason: "first"})
	later := ran("dir/a", hook.Output{Verdict: hook.Deny, Reason: "second"})
	later.Earlier = &before
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{later}); o.Verdict != hook.Deny || o.Reason != "second" {
		t.Errorf("%v %q", o.Verdict, o.Reason)
	}
	stopped := ran("dir/a", hook.Output{})
	stopped.Earlier = &hook.Result{Hook: stopped.Hook, Status: hook.StatusSuccess, Output: &hook.Output{Stop: true, StopReason: "enough"}}
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{stopped}); !o.Stop || o.Verdict != hook.Deny || o.Reason != "enough" {
		t.Errorf("stop %v, %v %q", o.Stop, o.Verdict, o.Reason)
	}
}

func TestPermissionsOfTheFirstHookCountAndOnlyWithAnAllow(t *testing.T) {
	grant := func(v hook.Verdict, p *hook.PermissionAnswer) hook.Result {
		return ran("dir/a", hook.Output{Verdict: v, Permission: p})
	}
	one, two := &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[1]`)}, &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[2]`)}
	interrupt := &hook.PermissionAnswer{Interrupt: true}
	for name, tt := range map[string]struct {
		results []hook.Result
		want    *hook.PermissionAnswer
	}{
		"the first":                           {[]hook.Result{grant(hook.Allow, one), grant(hook.Allow, two)}, one},
		"the only one, after an interruption": {[]hook.Result{grant(hook.Allow, &hook.PermissionAnswer{}), grant(hook.Allow, two)}, two},
		"an earlier answer interrupts": {[]hook.Result{{Hook: &hook.Hook{ID: "dir/a", Event: hook.EventPermissionRequest}, Status: hook.StatusSuccess,
			Output: &hook.Output{Verdict: hook.Deny}, Earlier: &hook.Result{Hook: &hook.Hook{ID: "dir/a", Event: hook.EventPermissionRequest}, Status: hook.StatusSuccess,
				Output: &hook.Output{Verdict: hook.Deny, Permission: interrupt}}}}, interrupt},
		"the only one":             {[]hook.Result{grant(hook.Allow, nil), grant(hook.Allow, two)}, two},
		"one denies":               {[]hook.Result{grant(hook.Allow, one), grant(hook.Deny, nil)}, nil},
		"one interrupts, one not":  {[]hook.Result{grant(hook.Deny, interrupt), grant(hook.Deny, &hook.PermissionAnswer{})}, interrupt},
		"one interrupts":           {[]hook.Result{grant(hook.Allow, one), grant(hook.Deny, interrupt)}, interrupt},
		"an interruption alone":    {[]hook.Result{grant(hook.Allow, interrupt)}, nil},
		"grants without an answer": {[]hook.Result{grant(hook.NoOpinion, one)}, nil},
	} {
		if diff := cmp.Diff(tt.want, hook.Merge(hook.EventPermissionRequest, tt.results).Permission); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if one.Interrupt || one.UpdatedPermissions == nil || interrupt.UpdatedPermissions != nil {
		t.Error("merging changed an answer")
	}
}

func TestStricterElicitationActionWinsInAnyOrder(t *testing.T) {
	actions := []string{"accept", "cancel", "decline", "refuse"} // the last is unknown
	for i, a := range actions {
		for j, b := range actions {
			o := hook.Merge(hook.EventElicitation, []hook.Result{
				ran("dir/a", hook.Output{Elicitation: &hook.ElicitationAnswer{Action: a}}),
				ran("dir/b", hook.Output{Elicitation: &hook.ElicitationAnswer{Action: b}})})
			if want := actions[max(i, j)]; o.Elicitation.Action != want {
				t.Errorf("%s and %s: %s", a, b, o.Elicitation.Action)
			}
		}
	}
	denied := hook.Merge(hook.EventElicitation, []hook.Result{
		ran("dir/a", hook.Output{Elicitation: &hook.ElicitationAnswer{Action: "accept"}}), ran("dir/b", hook.Output{Verdict: hook.Deny})})
	if denied.Elicitation != nil {
		t.Errorf("denied, and %s", denied.Elicitation.Action)
	}
}

func TestDecideAppliesTheFacts(t *testing.T) {
	rewritten := ran("dir/a", hook.Output{Verdict: hook.Allow, UpdatedInput: json.RawMessage(`{"a":1}`)})
	silent := ran("dir/a", hook.Output{})
	deny := ran("dir/a", hook.Output{Verdict: hook.Deny, Reason: "no"})
	pre := hook.PreToolUse{ToolName: "Bash"}
	for name, tt := range map[string]struct {
		in      hook.Input
		results []hook.Result
		facts   hook.Facts
		want    hook.Verdict
		says    string // in the reason or a diagnostic
	}{
		"nothing":                          {pre, []hook.Result{rewritten}, hook.Facts{}, hook.Allow, ""},
		"nobody could judge":               {pre, []hook.Result{rewritten}, hook.Facts{Unjudged: errors.New("odd")}, hook.Deny, "odd"},
		"nobody was to judge":              {pre, nil, hook.Facts{Unjudged: errors.New("odd")}, hook.NoOpinion, ""},
		"it has happened":                  {hook.PostToolUse{}, []hook.Result{silent}, hook.Facts{Unjudged: errors.New("odd")}, hook.NoOpinion, ""},
		"a schema":                         {pre, []hook.Result{rewritten}, hook.Facts{Schema: errors.New("a: want text")}, hook.Deny, "input of Bash does not satisfy its schema: a: want text"},
		"a schema, and nothing rewritten":  {pre, []hook.Result{silent}, hook.Facts{Schema: errors.New("x")}, hook.NoOpinion, ""},
		"what can be blocked":              {hook.ConfigChange{Source: "user_settings"}, []hook.Result{deny}, hook.Facts{}, hook.Deny, "no"},
		"what cannot be blocked":           {hook.ConfigChange{Source: "policy_settings"}, []hook.Result{deny}, hook.Facts{}, hook.NoOpinion, "cannot be blocked"},
		"below the limit of stops":         {hook.Stop{}, []hook.Result{deny}, hook.Facts{StopLimit: 2, StopsBlocked: 1}, hook.Deny, "no"},
		"at the limit of stops":            {hook.Stop{}, []hook.Result{deny}, hook.Facts{StopLimit: 2, StopsBlocked: 2}, hook.NoOpinion, "2 times in a row; it stops now, against: no"},
		"no limit of stops":                {hook.Stop{}, []hook.Result{deny}, hook.Facts{StopsBlocked: 99}, hook.Deny, "no"},
		"a limit of stops elsewhere":       {pre, []hook.Result{deny}, hook.Facts{StopLimit: 2, StopsBlocked: 9}, hook.Deny, "no"},
		"a limit of stops, and no refusal": {hook.Stop{}, []hook.Result{silent}, hook.Facts{StopLimit: 2, StopsBlocked: 9}, hook.NoOpinion, ""},
	} {
		tt.facts.Notes = []hook.Diagnostic{{Code: "noted"}}
		o := hook.Decide(tt.in, tt.results, tt.facts)
		said := o.Reason
		for _, d := range o.Diagnostics[1:] {
			said += d.Message
		}
		if o.Verdict != tt.want || !strings.Contains(said, tt.says) || tt.says == "" && said != "" || o.Diagnostics[0].Code != "noted" {
			t.Errorf("%s: %v %q %v", name, o.Verdict, o.Reason, o.Diagnostics)
		}
		if o.Verdict == hook.Deny && o.UpdatedInput != nil {
			t.Errorf("%s: denied with a rewrite", name)
		}
	}
}

// Of what goes with an acceptance nothing is left, whoever refuses.
func TestRefusalTakesGrantsBack(t *testing.T) {
	grants := ran("dir/a", hook.Output{Verdict: hook.Allow, UpdatedInput: json.RawMessage(`{"a":1}`), Elicitation: &hook.ElicitationAnswer{Action: "accept"},
		Permission: &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[1]`), Interrupt: true}})
	decline := ran("dir/a", hook.Output{Elicitation: &hook.ElicitationAnswer{Action: "decline"}})
	for _, v := range []hook.Verdict{hook.NoOpinion, hook.Allow, hook.Ask, hook.Defer, hook.Deny} {
		o := hook.Merge(hook.EventPermissionRequest, []hook.Result{grants, ran("dir/b", hook.Output{Verdict: v, Reason: "second"})})
		if (o.UpdatedInput != nil) != (v != hook.Deny) {
			t.Errorf("%v: the input is %s", v, o.UpdatedInput)
		}
		if (o.Elicitation != nil) != (v <= hook.Allow) {
			t.Errorf("%v: the answer is %v", v, o.Elicitation)
		}
		var want *hook.PermissionAnswer
		switch {
		case v == hook.Deny:
			want = &hook.PermissionAnswer{Interrupt: true}
		case v <= hook.Allow:
			want = &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[1]`)}
		}
		if diff := cmp.Diff(want, o.Permission); diff != "" {
			t.Errorf("%v: %s", v, diff)
		}
		if o = hook.Merge(hook.EventElicitation, []hook.Result{decline, ran("dir/b", hook.Output{Verdict: v})}); o.Elicitation == nil || o.Elicitation.Action != "decline" {
			t.Errorf("%v: the refusal of the server is %v", v, o.Elicitation)
		}
	}
	for name, facts := range map[string]hook.Facts{"unjudged": {Unjudged: errors.New("odd")}, "against the schema": {Schema: errors.New("odd")}} {
		o := hook.Decide(hook.PermissionRequest{ToolName: "Bash"}, []hook.Result{grants}, facts)
		if o.Verdict != hook.Deny || o.UpdatedInput != nil || o.Elicitation != nil || o.Permission != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	o := hook.Decide(hook.ConfigChange{Source: "policy_settings"}, []hook.Result{ran("dir/a", hook.Output{Verdict: hook.Deny, Permission: &hook.PermissionAnswer{Interrupt: true}})}, hook.Facts{})
	if o.Verdict != hook.NoOpinion || o.Permission != nil {
		t.Errorf("a denial that does not count interrupts: %+v", o)
	}
}

func TestWithheldOutputIsReplacedByAText(t *testing.T) {
	replaced := ran("dir/a", hook.Output{UpdatedToolOutput: json.RawMessage(`"secret"`)})
	facts := hook.Facts{Withheld: errors.New("a \"redaction\" failed")}
	o := hook.Decide(hook.PostToolUse{}, []hook.Result{replaced}, facts)
	if got := string(o.UpdatedToolOutput); got != `"The output is withheld: a \"redaction\" failed"` || o.Verdict != hook.NoOpinion {
		t.Errorf("%v, %s", o.Verdict, got)
	}
	want := []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "output_withheld", Message: `a "redaction" failed`}}
	if diff := cmp.Diff(want, o.Diagnostics); diff != "" {
		t.Error(diff)
	}
	if o = hook.Decide(hook.PreToolUse{}, []hook.Result{replaced}, facts); o.UpdatedToolOutput != nil || o.Diagnostics != nil {
		t.Errorf("before the tool: %s, %v", o.UpdatedToolOutput, o.Diagnostics)
	}
}

func TestDenialThatDoesNotCountSaysSo(t *testing.T) {
	deny := []hook.Result{ran("dir/a", hook.Output{Verdict: hook.Deny, Reason: "no"})}
	for code, o := range map[string]*hook.Outcome{
		"cannot_block":    hook.Decide(hook.SessionEnd{}, deny, hook.Facts{}),
		"stop_overridden": hook.Decide(hook.SubagentStop{}, deny, hook.Facts{StopLimit: 1, StopsBlocked: 1}),
	} {
		if o.Verdict != hook.NoOpinion || o.Reason != "" || len(o.Diagnostics) != 1 {
			t.Fatalf("%s: %v %q %v", code, o.Verdict, o.Reason, o.Diagnostics)
		}
		if d := o.Diagnostics[0]; d.Code != code || d.Severity != hook.SeverityWarning || (d.Hint != "") != (code == "stop_overridden") {
			t.Errorf("%s: %+v", code, d)
		}
	}
}

func TestShortAnswersSayWhatTheirNamesSay(t *testing.T) {
	for _, tt := range []struct{ got, want *hook.Output }{
		{hook.Denied("x"), &hook.Output{Verdict: hook.Deny, Reason: "x"}}, {hook.Allowed("x"), &hook.Output{Verdict: hook.Allow, Reason: "x"}},
		{hook.Asked("x"), &hook.Output{Verdict: hook.Ask, Reason: "x"}}, {hook.WithContext("x"), &hook.Output{Context: "x"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReasonIsOfTheAnswerThatDecided(t *testing.T) {
	ask := ran("dir/a", hook.Output{Verdict: hook.Ask, Reason: "first"})
	failed := hook.Result{Hook: ask.Hook, Status: hook.StatusFailed, Failure: hook.FailureExit, Reason: "broke", Earlier: &ask}
	allow := ran("dir/a", hook.Output{Verdict: hook.Allow, Reason: "fine"})
	silent := hook.Result{Hook: ask.Hook, Status: hook.StatusSuccess}
	for name, tt := range map[string]struct {
		results []hook.Result
		verdict hook.Verdict
		reason  string
	}{
		"an ask before a failure": {[]hook.Result{failed}, hook.Ask, "first"},
		"an allow":                {[]hook.Result{silent, allow}, hook.Allow, "fine"},
		"no answer":               {[]hook.Result{silent}, hook.NoOpinion, ""},
		"the first of two":        {[]hook.Result{allow, ask, ran("dir/b", hook.Output{Verdict: hook.Ask, Reason: "second"})}, hook.Ask, "first"},
	} {
		if o := hook.Merge(hook.EventPreToolUse, tt.results); o.Verdict != tt.verdict || o.Reason != tt.reason {
			t.Errorf("%s: %v %q", name, o.Verdict, o.Reason)
		}
	}
	background := ran("dir/a", hook.Output{Verdict: hook.Deny, Stop: true, Context: "late", Permission: &hook.PermissionAnswer{Interrupt: true}})
	background.Status = hook.StatusAsync
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{background}); o.Verdict != hook.NoOpinion || o.Stop || o.Contexts != nil || o.Permission != nil {
		t.Errorf("a background hook decided: %+v", o)
	}
}

func TestVerdictsAreReadAsTheyAreWritten(t *testing.T) {
	for v := hook.NoOpinion; v <= hook.Deny; v++ {
		text, _ := v.MarshalText()
		got := hook.Verdict(99)
		if err := got.UnmarshalText(text); err != nil || got != v {
			t.Errorf("%v is read as %v, %v", v, got, err)
		}
	}
	got := hook.Ask
	if err := got.UnmarshalText([]byte("Deny")); err == nil || got != hook.Ask || !strings.Contains(err.Error(), `"Deny"`) {
		t.Errorf("an unknown word is read as %v, %v", got, err)
	}
}

func TestMergeKeepsWhatEveryHookAdds(t *testing.T) {
	display := "shown"
	full := func(word string) hook.Output {
		return hook.Output{Context: word, SystemMessage: word, InitialUserMessage: word, TerminalSequence: word, Text: word, WatchPaths: []string{word, "both"},
			Env: map[string]string{word: "1"}, SessionTitle: word, WorktreePath: word, DisplayContent: &display, Stop: true, StopReason: word,
			SuppressOutput: word == "a", SuppressOriginalPrompt: word == "a", Retry: word == "a"}
	}
	both := []string{"a", "b"}
	got := hook.Merge(hook.EventSessionStart, []hook.Result{ran("dir/a", full("a")), ran("dir/b", full("b"))})
	got.Results = nil
	want := &hook.Outcome{Event: hook.EventSessionStart, Stop: true, StopReason: "a", Contexts: both, SystemMessages: both, InitialUserMessages: both,
		TerminalSequences: both, Texts: both, WatchPaths: []string{"a", "both", "b"}, Env: map[string]string{"a": "1", "b": "1"},
		SessionTitle: "b", WorktreePath: "a", DisplayContent: &display, SuppressOutput: true, SuppressOriginalPrompt: true, Retry: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDenialWithoutAReasonNamesItsHook(t *testing.T) {
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{ran("dir/a", hook.Output{Verdict: hook.Deny})}); o.Reason != "blocked by hook dir/a" {
		t.Errorf("got %q", o.Reason)
	}
}

func TestTimeoutBlocksOnlyWhereTheEventSaysSo(t *testing.T) {
	for ev, want := range map[hook.Event]hook.Verdict{hook.EventPreToolUse: hook.NoOpinion, hook.EventPreModelSwitch: hook.Deny} {
		r := hook.Result{Hook: &hook.Hook{ID: "dir/a", Event: ev}, Status: hook.StatusFailed, Failure: hook.FailureTimeout}
		if got := r.Verdict(); got != want {
			t.Errorf("%s: %v", ev, got)
		}
	}
}

// What a hook may replace is the event's to say, and whether it may the status'.
func TestAHookReplacesWhatItsEventLetsItReplace(t *testing.T) {
	in, out := json.RawMessage(`{"a":1}`), json.RawMessage(`"redacted"`)
	for _, tt := range []struct {
		event  hook.Event
		status hook.Status
		answer *hook.Output
		want   string
	}{
		{hook.EventPreToolUse, hook.StatusSuccess, &hook.Output{UpdatedInput: in, UpdatedToolOutput: out}, string(in)},
		{hook.EventPreToolUse, hook.StatusSuccess, &hook.Output{UpdatedToolOutput: out}, ""},
		{hook.EventPreToolUse, hook.StatusBlocked, &hook.Output{Verdict: hook.Deny, UpdatedInput: in}, ""},
		{hook.EventPreToolUse, hook.StatusFailed, &hook.Output{UpdatedInput: in}, ""},
		{hook.EventPermissionRequest, hook.StatusSuccess, &hook.Output{UpdatedInput: in}, string(in)},
		{hook.EventPostToolUse, hook.StatusSuccess, &hook.Output{UpdatedInput: in, UpdatedToolOutput: out}, string(out)},
		{hook.EventPostToolUse, hook.StatusSuccess, &hook.Output{UpdatedToolOutput: out}, string(out)},
		{hook.EventPostToolUse, hook.StatusBlocked, &hook.Output{Verdict: hook.Deny, UpdatedToolOutput: out}, string(out)},
		{hook.EventPostToolUse, hook.StatusFailed, &hook.Output{UpdatedToolOutput: out}, ""},
		{hook.EventPostToolUse, hook.StatusSuccess, &hook.Output{UpdatedInput: in}, ""},
		{hook.EventSessionStart, hook.StatusSuccess, &hook.Output{UpdatedInput: in, UpdatedToolOutput: out}, ""},
		{hook.EventPreToolUse, hook.StatusSuccess, nil, ""},
	} {
		r := hook.Result{Status: tt.status, Output: tt.answer}
		if got := string(r.Rewrite(tt.event)); got != tt.want {
			t.Errorf("%s %s %+v: %s, want %s", tt.event, tt.status, tt.answer, got, tt.want)
		}
		r.Stale = true
		if got := r.Rewrite(tt.event); got != nil {
			t.Errorf("%s: an answer to another input: %s", tt.event, got)
		}
	}
}
