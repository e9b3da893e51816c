package hook_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
)

func anyResult(ev hook.Event) *rapid.Generator[hook.Result] {
	return rapid.Custom(func(t *rapid.T) hook.Result {
		h := &hook.Hook{ID: rapid.SampledFrom([]string{"user/a", "dir/b", "dir/c"}).Draw(t, "id"), Event: ev}
		if rapid.Bool().Draw(t, "block") {
			h.OnFailure = hook.FailureBlock
		}
		h.Rewrites = rapid.Bool().Draw(t, "rewrites")
		r := hook.Result{Hook: h, Status: rapid.SampledFrom([]hook.Status{hook.StatusSuccess, hook.StatusFailed,
			hook.StatusSkipped, hook.StatusCancelled, hook.StatusAsync}).Draw(t, "status")}
		switch r.Status {
		case hook.StatusFailed:
			r.Failure = hook.FailureTimeout
		case hook.StatusSkipped:
			r.Failure = rapid.SampledFrom([]hook.Failure{"", hook.FailureIneligible}).Draw(t, "failure")
		case hook.StatusSuccess:
			r.Output = &hook.Output{
				Verdict: hook.Verdict(rapid.IntRange(0, int(hook.Deny)).Draw(t, "verdict")),
				Stop:    rapid.IntRange(0, 9).Draw(t, "stop") == 0,
				Context: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "context"),
			}
		}
		return r
	})
}

func TestMergeVerdictDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := rapid.SampledFrom([]hook.Event{hook.EventPreToolUse, hook.EventStop, hook.EventPreModelSwitch}).Draw(t, "event")
		rs := rapid.SliceOfN(anyResult(ev), 0, 6).Draw(t, "results")
		a, b := hook.Merge(ev, rs), hook.Merge(ev, rapid.Permutation(rs).Draw(t, "permuted"))
		if a.Verdict != b.Verdict || a.Stop != b.Stop || len(a.Contexts) != len(b.Contexts) {
			t.Fatalf("%v/%v in one order, %v/%v in another", a.Verdict, a.Stop, b.Verdict, b.Stop)
		}
	})
}

func TestMergeIsIdempotentAndNoOpinionNeverWeakens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs := rapid.SliceOfN(anyResult(hook.EventPreToolUse), 0, 6).Draw(t, "results")
		a := hook.Merge(hook.EventPreToolUse, rs)
		if twice := hook.Merge(hook.EventPreToolUse, append(slices.Clone(rs), rs...)); twice.Verdict != a.Verdict || twice.Reason != a.Reason {
			t.Fatalf("the same results twice: %v, once: %v", twice.Verdict, a.Verdict)
		}
		silent := hook.Result{Hook: &hook.Hook{ID: "dir/silent", Event: hook.EventPreToolUse}, Status: hook.StatusSuccess, Output: &hook.Output{}}
		at := rapid.IntRange(0, len(rs)).Draw(t, "at")
		if b := hook.Merge(hook.EventPreToolUse, slices.Insert(slices.Clone(rs), at, silent)); b.Verdict != a.Verdict || b.Reason != a.Reason {
			t.Fatalf("a hook without an opinion changed %v to %v", a.Verdict, b.Verdict)
		}
		for i := range rs {
			if rs[i].Verdict() > a.Verdict && !a.Stop {
				t.Fatalf("%v was merged into %v", rs[i].Verdict(), a.Verdict)
			}
		}
	})
}

func ran(id string, out hook.Output) hook.Result {
	return hook.Result{Hook: &hook.Hook{ID: id, Event: hook.EventPreToolUse}, Status: hook.StatusSuccess, Output: &out}
}

func TestReasonIsTheFirstDeniersInOrder(t *testing.T) {
	o := hook.Merge(hook.EventPreToolUse, []hook.Result{
		ran("dir/a", hook.Output{Verdict: hook.Ask, Reason: "asks", Context: "A"}),
		ran("dir/b", hook.Output{Verdict: hook.Deny, Reason: "first", UpdatedInput: json.RawMessage(`{}`)}),
		ran("dir/c", hook.Output{Verdict: hook.Deny, Reason: "second", Context: "C"}),
	})
	if o.Verdict != hook.Deny || o.Reason != "first" {
		t.Errorf("got %v %q", o.Verdict, o.Reason)
	}
	if diff := cmp.Diff([]string{"A", "C"}, o.Contexts); diff != "" {
		t.Error(diff)
	}
	if o.UpdatedInput != nil {
		t.Error("a denied call has nothing to rewrite")
	}
}

