package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func withIf(rule string) func(*hook.Hook) { return func(h *hook.Hook) { h.If = hook.Rules{rule} } }

// into rewrites every command into another.
func into(command string) preToolUse {
	return answer(&hook.Output{UpdatedInput: bash(command).ToolInput})
}

// A guard that only the rewritten input concerns judges it, whoever rewrote it,
// in both modes; a guard from a file does so too.
func TestGuardThatOnlyTheRewrittenInputConcernsJudgesIt(t *testing.T) {
	dir := tree(t, "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\nif = \"Bash(rm *)\"\ncommand = \"echo no rm >&2; exit 2\"\n+++\n")
	for _, serial := range []bool{false, true} {
		for name, configure := range map[string]func(*hook.Hook){"undeclared": func(*hook.Hook) {}, "declared": rewrites} {
			opts := only(dir)
			opts.Serial = serial
			reg := open(t, opts)
			on(t, reg, "rewriter", into("rm -rf /"), configure)
			out := dispatch(t, reg, bash("ls"))
			want := []string{"dir/guard blocked", "in-process/rewriter success"}
			if diff := cmp.Diff(want, ids(out)); diff != "" || out.Verdict != hook.Deny || out.Reason != "no rm" {
				t.Errorf("%s, serial %v: %v %q -want +got:\n%s", name, serial, out.Verdict, out.Reason, diff)
			}
		}
	}
}

// A guard that cannot run is concerned by what the input becomes, too.
func TestGuardThatCannotRunBlocksWhatTheInputBecomes(t *testing.T) {
	dir := tree(t, "-- guard/HOOK.md --\n+++\nevent = \"PreToolUse\"\nif = \"Bash(rm *)\"\ncommand = \"true\"\non_failure = \"block\"\n[requires]\nbins = [\"no-such-program-here\"]\n+++\n")
	reg := open(t, only(dir))
	on(t, reg, "rewriter", into("rm -rf /"))
	out := dispatch(t, reg, bash("ls"))
	if out.Verdict != hook.Deny || out.Results[0].Failure != hook.FailureIneligible {
		t.Fatalf("%v %v", out.Verdict, ids(out))
	}
	if why := out.Results[0].Reason; !strings.Contains(why, "no-such-program-here") || strings.HasPrefix(why, string(hook.FailureIneligible)) {
		t.Errorf("the failure's word is said twice, or the reason is not: %q", why)
	}
}

// An allow counts only for the bytes that it was given for, and so do grants.
func TestAllowDoesNotOutliveARewrite(t *testing.T) {
	allowsLs := func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if commandOf(t, in.ToolInput) == "ls" {
			return hook.Allowed("harmless"), nil
		}
		return nil, nil
	}
	for name, configure := range map[string]func(*hook.Hook){
		"asked again, it says nothing":        func(*hook.Hook) {},
		"the final input does not concern it": withIf("Bash(ls)"),
	} {
		reg := open(t, only())
		on(t, reg, "a-allows", allowsLs, configure)
		on(t, reg, "b-rewriter", into("rm -rf /"))
		out := dispatch(t, reg, bash("ls"))
		if out.Verdict != hook.NoOpinion || out.UpdatedInput == nil {
			t.Errorf("%s: %v %q", name, out.Verdict, out.Reason)
		}
	}
	reg := open(t, only())
	on(t, reg, "rewriter", answer(&hook.Output{Verdict: hook.Allow, UpdatedInput: bash("pwd").ToolInput}), withIf("Bash(ls)"))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Allow {
		t.Errorf("a rewriter approves what it made: %v", out.Verdict)
	}
}

