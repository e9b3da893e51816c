package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/serve"
	"github.com/tenterhook/tenterhook/plugins/serve/servetest"
)

func TestOutputsArriveAsTheyWereMeant(t *testing.T) {
	for name, test := range map[string]struct {
		in  hook.Input
		out *hook.Output
	}{
		"deny":     {hook.PreToolUse{ToolName: "Bash"}, hook.Denied("no")},
		"ask":      {hook.PreToolUse{ToolName: "Bash"}, hook.Asked("sure?")},
		"rewrite":  {hook.PreToolUse{ToolName: "Bash"}, &hook.Output{Verdict: hook.Allow, UpdatedInput: json.RawMessage(`{"a":"<b>"}`)}},
		"request":  {hook.PermissionRequest{ToolName: "Bash"}, &hook.Output{Verdict: hook.Deny, Reason: "no", Permission: &hook.PermissionAnswer{Interrupt: true}}},
		"stop":     {hook.Stop{}, hook.Denied("work on")},
		"worktree": {hook.WorktreeRemove{}, hook.Denied("keep it")},
		"task":     {hook.TaskCompleted{}, hook.Denied("tests fail")},
		"prompt":   {hook.UserPromptSubmit{}, hook.WithContext("it is late")},
		"halt":     {hook.PreToolUse{ToolName: "Bash"}, &hook.Output{Stop: true, StopReason: "enough"}},
		"none":     {hook.PreToolUse{ToolName: "Bash"}, &hook.Output{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve.New("test", "1")
			serve.OnEvent(s, "one", test.in.Event(), func(context.Context, hook.Input) (*hook.Output, error) { return test.out, nil })
			in := test.in
			if typed, ok := in.(hook.PreToolUse); ok {
				typed.ToolInput = json.RawMessage(`{}`)
				in = typed
			}
			if typed, ok := in.(hook.PermissionRequest); ok {
				typed.ToolInput = json.RawMessage(`{}`)
				in = typed
			}
			got, err := servetest.New(t, s).Call(t.Context(), "one", in)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				got = &hook.Output{}
			}
			if diff := cmp.Diff(test.out, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeToldIsAFailure(t *testing.T) {
	s := serve.New("test", "1")
	serve.On(s, "ask", func(context.Context, hook.Stop) (*hook.Output, error) { return hook.Asked("?"), nil })
	serve.On(s, "env", func(context.Context, hook.SessionStart) (*hook.Output, error) {
		return &hook.Output{Env: map[string]string{"A": "b"}}, nil
	})
	serve.On(s, "panic", func(context.Context, hook.PreToolUse) (*hook.Output, error) { panic("boom") })
	host := servetest.New(t, s)
	for name, in := range map[string]hook.Input{"ask": hook.Stop{}, "env": hook.SessionStart{}, "panic": hook.PreToolUse{ToolInput: json.RawMessage(`{}`)}} {
		var failed *hook.Error
		if _, err := host.Call(t.Context(), name, in); !errors.As(err, &failed) {
			t.Errorf("%s: got %v, want a failure", name, err)
		}
	}
}

func TestDeclarationArrives(t *testing.T) {
	s := serve.New("test", "1")
	serve.On(s, "one", func(context.Context, hook.PreToolUse) (*hook.Output, error) { return nil, nil }, func(h *hook.Hook) {
		h.Matcher, h.If, h.Timeout, h.OnFailure, h.Priority = "Bash", hook.Rules{"Bash(rm *)"}, 3*time.Second, hook.FailureBlock, 7
		h.Requires = hook.Requires{Bins: []string{"git"}, OS: []string{"linux"}}
		h.Breaker = hook.BreakerSettings{Failures: 2, Cooldown: time.Minute}
	})
	got := *servetest.New(t, s).Hooks()[0]
	got.Params = nil
	want := hook.Hook{Name: "one", Event: hook.EventPreToolUse, Kind: hook.KindPlugin, State: hook.StateReady, Matcher: "Bash", If: hook.Rules{"Bash(rm *)"},
		Timeout: 3 * time.Second, OnFailure: hook.FailureBlock, Priority: 7, Requires: hook.Requires{Bins: []string{"git"}, OS: []string{"linux"}},
		Breaker: hook.BreakerSettings{Failures: 2, Cooldown: time.Minute}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrongDeclarationsAreSaid(t *testing.T) {
	s := serve.New("test", "1")
	if s.Err() == nil {
		t.Error("a plugin without hooks")
	}
	nothing := func(context.Context, hook.Stop) (*hook.Output, error) { return nil, nil }
	serve.On(s, "twice", nothing)
	serve.On(s, "twice", nothing)
	if s.Err() == nil {
		t.Error("two hooks of one name")
	}
}

// Whatever a hook has that the protocol cannot carry is said: no field is
// forgotten, one that comes later neither.
func TestNoDeclarationIsWithoutEffectInSilence(t *testing.T) {
	carried := []string{"Name", "Description", "Event", "Matcher", "If", "Timeout", "OnFailure", "Priority", "Rewrites", "Async", "Once", "StatusMessage",
		"Requires.Bins", "Requires.AnyBins", "Requires.Envs", "Requires.OS", "Breaker.Failures", "Breaker.Cooldown"}
	var arrived []string
	eachField(reflect.TypeFor[hook.Hook](), "", nil, func(name string, at []int) {
		s := serve.New("test", "1")
		serve.OnEvent(s, "one", hook.EventStop, func(context.Context, hook.Input) (*hook.Output, error) { return nil, nil }, func(h *hook.Hook) {
			fill(t, reflect.ValueOf(h).Elem().FieldByIndex(at))
			if name == "OnFailure" {
				h.OnFailure = hook.FailureBlock
			}
		})
		err := s.Err()
		if err == nil {
			arrived = append(arrived, name)
		} else if !strings.Contains(err.Error(), "one") || !strings.Contains(err.Error(), name+" has no effect") {
			t.Errorf("%s: %v", name, err)
		}
	})
	slices.Sort(carried)
	slices.Sort(arrived)
	if diff := cmp.Diff(carried, arrived); diff != "" {
		t.Errorf("-carried +taken without a word:\n%s", diff)
	}
}

// eachField calls do for the fields of a struct, and for those of structs in it.
func eachField(of reflect.Type, prefix string, at []int, do func(name string, at []int)) {
	for i := range of.NumField() {
		f := of.Field(i)
		at := append(slices.Clone(at), i)
		if f.Type.Kind() == reflect.Struct {
			eachField(f.Type, prefix+f.Name+".", at, do)
			continue
		}
		do(prefix+f.Name, at)
	}
}

// fill gives a field some value that is not its zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[hook.Handler]():
		v.Set(reflect.ValueOf(hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })))
	case v.Kind() == reflect.String:
		v.SetString("one")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("A"), reflect.Zero(v.Type().Elem()))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		t.Fatalf("a field of a kind that this test does not know: %s", v.Type())
	}
}