func TestUndeclaredRewriteWinsOverADeclaredOne(t *testing.T) {
	declared := ran("dir/z", hook.Output{UpdatedInput: json.RawMessage(`{"z":1}`)})
	declared.Hook.Rewrites = true
	o := hook.Merge(hook.EventPreToolUse, []hook.Result{
		ran("dir/a", hook.Output{UpdatedInput: json.RawMessage(`{"a":1}`)}),
		ran("dir/b", hook.Output{UpdatedInput: json.RawMessage(`{"b":1}`)}),
		declared,
	})
	if string(o.UpdatedInput) != `{"b":1}` {
		t.Errorf("got %s", o.UpdatedInput)
	}
}

func TestB1FailureOfABlockingHookBlocks(t *testing.T) {
	for _, tt := range []struct {
		event   hook.Event
		policy  hook.FailurePolicy
		status  hook.Status
		failure hook.Failure
		async   bool
		rewake  bool
		want    hook.Verdict
	}{
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusFailed, hook.FailureBreakerOpen, false, false, hook.Deny},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusSkipped, hook.FailureIneligible, false, false, hook.Deny},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusSkipped, hook.FailureUntrusted, false, false, hook.Deny},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusSkipped, "", false, false, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureContinue, hook.StatusFailed, hook.FailureExit, false, false, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusFailed, hook.FailureExit, true, false, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusFailed, hook.FailureExit, false, true, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusAsync, hook.FailureExit, false, false, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusSuccess, hook.FailureExit, false, false, hook.NoOpinion}, // its answer counts
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusBlocked, hook.FailureExit, false, false, hook.NoOpinion},
		{hook.EventPreToolUse, hook.FailureBlock, hook.StatusCancelled, "", false, false, hook.NoOpinion},
		{hook.EventUserPromptSubmit, hook.FailureBlock, hook.StatusFailed, hook.FailureStart, false, false, hook.Deny},
		{hook.EventSessionStart, hook.FailureBlock, hook.StatusFailed, hook.FailureStart, false, false, hook.NoOpinion},
		{hook.EventStop, hook.FailureBlock, hook.StatusFailed, hook.FailureStart, false, false, hook.NoOpinion},
		{hook.EventPreModelSwitch, "", hook.StatusFailed, hook.FailureTimeout, false, false, hook.Deny},
		{hook.EventPreModelSwitch, "", hook.StatusFailed, hook.FailureExit, false, false, hook.NoOpinion},
	} {
		r := hook.Result{Hook: &hook.Hook{ID: "user/guard", Event: tt.event, OnFailure: tt.policy, Async: tt.async, AsyncRewake: tt.rewake},
			Status: tt.status, Failure: tt.failure, Reason: "why"}
		o := hook.Merge(tt.event, []hook.Result{r})
		if o.Verdict != tt.want {
			t.Errorf("%s %s %s(%s): %v, want %v", tt.event, tt.policy, tt.status, tt.failure, o.Verdict, tt.want)
		}
		why := `its on_failure is "block"`
		if tt.policy != hook.FailureBlock {
			why = "a timeout blocks " + string(tt.event)
		}
		if want := "hook user/guard failed (" + string(tt.failure) + "): why; blocking because " + why; o.Verdict == hook.Deny && o.Reason != want {
			t.Errorf("%q, want %q", o.Reason, want)
		}
	}
}

