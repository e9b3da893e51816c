package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// rewriter appends a word to the command, after a while.
func rewriter(t testing.TB, word string) preToolUse {
	return func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		return &hook.Output{UpdatedInput: bash(commandOf(t, in.ToolInput) + " " + word).ToolInput}, nil
	}
}

// guard denies commands with a word in them, and remembers what it saw.
func guard(t testing.TB, word string, seen *[]string) preToolUse {
	return func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		cmd := commandOf(t, in.ToolInput)
		if seen != nil {
			*seen = append(*seen, cmd)
		}
		if strings.Contains(cmd, word) {
			return hook.Denied("no " + word), nil
		}
		return hook.Allowed(""), nil
	}
}

func TestM5DeclaredRewritersRunInSequenceAndGuardsSeeTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for range 200 {
		reg := open(t, only())
		var seen []string
		on(t, reg, "a-guard", guard(t, "never", &seen))
		on(t, reg, "b-first", rewriter(t, "one"), rewrites)
		on(t, reg, "c-second", rewriter(t, "two"), rewrites)
		out := dispatch(t, reg, bash("ls"))
		if got := commandOf(t, out.UpdatedInput); got != "ls one two" {
			t.Fatalf("got %q", got)
		}
		if fmt.Sprint(seen) != "[ls one two]" {
			t.Fatalf("the guard saw %q", seen)
		}
		_ = reg.Close()
	}
}

func TestM5UndeclaredRewritersAreDeterministicAndJudgedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for range 200 {
		reg := open(t, only())
		on(t, reg, "a-guard", guard(t, "two", nil))
		on(t, reg, "b-first", rewriter(t, "one"))
		on(t, reg, "c-second", rewriter(t, "two"))
		out := dispatch(t, reg, bash("ls"))
		if out.Verdict != hook.Deny || out.Reason != "no two" || out.UpdatedInput != nil {
			t.Fatalf("%v %q %s", out.Verdict, out.Reason, out.UpdatedInput)
		}
		_ = reg.Close()
	}
}

func TestLastUndeclaredRewriteWinsAndASecondOneIsRefused(t *testing.T) {
	for range 200 {
		reg := open(t, only())
		var seen []string
		on(t, reg, "a-first", rewriter(t, "one"))
		on(t, reg, "b-second", rewriter(t, "two"))
		on(t, reg, "c-guard", guard(t, "never", &seen))
		out := dispatch(t, reg, bash("ls"))
		if got := commandOf(t, out.UpdatedInput); got != "ls two" || out.Verdict != hook.Allow {
			t.Fatalf("%v %q", out.Verdict, got)
		}
		if fmt.Sprint(seen) != "[ls ls two]" {
			t.Fatalf("the guard saw %q", seen)
		}
		if len(out.Diagnostics) != 1 || out.Diagnostics[0].Code != "second_rewrite" || out.Diagnostics[0].Hook != "in-process/a-first" {
			t.Fatalf("diagnostics %v", out.Diagnostics)
		}
		_ = reg.Close()
	}
}

func TestDenialOfTheFirstInputStandsAndNobodyIsAskedAgain(t *testing.T) {
	reg := open(t, only())
	var seen []string
	on(t, reg, "a-guard", guard(t, "ls", &seen))
	on(t, reg, "b-rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":"pwd"}`)}))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || len(seen) != 1 {
		t.Errorf("%v, the guard was asked %d times", out.Verdict, len(seen))
	}
}

func TestStricterOfTwoAnswersCounts(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a-asks", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		if commandOf(t, in.ToolInput) == "ls" {
			return hook.Asked("sure?"), nil
		}
		return hook.Allowed(""), nil
	})
	on(t, reg, "b-rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":"pwd"}`)}))
	if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Ask || out.Reason != "sure?" || commandOf(t, out.UpdatedInput) != "pwd" {
		t.Errorf("%v %q %s", out.Verdict, out.Reason, out.UpdatedInput)
	}
}

func TestEarlierRewriterIsAskedAboutTheEnd(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a-both", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		cmd := commandOf(t, in.ToolInput)
		if strings.Contains(cmd, "sudo") {
			return hook.Denied("no sudo"), nil
		}
		return &hook.Output{Verdict: hook.Allow, UpdatedInput: bash("nice " + cmd).ToolInput}, nil
	}, rewrites)
	on(t, reg, "b-adds-sudo", func(_ context.Context, in hook.PreToolUse) (*hook.Output, error) {
		return &hook.Output{UpdatedInput: bash("sudo " + commandOf(t, in.ToolInput)).ToolInput}, nil
	}, rewrites)
	out := dispatch(t, reg, bash("ls"))
	if out.Verdict != hook.Deny || out.Reason != "no sudo" {
		t.Errorf("%v %q", out.Verdict, out.Reason)
	}
	if r := out.Results[0]; r.Stale || r.Earlier == nil || !r.Earlier.Stale || out.Results[1].Earlier != nil {
		t.Errorf("%+v %+v", r, r.Earlier)
	}
}

