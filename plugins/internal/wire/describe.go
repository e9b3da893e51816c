package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins/proto"
)

// The limits of a description, which a plugin may fill with anything.
const (
	MaxHooks = 256
	maxText  = 4 << 10 // bytes of each text
	maxName  = 100
	maxList  = 64
)

// The params of a hook of kind plugin.
const (
	ParamHook   = "hook"   // its name in the binary
	ParamPlugin = "plugin" // the binary's name, where its package has several
)

// Describe writes a hook as a plugin describes it.
func Describe(h *hook.Hook) *proto.Hook {
	d := &proto.Hook{
		Name: h.Name, Event: string(h.Event), Description: h.Description, Matcher: h.Matcher, If: h.If,
		TimeoutMs: millis(h.Timeout), OnFailure: string(h.OnFailure), Priority: narrow(h.Priority),
		Rewrites: h.Rewrites, Async: h.Async, Once: h.Once, StatusMessage: h.StatusMessage,
	}
	if r := h.Requires; len(r.Bins)+len(r.AnyBins)+len(r.Envs)+len(r.OS) > 0 {
		d.Requires = &proto.Requires{Bins: r.Bins, AnyBins: r.AnyBins, Envs: r.Envs, Os: r.OS}
	}
	if b := h.Breaker; b != (hook.BreakerSettings{}) {
		d.Breaker = &proto.Breaker{Failures: narrow(b.Failures), CooldownMs: millis(b.Cooldown)}
	}
	return d
}

// millis keeps a time that is shorter than a millisecond from becoming none.
func millis(d time.Duration) int64 { return cmp.Or(d.Milliseconds(), int64(cmp.Compare(d, 0))) }

// narrow keeps the order of numbers that are too large.
func narrow(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// Hooks reads the hooks of a description. What is wrong with one makes it
// invalid, and Why says it; the others are unharmed. An error is a description
// that cannot be read at all.
func Hooks(plugin string, d *proto.DescribeResponse) ([]*hook.Hook, error) {
	switch n := len(d.GetHooks()); {
	case n == 0: // a guard that was there must not vanish
		return nil, errors.New("it describes no hook")
	case n > MaxHooks:
		return nil, fmt.Errorf("it describes %d hooks, more than %d", n, MaxHooks)
	}
	if err := texts(d.GetName(), d.GetVersion(), d.GetDescription()); err != nil {
		return nil, err
	}
	type key struct{ name, event string }
	seen := make(map[key]bool)
	var hooks []*hook.Hook
	for i, one := range d.GetHooks() {
		if err := nameable(one); err != nil {
			return nil, fmt.Errorf("hook %d: %w", i+1, err)
		}
		h := read(plugin, one)
		k := key{one.GetName(), one.GetEvent()}
		if seen[k] {
			h.State, h.Why = hook.StateInvalid, "the plugin has two hooks of this name for "+k.event
		}
		seen[k] = true
		hooks = append(hooks, h)
	}
	return hooks, nil
}

// nameable says what keeps a hook from being listed at all.
func nameable(d *proto.Hook) error {
	switch {
	case d.GetName() == "" || d.GetEvent() == "":
		return fmt.Errorf("it has no name or no event")
	case len(d.GetName()) > maxName || len(d.GetEvent()) > maxName:
		return fmt.Errorf("its name or event is longer than %d bytes", maxName)
	case strings.ContainsFunc(d.GetName()+d.GetEvent(), unprintable):
		return fmt.Errorf("its name or event holds characters that do not print")
	}
	r := d.GetRequires()
	lists := slices.Concat(r.GetBins(), r.GetAnyBins(), r.GetEnvs(), r.GetOs(), d.GetIf())
	if len(lists) > maxList {
		return fmt.Errorf("it has more than %d requirements and rules", maxList)
	}
	return texts(append(lists, d.GetDescription(), d.GetMatcher(), d.GetStatusMessage())...)
}

func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

func texts(all ...string) error {
	for _, s := range all {
		if len(s) > maxText {
			return fmt.Errorf("a text in it is longer than %d bytes", maxText)
		}
	}
	return nil
}

func read(plugin string, d *proto.Hook) *hook.Hook {
	h := &hook.Hook{
		Name: d.GetName(), Event: hook.Event(d.GetEvent()), Description: d.GetDescription(), Kind: hook.KindPlugin,
		Matcher: d.GetMatcher(), If: d.GetIf(), Priority: int(d.GetPriority()), Rewrites: d.GetRewrites(),
		Async: d.GetAsync(), Once: d.GetOnce(), StatusMessage: d.GetStatusMessage(),
		OnFailure: hook.FailurePolicy(d.GetOnFailure()), State: hook.StateReady,
		Params: hook.Params{ParamHook: quote(d.GetName()), ParamPlugin: quote(plugin)},
		Requires: hook.Requires{Bins: d.GetRequires().GetBins(), AnyBins: d.GetRequires().GetAnyBins(),
			Envs: d.GetRequires().GetEnvs(), OS: d.GetRequires().GetOs()},
	}
	var ok bool
	if h.Timeout, ok = duration(d.GetTimeoutMs()); !ok {
		h.State, h.Why = hook.StateInvalid, "its timeout is out of range"
	}
	h.Breaker.Failures = int(d.GetBreaker().GetFailures())
	if h.Breaker.Cooldown, ok = duration(d.GetBreaker().GetCooldownMs()); !ok {
		h.State, h.Why = hook.StateInvalid, "its breaker's cooldown is out of range"
	}
	if _, known := hook.Lookup(h.Event); !known {
		if near := hook.NearestEvent(string(h.Event)); near != "" {
			h.State, h.Why = hook.StateInvalid, fmt.Sprintf("there is no event %s: did the plugin mean %s?", h.Event, near)
		}
	}
	if slices.Contains(h.If, "") {
		h.State, h.Why = hook.StateInvalid, "its if has an empty rule"
	}
	switch h.OnFailure {
	case "", hook.FailureContinue, hook.FailureBlock:
	default:
		h.State, h.Why = hook.StateInvalid, fmt.Sprintf("its on_failure is %q: want block or continue", FirstLine(d.GetOnFailure()))
		h.OnFailure = hook.FailureBlock // what it meant was no plain continue
	}
	return h
}

func duration(ms int64) (time.Duration, bool) {
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

func quote(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string cannot fail
	return raw
}