func TestContinueFalseBeatsEveryVerdict(t *testing.T) {
	for ev, want := range map[hook.Event]hook.Verdict{
		hook.EventPreToolUse:  hook.Deny,      // the tool must not run either
		hook.EventStop:        hook.NoOpinion, // the agent stops: nothing keeps it working
		hook.EventPostToolUse: hook.Deny,      // its feedback stands
	} {
		stop := ran("dir/a", hook.Output{Stop: true, StopReason: "enough"})
		deny := ran("dir/b", hook.Output{Verdict: hook.Deny, Reason: "no"})
		if o := hook.Merge(ev, []hook.Result{deny, stop}); !o.Stop || o.StopReason != "enough" || o.Verdict != want {
			t.Errorf("%s: %v, stop %v %q", ev, o.Verdict, o.Stop, o.StopReason)
		}
	}
	allow := ran("dir/a", hook.Output{Verdict: hook.Allow, Stop: true, StopReason: "enough"})
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{allow}); o.Verdict != hook.Deny || o.Reason != "enough" {
		t.Errorf("allow with continue:false: %v %q", o.Verdict, o.Reason)
	}
	mute := ran("dir/a", hook.Output{Stop: true})
	if o := hook.Merge(hook.EventPreToolUse, []hook.Result{mute, allow}); o.Reason != "a hook stopped the agent" || o.StopReason != "" {
		t.Errorf("without a reason: %q, %q", o.Reason, o.StopReason)
	}
	if o := hook.Merge(hook.EventSessionStart, []hook.Result{allow}); o.Verdict != hook.Allow || !o.Stop {
		t.Errorf("where nothing can be prevented: %v, %v", o.Verdict, o.Stop)
	}
}

func TestContextAtAStopKeepsTheAgentWorking(t *testing.T) {
	tells := ran("dir/a", hook.Output{Context: "two tests fail"})
	if o := hook.Merge(hook.EventStop, []hook.Result{tells}); o.Verdict != hook.Deny || o.Reason != "two tests fail" {
		t.Errorf("%v %q", o.Verdict, o.Reason)
	}
	stop := ran("dir/b", hook.Output{Stop: true})
	if o := hook.Merge(hook.EventStop, []hook.Result{tells, stop}); o.Verdict != hook.NoOpinion || !o.Stop {
		t.Errorf("%v, stop %v", o.Verdict, o.Stop)
	}
	deny := ran("dir/c", hook.Output{Verdict: hook.Deny, Reason: "no"})
	if o := hook.Merge(hook.EventStop, []hook.Result{tells, deny}); o.Verdict != hook.Deny || o.Reason != "no" {
		t.Errorf("with a denial: %v %q", o.Verdict, o.Reason)
	}
	if o := hook.Merge(hook.EventPostToolUse, []hook.Result{tells}); o.Verdict != hook.NoOpinion {
		t.Errorf("after a tool: %v", o.Verdict)
	}
}

func TestStricterElicitationAnswerWins(t *testing.T) {
	accept := &hook.ElicitationAnswer{Action: "accept"}
	decline := &hook.ElicitationAnswer{Action: "decline"}
	for _, order := range [][]*hook.ElicitationAnswer{{accept, decline}, {decline, accept}} {
		o := hook.Merge(hook.EventElicitation, []hook.Result{ran("dir/a", hook.Output{Elicitation: order[0]}), ran("dir/b", hook.Output{Elicitation: order[1]})})
		if o.Elicitation.Action != "decline" {
			t.Errorf("got %s", o.Elicitation.Action)
		}
	}
}