// A hook that only the rewritten input concerns has one answer: that it was not asked
// before is none.
func TestHookThatARewriteConcernsHasOneAnswer(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a-rewriter", rewriter(t, "sudo"), rewrites)
	on(t, reg, "b-guard", answer(hook.Asked("sure?")), func(h *hook.Hook) { h.If = hook.Rules{"Bash(*sudo)"} })
	out := dispatch(t, reg, bash("ls"))
	if len(out.Results) != 2 || out.Verdict != hook.Ask || out.Results[1].Status != hook.StatusSuccess || out.Results[1].Earlier != nil {
		t.Errorf("%v %+v", out.Verdict, out.Results)
	}
}

func TestSerialThreadsTheInputThroughEveryHook(t *testing.T) {
	opts := only()
	opts.Serial = true
	reg := open(t, opts)
	var seen []string
	on(t, reg, "a", rewriter(t, "one"))
	on(t, reg, "b", guard(t, "never", &seen))
	on(t, reg, "c", rewriter(t, "two"))
	out := dispatch(t, reg, bash("ls"))
	if got := commandOf(t, out.UpdatedInput); got != "ls one two" {
		t.Errorf("got %q", got)
	}
	if fmt.Sprint(seen) != "[ls one ls one two]" {
		t.Errorf("the guard saw %q", seen)
	}
}

func TestM5RewriteThatViolatesTheSchemaIsDenied(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","required":["command"],"properties":{"command":{"type":"string"}},"additionalProperties":false}`)
	for name, tt := range map[string]struct {
		updated string
		want    hook.Verdict
	}{
		"a valid one":   {`{"command":"pwd"}`, hook.NoOpinion},
		"a wrong type":  {`{"command":7}`, hook.Deny},
		"a missing key": {`{}`, hook.Deny},
		"another key":   {`{"command":"pwd","x":1}`, hook.Deny},
	} {
		in := bash("ls")
		opts := only()
		opts.ToolSchema = func(tool string) json.RawMessage {
			if tool != "Bash" {
				t.Errorf("asked for the schema of %q", tool)
			}
			return schema
		}
		for _, given := range []bool{true, false} {
			if given {
				opts.ToolSchema, in.ToolSchema = nil, schema
			}
			reg := open(t, opts)
			on(t, reg, "rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(tt.updated)}))
			out := dispatch(t, reg, in)
			if out.Verdict != tt.want || (tt.want == hook.Deny) != (out.UpdatedInput == nil) {
				t.Errorf("%s: %v %q %s", name, out.Verdict, out.Reason, out.UpdatedInput)
			}
		}
	}
	reg := open(t, only())
	on(t, reg, "rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(`{}`)}))
	in := bash("ls")
	in.ToolSchema = json.RawMessage(`{"$ref":"file:///etc/passwd"}`)
	if out := dispatch(t, reg, in); out.Verdict != hook.Deny {
		t.Errorf("a schema that cannot be used: %v", out.Verdict)
	}
}

func TestRewriteThatIsNotJSONIsDenied(t *testing.T) {
	for _, configure := range []func(*hook.Hook){func(*hook.Hook) {}, rewrites} {
		reg := open(t, only())
		on(t, reg, "a-rewriter", answer(&hook.Output{UpdatedInput: json.RawMessage(`{"command":`)}), configure)
		on(t, reg, "b-guard", answer(hook.Allowed("")))
		if out := dispatch(t, reg, bash("ls")); out.Verdict != hook.Deny || out.UpdatedInput != nil {
			t.Errorf("%v %s %v", out.Verdict, out.UpdatedInput, ids(out))
		}
	}
}

// A hook that redacts an output and fails when it is asked about what another one
// left of it does not make the secret visible.
func TestOutputIsWithheldIfARedactionFailsTheSecondTime(t *testing.T) {
	for name, second := range map[string]func() (*hook.Output, error){
		"an error":     func() (*hook.Output, error) { return nil, errors.New("down") },
		"no JSON":      func() (*hook.Output, error) { return &hook.Output{UpdatedToolOutput: json.RawMessage("{")}, nil },
		"says nothing": func() (*hook.Output, error) { return nil, nil },
	} {
		reg := open(t, only())
		register := func(name string, fn func() (*hook.Output, error)) {
			handler := hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return fn() })
			if err := reg.Register(&hook.Hook{Name: name, Event: hook.EventPostToolUse, Handler: handler}); err != nil {
				t.Fatal(err)
			}
		}
		replaces := func(text string) (*hook.Output, error) {
			return &hook.Output{UpdatedToolOutput: json.RawMessage(text)}, nil
		}
		register("a", func() (*hook.Output, error) { return replaces(`"*** two"`) })
		asked := 0
		register("b", func() (*hook.Output, error) {
			if asked++; asked == 1 {
				return replaces(`"one ***"`)
			}
			return second()
		})
		out := dispatch(t, reg, hook.PostToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{}`), ToolResponse: json.RawMessage(`"one two"`)})
		got := string(out.UpdatedToolOutput)
		if name == "says nothing" { // it had nothing left to remove
			if got != `"*** two"` {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		if strings.Contains(got, "two") || !json.Valid(out.UpdatedToolOutput) || !has(out.Diagnostics, "output_withheld", "in-process/b") {
			t.Errorf("%s: %s %v", name, got, out.Diagnostics)
		}
	}
}
