package wire_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	protobuf "google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/internal/wire"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// declared draws a hook as an author may declare it.
func declared(t *rapid.T) *hook.Hook {
	text := rapid.StringN(0, 40, 400)
	list := rapid.SliceOfN(text, 0, 5)
	times := rapid.Map(rapid.Int64Range(0, math.MaxInt64/int64(time.Millisecond)), func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond })
	h := &hook.Hook{
		Name:          rapid.StringMatching(`[a-zäö][a-z0-9 .-]{0,30}`).Draw(t, "name"),
		Event:         rapid.SampledFrom(hook.Events()).Draw(t, "event").Event,
		Description:   text.Draw(t, "description"),
		Matcher:       text.Draw(t, "matcher"),
		If:            hook.Rules(rapid.SliceOfN(rapid.StringN(1, 40, 400), 0, 40).Draw(t, "if")), // 64 with what it requires
		Timeout:       times.Draw(t, "timeout"),
		OnFailure:     rapid.SampledFrom([]hook.FailurePolicy{"", hook.FailureBlock, hook.FailureContinue}).Draw(t, "on_failure"),
		Priority:      int(rapid.Int32().Draw(t, "priority")),
		Rewrites:      rapid.Bool().Draw(t, "rewrites"),
		Async:         rapid.Bool().Draw(t, "async"),
		Once:          rapid.Bool().Draw(t, "once"),
		StatusMessage: text.Draw(t, "status"),
		Breaker:       hook.BreakerSettings{Failures: int(rapid.Int32().Draw(t, "failures")), Cooldown: times.Draw(t, "cooldown")},
		Kind:          hook.KindPlugin, State: hook.StateReady,
		Params: hook.Params{wire.ParamPlugin: []byte(`"guard"`)},
	}
	h.Requires = hook.Requires{Bins: list.Draw(t, "bins"), AnyBins: list.Draw(t, "any_bins"), Envs: list.Draw(t, "envs"), OS: list.Draw(t, "os")}
	return h
}

func TestServedHookReadBackIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := declared(t)
		sent := &proto.DescribeResponse{Hooks: []*proto.Hook{wire.Describe(want)}}
		data, err := protobuf.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		got := &proto.DescribeResponse{}
		if err := protobuf.Unmarshal(data, got); err != nil {
			t.Fatal(err)
		}
		hooks, err := wire.Hooks("guard", got)
		if err != nil || len(hooks) != 1 {
			t.Fatal(hooks, err)
		}
		if name := string(hooks[0].Params[wire.ParamHook]); !strings.Contains(name, want.Name) {
			t.Fatalf("it is called %s", name)
		}
		delete(hooks[0].Params, wire.ParamHook)
		if diff := cmp.Diff(want, hooks[0], emptyIsNil); diff != "" {
			t.Fatal(diff)
		}
	})
}

// emptyIsNil takes a list without elements for none, as the protocol does.
var emptyIsNil = cmp.Transformer("list", func(list []string) string { return strings.Join(list, "\x00") + strings.Repeat(".", len(list)) })

func TestWhatIsTooSmallOrTooLargeToTellKeepsItsMeaning(t *testing.T) {
	for name, test := range map[string]struct {
		declared hook.Hook
		want     *proto.Hook
	}{
		"a short timeout is none":   {hook.Hook{Timeout: 300 * time.Microsecond}, &proto.Hook{TimeoutMs: 1}},
		"a timeout is cut":          {hook.Hook{Timeout: 1900 * time.Microsecond}, &proto.Hook{TimeoutMs: 1}},
		"a negative one is refused": {hook.Hook{Timeout: -1}, &proto.Hook{TimeoutMs: -1}},
		"a short cooldown is none":  {hook.Hook{Breaker: hook.BreakerSettings{Cooldown: 1}}, &proto.Hook{Breaker: &proto.Breaker{CooldownMs: 1}}},
		"first of all":              {hook.Hook{Priority: math.MaxInt}, &proto.Hook{Priority: math.MaxInt32}},
		"last of all":               {hook.Hook{Priority: math.MinInt}, &proto.Hook{Priority: math.MinInt32}},
		"a breaker that hardly opens": {hook.Hook{Breaker: hook.BreakerSettings{Failures: math.MaxInt32 + 1}},
			&proto.Hook{Breaker: &proto.Breaker{Failures: math.MaxInt32}}},
	} {
		if got := wire.Describe(&test.declared); !protobuf.Equal(test.want, got) {
			t.Errorf("%s: got %s, want %s", name, protojson.Format(got), protojson.Format(test.want))
		}
	}
}