func TestOutcomeAsJSONHasNoNulls(t *testing.T) {
	data, err := json.Marshal(hook.Merge(hook.EventStop, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"Stop","verdict":"none","reason":"","stop":false,"updated_input":null,"context":[],"system_messages":[],"results":[],"diagnostics":[]}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestOutcomeAsJSONSaysAllThatHooksDecided(t *testing.T) {
	code, shown := 2, "shown"
	earlier := ran("user/b", hook.Output{Verdict: hook.Ask})
	o := &hook.Outcome{
		Event: hook.EventPreToolUse, Run: "r1", Verdict: hook.Deny, Reason: "no", Stop: true, StopReason: "enough",
		UpdatedInput: json.RawMessage(`{"a":1}`), UpdatedToolOutput: json.RawMessage(`"out"`), Contexts: []string{"c"}, SystemMessages: []string{"m"},
		SuppressOutput: true, Permission: &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[1]`), Interrupt: true},
		Elicitation: &hook.ElicitationAnswer{Action: "accept", Content: json.RawMessage(`{"b":2}`)}, InitialUserMessages: []string{"i"}, SessionTitle: "title",
		WatchPaths: []string{"/w"}, SuppressOriginalPrompt: true, DisplayContent: &shown, Retry: true, WorktreePath: "/wt", Texts: []string{"t"},
		TerminalSequences: []string{"s"}, Env: map[string]string{"K": "v"},
		Results: []hook.Result{
			{Hook: &hook.Hook{ID: "user/a", Event: hook.EventPreToolUse, Kind: hook.KindRule}, Status: hook.StatusFailed, Failure: hook.FailureExit, Reason: "why", Hint: "remedy",
				Report: hook.Report{ExitCode: &code, Stderr: "err", By: "/etc/**"}, Elapsed: 1500 * time.Microsecond, Stale: true},
			{Hook: &hook.Hook{ID: "user/b", Event: hook.EventPreToolUse}, Status: hook.StatusSuccess, Output: hook.Denied("no"), Earlier: &earlier},
		},
		Diagnostics: []hook.Diagnostic{{Severity: hook.SeverityInfo, Code: "noted", Message: "x"}},
	}
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/outcome.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(data)+"\n", "\n")); diff != "" {
		t.Error(diff)
	}
	approved := earlier
	approved.Output = hook.Allowed("fine") // an approval of another input is not shown
	o.Results[1].Earlier = &approved
	if data, err = json.Marshal(o); err != nil || strings.Contains(string(data), "earlier") {
		t.Errorf("%s, %v", data, err)
	}
}

func TestNearestAllowsAnEditForEveryThreeLetters(t *testing.T) {
	long := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"", []string{"a"}, ""},
		{"-_ ", []string{"a"}, ""},
		{"a", nil, ""},
		{"x", []string{"a"}, "a"},        // substitution
		{"ab", []string{"b"}, "b"},       // deletion
		{"b", []string{"ab"}, "ab"},      // insertion
		{"abc", []string{"ab"}, "ab"},    // deletion at the end
		{"ab", []string{"abc"}, "abc"},   // insertion at the end
		{"abc", []string{"acb"}, "acb"},  // swap of neighbours
		{"cab", []string{"abc"}, ""},     // no neighbours: two edits
		{"abcde", []string{"abcXY"}, ""}, // two edits in five letters
		{"abcdef", []string{"abcdXY"}, "abcdXY"},
		{"abcdef", []string{"bacdfe"}, "bacdfe"},
		{"abcdef", []string{"abcXYZ"}, ""},
		{"abcdefghi", []string{"XYZdefghi"}, "XYZdefghi"},
		{"on-failure", []string{"OnFailure"}, "OnFailure"},
		{"on_failure", []string{"timeout", "on failure"}, "on failure"},
		{"abc", []string{"abd", "abe"}, "abd"}, // the first of two
		{"abcdef", []string{"abcdXY", "abcdeX"}, "abcdeX"},
		{long, []string{long[1:]}, long[1:]},
		{long + "a", []string{long}, ""},
		{"ba", []string{"abc"}, ""},
		{"ab", []string{"bc", "ca"}, ""}, // half a swap
		{"aab", []string{"aba"}, "aba"},
	} {
		if got := hook.Nearest(tt.word, tt.candidates); got != tt.want {
			t.Errorf("%.20q of %.80q: %q, want %q", tt.word, tt.candidates, got, tt.want)
		}
	}
}

func TestNearestFindsWhatWasMeant(t *testing.T) {
	for word, want := range map[string]hook.Event{
		"PreToolUes": hook.EventPreToolUse, "pretooluse": hook.EventPreToolUse, "pre_tool_use": hook.EventPreToolUse,
		"Sotp": hook.EventStop, "PostToolUse": hook.EventPostToolUse, "Deploy": "", "": "", strings.Repeat("x", 1e6): "",
	} {
		if got := hook.NearestEvent(word); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
}
