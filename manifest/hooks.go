package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/hook"
)

// hooks makes a hook for each event of the document.
func (r *reader) hooks() []*hook.Hook {
	top := section{reader: r, values: r.doc.root}
	events, from := r.events(top)
	base := r.definition(top, from)
	if !r.lenient {
		top.check(knownKeys)
	}
	enabled := top.flag("enabled", true)

	var hooks []*hook.Hook
	for _, ev := range events {
		matcher := cmp.Or(base.Matcher, ev.mapping.Matcher)
		if slices.ContainsFunc(hooks, func(h *hook.Hook) bool { return h.Event == ev.mapping.Event && h.Matcher == matcher }) {
			r.warn(remark{"duplicate_event", from.key, "names " + string(ev.mapping.Event) + " twice", "keep one of them"})
			continue
		}
		h := *base
		h.Event, h.Matcher = ev.mapping.Event, matcher
		r.settle(&h, ev, from)
		hooks = append(hooks, &h)
	}
	if len(hooks) == 0 {
		r.missingEvent(from)
		r.settle(base, event{}, from)
		hooks = append(hooks, base)
	}
	for _, h := range hooks {
		if !enabled {
			h.State, h.Why = hook.StateDisabled, "its manifest has enabled = false"
		}
	}
	for i := range r.notes {
		r.notes[i].Hook = base.ID
	}
	return hooks
}

// definition reads everything but the events.
func (r *reader) definition(top section, from origin) *hook.Hook {
	h := &hook.Hook{
		Name:          cmp.Or(top.text("name"), r.src.Folder),
		Description:   top.caption("description"),
		StatusMessage: top.caption("status_message"),
		Matcher:       top.matcher(),
		If:            top.rules("if"),
		Kind:          top.kind(),
		Scope:         r.src.Scope,
		Source:        r.src.Source,
		Protocol:      hook.Protocol(cmp.Or(top.choice("protocol", protocolWords), string(from.protocol))),
		Timeout:       cmp.Or(top.duration("timeout"), from.timeout),
		OnFailure:     top.policy(),
		Priority:      top.integer("priority"),
		Rewrites:      top.flag("rewrites", false),
		Once:          top.flag("once", false),
		Env:           top.env(),
		Requires:      top.requires(from),
		Breaker:       top.breaker(),
		State:         hook.StateReady,
	}
	h.ID = r.src.ID(h.Name)
	h.Source.Line = r.line(from.key)
	if h.Protocol == hook.ProtocolStarpod {
		h.Syntax = hook.SyntaxRegexp // as starpod searches its matchers
	}
	top.handler(h, from)
	if h.OnFailure == hook.FailureBlock && (h.Async || h.AsyncRewake) {
		r.warn(remark{"no_effect", "on_failure", "a hook in the background blocks nothing", ""})
	}
	return h
}

// settle finds out whether a hook of the manifest can run for its event, and
// tells what its event ignores.
func (r *reader) settle(h *hook.Hook, ev event, from origin) {
	never := h.Why // of the manifest as a whole
	if info := hook.Info(h.Event); ev.name != "" && ev.wrong == "" {
		r.ignored(h, info)
		if never == "" {
			never = r.never(h, info)
		}
	}
	switch {
	case r.wrong != "":
		h.State, h.Why = hook.StateInvalid, r.wrong
	case ev.wrong != "":
		h.State, h.Why = hook.StateInvalid, ev.wrong
	case never != "":
		h.State, h.Why = hook.StateUnsupported, never
	}
}

// ignored warns of keys that the hook's event takes no notice of.
func (r *reader) ignored(h *hook.Hook, info *hook.EventInfo) {
	if h.Matcher != "" && h.Matcher != "*" && info.MatcherField == "" {
		r.warn(remark{"no_effect", "matcher", fmt.Sprintf("%s has nothing that a matcher could test, so each one matches", h.Event), "leave the matcher out"})
	}
	if h.OnFailure == hook.FailureBlock && (info.NoPolicy || info.Block == hook.BlockNothing) {
		r.warn(remark{"no_effect", "on_failure", fmt.Sprintf("a failed hook does not block %s", h.Event), ""})
	}
	if h.Rewrites && !info.Fields.Has(hook.FieldUpdatedInput) && !info.Fields.Has(hook.FieldRequest) {
		r.warn(remark{"no_effect", "rewrites", fmt.Sprintf("%s has no input that a hook can rewrite", h.Event), ""})
	}
}

// never says why a hook in order never runs on its event, or "".
func (r *reader) never(h *hook.Hook, info *hook.EventInfo) string {
	if !info.Takes(h.Kind) {
		taken := make([]string, len(info.Kinds))
		for i, k := range info.Kinds {
			taken[i] = string(k)
		}
		why := fmt.Sprintf("%s takes no %s hooks, only %s", h.Event, h.Kind, either(taken))
		r.warn(remark{"unsupported_kind", "type", why, ""})
		return why
	}
	if h.Kind == hook.KindRule && r.wrong == "" {
		rule, _ := hook.RuleOf(h.Params)
		if why := rule.Never(info); why != "" {
			r.warn(remark{"no_effect", "decision", why, ""})
			return why
		}
	}
	if len(h.If) > 0 && !info.TakesIf {
		why := fmt.Sprintf("%s has no tool call that the rule could test, so the hook never runs", h.Event)
		r.warn(remark{"if_never", "if", why, "leave the rule out, or use a matcher"})
		return "if: " + why
	}
	return ""
}

// event is an event that the manifest names.
type event struct {
	name    string
	mapping dialect.Mapping
	wrong   string // why there is no such event
}

// meaning finds the event of a name.
func (r *reader) meaning(name string, from origin) event {
	m, known := dialect.MapEvent(name)
	ev := event{name: name, mapping: m}
	if known {
		return ev
	}
	ev.mapping = dialect.Mapping{Event: hook.Event(name)}
	if from.host != "" {
		return ev // another host may well have it
	}
	if near := hook.NearestEvent(name); near != "" {
		d := r.note(hook.SeverityError, remark{"unknown_event", from.key, "there is no event " + quote(name), fmt.Sprintf("did you mean %s?", near)})
		ev.wrong = fmt.Sprintf("%s; did you mean %s?", d.Message, near)
		return ev
	}
	r.warn(remark{"unknown_event", from.key, "no event " + quote(name) + " is known", "the hook runs if the host fires an event of that name"})
	return ev
}

func (r *reader) missingEvent(from origin) {
	if r.wrong != "" && from.key != "" {
		return // the key is there, and what is wrong with it was said
	}
	m := remark{"missing_event", from.key, "the manifest names no event, so the hook never runs", `add event = "PreToolUse", say`}
	if from.loose {
		m.hint = `name them beside metadata, as events = ["PreToolUse"], or as metadata.openclaw.events`
	}
	r.fail(m)
}