func TestPermissionThatWasGivenForOtherBytesDoesNotCount(t *testing.T) {
	reg := open(t, only())
	grants := &hook.Output{Verdict: hook.Allow, Permission: &hook.PermissionAnswer{UpdatedPermissions: json.RawMessage(`[{"type":"addRules"}]`)}}
	request := func(name string, out *hook.Output, configure ...func(*hook.Hook)) {
		handler := hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return out, nil })
		h := &hook.Hook{Name: name, Event: hook.EventPermissionRequest, Handler: handler}
		for _, c := range configure {
			c(h)
		}
		if err := reg.Register(h); err != nil {
			t.Fatal(err)
		}
	}
	request("a-grants", grants, withIf("Bash(ls)"))
	in := hook.PermissionRequest{ToolName: "Bash", ToolInput: bash("ls").ToolInput}
	if out := dispatch(t, reg, in); out.Verdict != hook.Allow || out.Permission == nil {
		t.Fatalf("%v %v", out.Verdict, out.Permission)
	}
	request("b-rewrites", &hook.Output{UpdatedInput: bash("rm -rf /").ToolInput})
	if out := dispatch(t, reg, in); out.Verdict != hook.NoOpinion || out.Permission != nil || commandOf(t, out.UpdatedInput) != "rm -rf /" {
		t.Errorf("%v %v %s", out.Verdict, out.Permission, out.UpdatedInput)
	}
}

// What a hook refused of the original input stands, although the final one does
// not concern it.
func TestRefusalOutlivesARewrite(t *testing.T) {
	for name, refusal := range map[string]*hook.Output{
		"ask": hook.Asked("sure?"), "defer": {Verdict: hook.Defer, Reason: "sure?"},
	} {
		reg := open(t, only())
		on(t, reg, "a-guard", answer(refusal), withIf("Bash(rm *)"))
		on(t, reg, "b-rewriter", into("ls"))
		out := dispatch(t, reg, bash("rm x"))
		if out.Verdict != refusal.Verdict || out.Reason != "sure?" || commandOf(t, out.UpdatedInput) != "ls" {
			t.Errorf("%s: %v %q %s", name, out.Verdict, out.Reason, out.UpdatedInput)
		}
	}
}

// The first answer stands if the second asking fails, whatever the failure, and
// the failure shows.
func TestFailedSecondAskingLiftsNoRefusal(t *testing.T) {
	fails := map[string]func(ctx context.Context) (*hook.Output, error){
		"error":   func(context.Context) (*hook.Output, error) { return nil, errors.New("broken") },
		"panic":   func(context.Context) (*hook.Output, error) { panic("broken") },
		"timeout": func(ctx context.Context) (*hook.Output, error) { <-ctx.Done(); return nil, ctx.Err() },
	}
	for name, fail := range fails {
		synctest.Test(t, func(t *testing.T) {
			reg := open(t, only())
			on(t, reg, "a-guard", func(ctx context.Context, in hook.PreToolUse) (*hook.Output, error) {
				if commandOf(t, in.ToolInput) == "ls" {
					return hook.Asked("sure?"), nil
				}
				return fail(ctx)
			}, within(time.Second))
			on(t, reg, "b-rewriter", into("pwd"))
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.Ask || out.Reason != "sure?" || len(out.Failures()) != 1 {
				t.Errorf("%s: %v %q %v", name, out.Verdict, out.Reason, ids(out))
			}
		})
	}
	reg := open(t, only())
	on(t, reg, "a-guard", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if commandOf(t, in.ToolInput) == "ls" {
			return hook.Asked("sure?"), nil
		}
		return nil, errors.New("broken")
	}, blocking)
	on(t, reg, "b-rewriter", into("pwd"))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || !strings.Contains(out.Reason, "broken") {
		t.Errorf("with on_failure = block: %v %q", out.Verdict, out.Reason)
	}
}