func TestWrongHooksAreInvalidAndSayWhy(t *testing.T) {
	for name, test := range map[string]struct {
		described *proto.Hook
		why       string
	}{
		"timeout":    {&proto.Hook{TimeoutMs: -5}, "timeout"},
		"cooldown":   {&proto.Hook{Breaker: &proto.Breaker{CooldownMs: math.MaxInt64}}, "cooldown"},
		"event":      {&proto.Hook{Event: "PreToolUes"}, "PreToolUse"},
		"on_failure": {&proto.Hook{OnFailure: "stop"}, "on_failure"},
		"a long one": {&proto.Hook{OnFailure: strings.Repeat("b", 5000)}, "on_failure"},
	} {
		test.described.Name = "a"
		if test.described.Event == "" {
			test.described.Event = "Stop"
		}
		other := &proto.Hook{Name: "b", Event: "Stop"}
		hooks, err := wire.Hooks("guard", &proto.DescribeResponse{Hooks: []*proto.Hook{test.described, other}})
		if err != nil || len(hooks) != 2 {
			t.Fatalf("%s: %v, %v", name, hooks, err)
		}
		if h := hooks[0]; h.State != hook.StateInvalid || !strings.Contains(h.Why, test.why) || len(h.Why) > 400 {
			t.Errorf("%s: state %s, %.500q", name, h.State, h.Why)
		}
		if hooks[1].State != hook.StateReady {
			t.Errorf("%s: it harms the other one: %s", name, hooks[1].Why)
		}
	}
}

func TestDescriptionBeyondTheLimitsIsNone(t *testing.T) {
	one := func(change func(*proto.Hook)) *proto.DescribeResponse {
		h := &proto.Hook{Name: "a", Event: "Stop"}
		change(h)
		return &proto.DescribeResponse{Hooks: []*proto.Hook{h}}
	}
	long := strings.Repeat("x", 5000)
	for name, d := range map[string]*proto.DescribeResponse{
		"hooks":       {Hooks: make([]*proto.Hook, wire.MaxHooks+1)},
		"nothing":     {},
		"version":     {Version: long, Hooks: []*proto.Hook{{Name: "a", Event: "Stop"}}},
		"no name":     one(func(h *proto.Hook) { h.Name = "" }),
		"no event":    one(func(h *proto.Hook) { h.Event = "" }),
		"long name":   one(func(h *proto.Hook) { h.Name = long }),
		"control":     one(func(h *proto.Hook) { h.Event = "Stop\x1b" }),
		"matcher":     one(func(h *proto.Hook) { h.Matcher = long }),
		"requirement": one(func(h *proto.Hook) { h.Requires = &proto.Requires{Bins: []string{long}} }),
		"many":        one(func(h *proto.Hook) { h.Requires = &proto.Requires{Bins: make([]string, 40), Envs: make([]string, 40)} }),
	} {
		if hooks, err := wire.Hooks("guard", d); err == nil {
			t.Errorf("%s: %v", name, hooks)
		}
	}
}

func TestWhatADescriptionCannotTellIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := declared(t)
		h.Kind, h.State, h.Params = "", "", nil
		if names := wire.Uncarried(h); len(names) > 0 {
			t.Fatal(names)
		}
	})
	h := &hook.Hook{Name: "a", Timeout: 1, AsyncRewake: true, Env: map[string]string{"A": ""}, Source: hook.Source{Dir: "/"}, Priority: math.MinInt}
	if diff := cmp.Diff([]string{"Source.Dir", "AsyncRewake", "Env"}, wire.Uncarried(h)); diff != "" {
		t.Error(diff)
	}
	if names := wire.Uncarried(&hook.Hook{Env: map[string]string{}, Requires: hook.Requires{Bins: []string{}}}); len(names) > 0 {
		t.Errorf("empty, and lost: %q", names)
	}
}
