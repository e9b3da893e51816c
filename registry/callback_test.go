package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

func TestRegisteredHookNeedsANameAnEventAndAHandler(t *testing.T) {
	handler := hook.HandlerFunc(nil)
	reg := open(t, only())
	for name, register := range map[string]func(*hook.Hook) error{
		"for good":      reg.Register,
		"for a session": func(h *hook.Hook) error { return reg.RegisterSession("s", h) },
		"as a guard": func(h *hook.Hook) error {
			opts := only()
			opts.Workspace, opts.Guards = t.TempDir(), []*hook.Hook{h}
			reg, err := registry.Open(t.Context(), opts)
			if err == nil {
				reg.Close()
			}
			return err
		},
	} {
		for wrong, h := range map[string]*hook.Hook{
			"no name":    {Event: hook.EventStop, Handler: handler},
			"no event":   {Name: "a", Handler: handler},
			"no handler": {Name: "a", Event: hook.EventStop},
		} {
			if err := register(h); err == nil || !strings.Contains(err.Error(), "needs a name, an event and a handler") {
				t.Errorf("%s, %s: %v", name, wrong, err)
			}
		}
		if err := register(&hook.Hook{Name: "a", Event: hook.EventStop, Kind: hook.KindRule, Params: hook.Params{"decision": []byte(`"deny"`), "reason": []byte(`"no"`)}}); err != nil {
			t.Errorf("%s: a rule: %v", name, err)
		}
	}
}

// A name is taken once for an event, among the registered hooks and in each
// session. They keep the order of registration.
func TestRegisteredHooksHaveNamesOfTheirOwn(t *testing.T) {
	reg := open(t, only())
	h := func(name string, event hook.Event) *hook.Hook {
		return &hook.Hook{Name: name, Event: event, Handler: hook.HandlerFunc(func(context.Context, *hook.Call) (*hook.Output, error) { return nil, nil })}
	}
	sessions := []func(*hook.Hook) error{reg.Register,
		func(h *hook.Hook) error { return reg.RegisterSession("one", h) },
		func(h *hook.Hook) error { return reg.RegisterSession("two", h) }}
	for i, register := range sessions {
		for _, one := range []*hook.Hook{h("b", hook.EventPreToolUse), h("a", hook.EventPreToolUse), h("b", hook.EventStop)} {
			if err := register(one); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		if err := register(h("a", hook.EventPreToolUse)); err == nil || !strings.Contains(err.Error(), "already registered for PreToolUse") {
			t.Errorf("%d: %v", i, err)
		}
	}
	want := []string{"session/b success", "session/a success", "in-process/b success", "in-process/a success"}
	if diff := cmp.Diff(want, ids(dispatch(t, reg, inSession("one")))); diff != "" {
		t.Error(diff)
	}
	var listed []string
	for _, l := range reg.List() {
		listed = append(listed, l.Hook.ID+" "+string(l.Hook.Event))
	}
	if diff := cmp.Diff([]string{"session/b PreToolUse", "session/b PreToolUse", "session/a PreToolUse", "session/a PreToolUse", "session/b Stop", "session/b Stop",
		"in-process/b PreToolUse", "in-process/a PreToolUse", "in-process/b Stop"}, listed); diff != "" {
		t.Error(diff)
	}
	reg.EndSession("nobody")
	reg.EndSession("one")
	if got := ids(dispatch(t, reg, inSession("one"))); len(got) != 2 {
		t.Errorf("after its end: %v", got)
	}
	if got := ids(dispatch(t, reg, inSession("two"))); len(got) != 4 {
		t.Errorf("the other session: %v", got)
	}
	if err := reg.Close(); err != nil {
		t.Fatal(err)
	}
	for i, register := range sessions {
		if err := register(h("c", hook.EventStop)); !errors.Is(err, registry.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestCallbackOfAnInputThatItDoesNotTakeFails(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "a", answer(nil), func(h *hook.Hook) { h.Event = hook.EventStop })
	r := dispatch(t, reg, hook.Stop{}).Results[0]
	if r.Failure != hook.FailureStart || r.Reason != "it takes hook.PreToolUse, the event brought hook.Stop" {
		t.Errorf("%s %q", r.Failure, r.Reason)
	}
}

func TestVerdictThatIsNoneIsAFailure(t *testing.T) {
	reg := open(t, only())
	on(t, reg, "guard", answer(&hook.Output{Verdict: hook.Deny + 1}), func(h *hook.Hook) { h.OnFailure = hook.FailureBlock })
	out := dispatch(t, reg, bash("ls"))
	if r := out.Results[0]; out.Verdict != hook.Deny || r.Failure != hook.FailureOutput {
		t.Errorf("%v, %+v", out.Verdict, r)
	}
}
