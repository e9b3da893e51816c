package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// twinKey is what the legacy dedupe knows a hook of a config file by: a command
// by command, args and `if`; a prompt by its text; an agent by the text that it
// comes to without arguments; http by its URL. Copies in different plugins stay
// apart, and so do hooks that differ in what the protocol does not know: their
// environment, their folder, and the dialect in which they answer. "" = the
// kind has no twins.
func twinKey(pkg string, h *hook.Hook) string {
	key := []string{string(h.Kind), pkg, h.Source.Dir, string(h.Protocol)}
	param := func(name string) string {
		var text string
		_ = json.Unmarshal(h.Params[name], &text) // not text: its handler says so
		return text
	}
	switch {
	case h.State == hook.StateInvalid:
		return ""
	case h.Kind == hook.KindCommand && h.Command != nil:
		rules, _ := json.Marshal(h.If) // strings cannot fail
		key = append(key, string(rules), h.Command.Line)
		if h.Command.Args != nil {
			key = append(append(key, "args"), h.Command.Args...)
		}
		for _, name := range slices.Sorted(maps.Keys(h.Env)) {
			key = append(key, "env", name, h.Env[name])
		}
	case h.Kind == hook.KindPrompt:
		key = append(key, param("prompt"))
	case h.Kind == hook.KindAgent:
		key = append(key, strings.ReplaceAll(param("prompt"), "$ARGUMENTS", ""))
	case h.Kind == hook.KindHTTP:
		key = append(key, param("url"))
	default:
		return ""
	}
	return strings.Join(key, "\x00")
}

// dedupe lets one hook run of those that are the same, as a map insertion would:
// at the position of the first, with what the last declares. But a managed one
// is not dropped for another's, nor one that decides for one that runs in the
// background, and if any of them blocks on failure, the one that runs does.
// Hooks that would not run have no twins: they can't take another's place.
func dedupe(hooks []pick) {
	for first := range hooks {
		if hooks[first].twin == "" || !hooks[first].run {
			continue
		}
		strict := hooks[first].blocks()
		for i := first + 1; i < len(hooks); i++ {
			if hooks[i].twin != hooks[first].twin || !hooks[i].run {
				continue
			}
			strict = strict || hooks[i].blocks()
			if hooks[i].displaces(&hooks[first]) {
				hooks[first], hooks[i] = hooks[i], hooks[first]
			}
			hooks[i].drop(&hooks[first])
		}
		if strict && !hooks[first].blocks() {
			hooks[first].entry = hooks[first].strict()
		}
	}
}

func (p *pick) blocks() bool { return p.hook.OnFailure == hook.FailureBlock }

// displaces reports whether p, which comes later, takes the place of its twin.
func (p *pick) displaces(first *pick) bool {
	if first.hook.Scope == hook.ScopeManaged && p.hook.Scope != hook.ScopeManaged {
		return false
	}
	background := p.hook.Async || p.hook.AsyncRewake
	return !background || first.hook.Async || first.hook.AsyncRewake
}

// drop lets p not run because its twin does.
func (p *pick) drop(twin *pick) {
	p.run, p.why = false, "duplicate"
	p.detail = fmt.Sprintf("it is the same as %s (%s:%d), which runs", twin.hook.ID, twin.hook.Source.Path, twin.hook.Source.Line)
}

// blocking is the entry with on_failure = "block". All that is kept of the hook
// goes by its name, so both are one hook.
func (e *entry) blocking() *entry {
	h := *e.hook
	h.OnFailure = hook.FailureBlock
	return &entry{origin: e, hook: &h, declared: e.declared, spentAs: e.spentAs, handler: e.handler, state: e.state, why: e.why, event: e.event,
		definition: e.definition, rival: e.rival, twin: e.twin,
		matcher: e.matcher, rules: e.rules, ruleProblems: e.ruleProblems, check: e.check, breaker: e.breaker, timeout: e.timeout}
}

// twins tells, at load, of hooks that are the same for each call: their matchers
// are, too.
func twins(entries []*entry) []hook.Diagnostic {
	type call struct{ event, matcher, twin string }
	firsts := make(map[call]*entry)
	var notes []hook.Diagnostic
	for _, e := range entries {
		if e.twin == "" {
			continue
		}
		at := call{string(e.event), e.hook.Matcher, e.twin}
		first := firsts[at]
		if first == nil {
			firsts[at] = e
			continue
		}
		if first.hook.Source.Path != e.hook.Source.Path { // within a file its reader says so
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityInfo, Code: "duplicate_hook", Hook: e.hook.ID,
				Path: e.hook.Source.Path, Line: e.hook.Source.Line,
				Message: fmt.Sprintf("it is the same as %s (%s:%d): one of them runs", first.hook.ID, first.hook.Source.Path, first.hook.Source.Line),
				Hint:    "remove one of them"})
		}
	}
	return notes
}