// The breaker opens between the two askings: that is a failure like any other.
func TestBreakerThatOpensBetweenTwoAskingsLiftsNoRefusal(t *testing.T) {
	reg := open(t, only())
	once := func(h *hook.Hook) { h.Breaker.Failures = 1 }
	on(t, reg, "a-guard", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		switch commandOf(t, in.ToolInput) {
		case "one":
			return hook.Asked("sure?"), nil
		case "two":
			return nil, errors.New("broken")
		}
		return hook.Allowed(""), nil
	}, once)
	on(t, reg, "b-first", into("two"), withIf("Bash(one)"))
	on(t, reg, "c-second", into("three"), withIf("Bash(two)"))
	out := dispatch(t, reg, bash("one"))
	if out.Verdict != hook.Ask || out.Results[0].Failure != hook.FailureBreakerOpen || commandOf(t, out.UpdatedInput) != "three" {
		t.Errorf("%v %v %s", out.Verdict, ids(out), out.UpdatedInput)
	}
}

func TestStopOfTheFirstAnswerStands(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a-rewriter", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if commandOf(t, in.ToolInput) == "ls" {
			return &hook.Output{UpdatedInput: bash("pwd").ToolInput, Stop: true, StopReason: "enough"}, nil
		}
		return nil, nil
	}, rewrites)
	on(t, reg, "b-rewriter", into("date"), rewrites)
	if out := dispatch(t, reg, bash("ls")); !out.Stop || out.StopReason != "enough" || out.MayProceed() {
		t.Errorf("stop %v %q, verdict %v", out.Stop, out.StopReason, out.Verdict)
	}
}

// A hook that runs once a session is asked about the final input, too, and not in
// the next dispatch.
func TestOnceHookIsAskedAgainWithinItsDispatch(t *testing.T) {
	reg := open(t, only())
	var seen []string
	on(t, reg, "a-once", guard(t, "evil", &seen), func(h *hook.Hook) { h.Once = true })
	on(t, reg, "b-rewriter", into("evil"))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny {
		t.Errorf("%v %v", out.Verdict, seen)
	}
	reg = open(t, only())
	seen = nil
	on(t, reg, "a-once", guard(t, "never", &seen), func(h *hook.Hook) { h.Once = true })
	on(t, reg, "b-rewriter", into("pwd"))
	dispatch(t, reg, bash("ls"))
	dispatch(t, reg, bash("ls"))
	if diff := cmp.Diff([]string{"ls", "pwd"}, seen); diff != "" {
		t.Error(diff)
	}
}

// A hook whose part it is to make an input harmless gets its say when another
// hook makes it dangerous.
func TestRewriterThatTheRewrittenInputConcernsMayRewriteIt(t *testing.T) {
	for name, configure := range map[string]func(*hook.Hook){"undeclared": func(*hook.Hook) {}, "declared": rewrites} {
		reg := open(t, only())
		var seen []string
		on(t, reg, "a-defuses", into("trash x"), withIf("Bash(rm *)"), configure)
		on(t, reg, "b-rewriter", into("rm x"), withIf("Bash(ls)"))
		on(t, reg, "c-guard", guard(t, "never", &seen))
		out := dispatch(t, reg, bash("ls"))
		if got := commandOf(t, out.UpdatedInput); got != "trash x" || seen[len(seen)-1] != "trash x" {
			t.Errorf("%s: %q, the guard saw %q", name, got, seen)
		}
	}
}

func TestInputThatDoesNotSettleIsDenied(t *testing.T) {
	for _, rewriters := range []int{4, 5, 8} {
		reg := open(t, only())
		for i := range rewriters {
			from, to := strings.Repeat("x", i+1), strings.Repeat("x", i+2)
			on(t, reg, string(rune('a'+i)), into(to), withIf("Bash("+from+")"))
		}
		out := dispatch(t, reg, bash("x"))
		if settles := rewriters == 4; settles && (out.Verdict != hook.NoOpinion || commandOf(t, out.UpdatedInput) != "xxxxx") ||
			!settles && (out.Verdict != hook.Deny || out.UpdatedInput != nil || !strings.Contains(out.Reason, "again and again")) {
			t.Errorf("%d: %v %q %v", rewriters, out.Verdict, out.Reason, ids(out))
		}
		for i, r := range out.Results {
			if want := map[bool]hook.Status{true: hook.StatusSuccess, false: hook.StatusFailed}[i < 4]; r.Status != want {
				t.Errorf("%d: %s %s, want %s", rewriters, r.Hook.ID, r.Status, want)
			}
		}
	}
}

