package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// timeout reads the time limit, under whichever key the product has it.
func (e *entry) timeout(of hook.Kind) time.Duration {
	for _, key := range []struct {
		name string
		unit time.Duration
	}{{"timeout", e.p.unit}, {"timeout_sec", time.Second}, {"timeout_ms", time.Millisecond}} {
		if e.takes(key.name) && e.get(key.name) != nil {
			if d := e.duration(key.name, key.unit); d > 0 {
				return d
			}
		}
	}
	if of == hook.KindCommand {
		return e.p.timeout
	}
	return 0
}

// policy reads on_failure. A misspelt "block" still means that.
func (e *entry) policy() hook.FailurePolicy {
	words := []string{string(hook.FailureContinue), string(hook.FailureBlock)}
	policy := e.word("on_failure", words)
	if policy == "" {
		policy = hook.Nearest(e.caption("on_failure"), words)
	}
	return hook.FailurePolicy(policy)
}

// env reads the environment that the hook gets.
func (e *entry) env() map[string]string {
	table := e.sub("env")
	if table == nil || len(table.table.pairs()) == 0 {
		return nil
	}
	env := make(map[string]string)
	for _, p := range table.table.pairs() {
		value := ""
		switch v := p.node.value.(type) {
		case string:
			value = v
		case bool:
			value = fmt.Sprint(v)
		case json.Number:
			value = v.String()
		default:
			e.fail("wrong_type", p.line, "env."+p.key, "want a string, got "+p.node.what(), "")
		}
		if p.key == "" || strings.ContainsAny(p.key, "=\x00") || strings.ContainsRune(value, 0) {
			e.fail("unknown_value", p.line, "env."+p.key, "is no name, or no value, that a variable can have", "")
			continue
		}
		if _, twice := env[p.key]; twice {
			e.fail("duplicate_key", p.line, "env."+p.key, "stands here a second time", "keep one of them")
		}
		env[p.key] = value
	}
	return env
}

// ours reads the keys that only our own settings have, as HOOK.md has them.
func (e *entry) ours(h *hook.Hook) {
	h.Priority = e.integer("priority")
	h.Rewrites = e.flag("rewrites")
	if h.Kind == hook.KindRule {
		rule, _ := hook.RuleOf(h.Params)
		h.Rewrites = rule.Decision == hook.DecisionRewrite
	}
	protocols := make([]string, len(hook.Protocols()))
	for i, p := range hook.Protocols() {
		protocols[i] = string(p)
	}
	if h.Protocol = hook.Protocol(e.word("protocol", protocols)); h.Protocol == hook.ProtocolStarpod {
		h.Syntax = hook.SyntaxRegexp // as starpod searches its matchers
	}
	h.Breaker = e.breaker()
	h.Sandbox = e.sandbox()
	if need := e.sub("requires"); need != nil {
		h.Requires = hook.Requires{Bins: need.strings("bins"), AnyBins: need.strings("any_bins"), Envs: need.strings("envs"), OS: need.strings("os")}
		if len(h.Requires.Envs) == 0 {
			h.Requires.Envs = need.strings("env")
		}
		e.wrong = cmp.Or(e.wrong, need.wrong)
	}
	if on := e.choice("enabled"); on != nil && !*on {
		h.State, h.Why = hook.StateDisabled, "it has enabled = false"
	}
}

func (e *entry) breaker() hook.BreakerSettings {
	table := e.sub("breaker")
	if table == nil {
		return hook.BreakerSettings{}
	}
	s := hook.BreakerSettings{Failures: table.integer("failures"), Cooldown: table.duration("cooldown", time.Second)}
	e.wrong = cmp.Or(e.wrong, table.wrong)
	return s
}

// sandbox reads the sandbox that an entry asks for; nil = none is declared.
func (e *entry) sandbox() *hook.Sandbox {
	n := e.get("sandbox")
	if n == nil {
		return nil
	}
	box, problems := hook.SandboxOf(n.json())
	for _, p := range problems {
		e.fail(p.Code, e.line("sandbox"), p.Key, p.Text, p.Hint)
	}
	return box
}

// finish judges whether the hook can run on its event, and adds it.
func (e *entry) finish(h *hook.Hook, ev declaredEvent) {
	info := hook.Info(h.Event)
	if h.Why == "" && h.State != hook.StateDisabled && ev.wrong == "" && e.wrong == "" {
		e.never(h, info)
		e.ignored(h, info)
	}
	switch {
	case h.State == hook.StateDisabled:
	case e.wrong != "":
		h.State, h.Why = hook.StateInvalid, e.wrong
	case ev.wrong != "":
		h.State, h.Why = hook.StateInvalid, ev.wrong
	case h.Why != "":
		h.State = hook.StateUnsupported
	}
	e.add(h, e.table.line)
	for i := range e.config.Notes[min(e.first, len(e.config.Notes)):] {
		e.config.Notes[e.first+i].Hook = h.ID
	}
}

// never says in the hook's Why that it never runs on its event.
func (e *entry) never(h *hook.Hook, info *hook.EventInfo) {
	switch {
	case !info.Takes(h.Kind):
		h.Why = fmt.Sprintf("%s takes no %s hooks", h.Event, h.Kind)
		e.warn("unsupported_kind", "type", h.Why, "")
	case len(h.If) > 0 && !info.TakesIf:
		h.Why = fmt.Sprintf("%s has no tool call that its rule could test, so it never runs", h.Event)
		e.warn("if_never", "if", h.Why, "leave the rule out, or use a matcher")
	case h.Kind == hook.KindRule:
		rule, _ := hook.RuleOf(h.Params)
		if h.Why = rule.Never(info); h.Why != "" {
			e.warn("no_effect", "decision", h.Why, "")
		}
	}
}

// ignored warns of keys that the hook's event takes no notice of.
func (e *entry) ignored(h *hook.Hook, info *hook.EventInfo) {
	if p := e.pattern; p != "" && p != "*" && p != ".*" && info.MatcherField == "" {
		e.warn("no_effect", "matcher", fmt.Sprintf("%s has nothing that a matcher could test, so each one matches", h.Event), "leave the matcher out")
	}
	if e.get("on_failure") != nil && h.OnFailure == hook.FailureBlock {
		switch {
		case info.NoPolicy || info.Block == hook.BlockNothing:
			e.warn("no_effect", "on_failure", fmt.Sprintf("a failed hook does not block %s", h.Event), "")
		case h.Async || h.AsyncRewake:
			e.warn("no_effect", "on_failure", "a hook in the background blocks nothing", "")
		}
	}
}