// A background hook hears of the input that counts.
func TestBackgroundHookIsStartedWithTheFinalInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := open(t, only())
		seen := make(chan string, 10)
		async := func(h *hook.Hook) { h.Async = true }
		tells := func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
			seen <- commandOf(t, in.ToolInput)
			return nil, nil
		}
		on(t, reg, "a-logs-rm", tells, async, withIf("Bash(rm *)"))
		on(t, reg, "b-logs-ls", tells, async, withIf("Bash(ls)"))
		on(t, reg, "c-declared", into("ls"), rewrites)
		on(t, reg, "d-undeclared", into("rm x"))
		dispatch(t, reg, bash("pwd"))
		synctest.Wait()
		close(seen)
		var got []string
		for s := range seen {
			got = append(got, s)
		}
		slices.Sort(got) // they run side by side
		if diff := cmp.Diff([]string{"ls", "rm x"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A rewriter approves what it made of the input, and not the input itself: not if
// its second rewrite is refused, nor if another hook's rewrite wins.
func TestAllowBesideARewriteThatDoesNotCountIsVoid(t *testing.T) {
	allows := answer(&hook.Output{Verdict: hook.Allow, UpdatedInput: bash("pwd").ToolInput})
	reg := open(t, only())
	on(t, reg, "a-declared", allows, rewrites)
	on(t, reg, "b-back", into("ls"))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.NoOpinion || commandOf(t, out.UpdatedInput) != "ls" {
		t.Errorf("refused: %v %s", out.Verdict, out.UpdatedInput)
	}
	reg = open(t, only())
	on(t, reg, "a-undeclared", allows)
	on(t, reg, "b-same", into("ls"))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.NoOpinion || commandOf(t, out.UpdatedInput) != "ls" {
		t.Errorf("lost: %v %s", out.Verdict, out.UpdatedInput)
	}
}

// After a rewrite the hook that is first in order comes first again.
func TestFirstHookThatARewriteConcernsIsAskedNext(t *testing.T) {
	reg := open(t, only())
	var asked []string
	notes := func(name string) preToolUse {
		return func(context.Context, hook.PreToolUse) (*hook.Output, error) {
			asked = append(asked, name)
			return nil, nil
		}
	}
	on(t, reg, "a-first", notes("a"), withIf("Bash(rm *)"), rewrites)
	on(t, reg, "b-rewriter", into("rm x"), withIf("Bash(ls)"), rewrites)
	on(t, reg, "c-last", notes("c"), withIf("Bash(rm *)"), rewrites)
	dispatch(t, reg, bash("ls"))
	if diff := cmp.Diff([]string{"a", "c"}, asked); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// No hook is asked about a rewritten input that cannot be encoded.
func TestRewriteThatIsNotJSONIsDeniedAndNobodyIsAskedAboutIt(t *testing.T) {
	for name, configure := range map[string]func(*hook.Hook){"undeclared": func(*hook.Hook) {}, "declared": rewrites} {
		for _, serial := range []bool{false, true} {
			opts := only()
			opts.Serial = serial
			reg := open(t, opts)
			var seen, next []string
			on(t, reg, "a-rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":`)}), configure)
			on(t, reg, "b-declared", guard(t, "never", &next), withIf("Bash(pwd)"), rewrites)
			on(t, reg, "c-guard", guard(t, "never", &seen))
			out := dispatch(t, reg, bash("ls"))
			if out.Verdict != hook.Deny || out.UpdatedInput != nil || !strings.Contains(out.Reason, "no hook can judge the event") || len(next) != 0 {
				t.Errorf("%s, serial %v: %v %q, b was asked about %q", name, serial, out.Verdict, out.Reason, next)
			}
			if together := name == "undeclared" && !serial; together != (len(seen) == 1) {
				t.Errorf("%s, serial %v: the guard was asked about %q", name, serial, seen)
			}
		}
	}
}
