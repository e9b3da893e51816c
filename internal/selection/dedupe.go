package selection

import (
	"fmt"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// sameness is what dedupe knows a hook of a config file by. Hooks of which one
// number is equal, and not 0, are the same.
type sameness struct {
	legacy int // within a scope: what the Claude Code protocol compares
	whole  int // over all scopes: everything that decides what runs
}

// sameKeys numbers keys, so that a dispatch compares numbers. The zero value is
// ready to use.
type sameKeys struct{ numbers map[string]int }

func (k *sameKeys) number(key string) int {
	if k.numbers == nil {
		k.numbers = make(map[string]int)
	}
	n, ok := k.numbers[key]
	if !ok {
		n = len(k.numbers) + 1
		k.numbers[key] = n
	}
	return n
}

// of returns what a hook is known by. Copies in different plugins stay apart. One
// that is invalid is the same as no other.
func (k *sameKeys) of(pkg string, e *Entry) (s sameness) {
	h := e.Hook
	if h.State == hook.StateInvalid {
		return s
	}
	if key := dialect.LegacyKey(h); key != "" {
		s.legacy = k.number(h.Scope.String() + "\x00" + pkg + "\x00" + key)
	}
	own := *h
	own.Sandbox = e.declared.Sandbox // not what the settings give its scope
	if key := dialect.WholeKey(&own); key != "" {
		s.whole = k.number(pkg + "\x00" + key)
	}
	return s
}

// dedupe lets one of several same hooks run. Within a scope it is as a
// map insertion would have it, as in Claude Code: at the position of the first,
// with what the last declares, but a hook that decides is not dropped for one in
// the background. A hook of a nearer scope is dropped only if it is the same in
// every respect. If any of them blocks on failure, the running one does. A hook
// that would not run takes no place.
func dedupe(hooks []Pick) {
	for first := range hooks {
		if !hooks[first].Run || hooks[first].same == (sameness{}) {
			continue
		}
		strict := hooks[first].blocks()
		for i := first + 1; i < len(hooks); i++ {
			p := &hooks[i]
			if !p.Run {
				continue
			}
			switch a, b := hooks[first].same, p.same; {
			case a.legacy != 0 && a.legacy == b.legacy:
				if !Background(p.Hook) || Background(hooks[first].Hook) {
					hooks[first], hooks[i] = hooks[i], hooks[first]
				}
			case a.whole == 0 || a.whole != b.whole:
				continue
			}
			strict = strict || p.blocks() || hooks[first].blocks()
			p.drop(&hooks[first])
		}
		if strict && !hooks[first].blocks() {
			hooks[first].Entry = hooks[first].strict()
		}
	}
}

func (p *Pick) blocks() bool { return p.Hook.OnFailure == hook.FailureBlock }

// drop keeps p from running because the same hook does.
func (p *Pick) drop(runs *Pick) {
	p.Run, p.Why = false, "duplicate"
	p.Detail = fmt.Sprintf("it is the same as %s (%s:%d), which runs", runs.Hook.ID, runs.Hook.Source.Path, runs.Hook.Source.Line)
}

// blocking is the entry with on_failure = "block". All that is kept of the hook
// goes by its name, so both are one hook.
func (e *Entry) blocking() *Entry {
	h := *e.Hook
	h.OnFailure = hook.FailureBlock
	return &Entry{preparation: e.preparation, Hook: &h, origin: e}
}

// duplicates reports, at load, hooks that are the same for each call: their
// matchers and rules are, too.
func duplicates(entries []*Entry) []hook.Diagnostic {
	type call struct {
		event         hook.Event
		matcher, rule string
		same          sameness
	}
	firsts := make(map[call]*Entry)
	var notes []hook.Diagnostic
	for _, e := range entries {
		for _, same := range []sameness{{legacy: e.same.legacy}, {whole: e.same.whole}} {
			if same == (sameness{}) {
				continue
			}
			at := call{e.Event, e.Hook.Matcher, e.Hook.If.String(), same}
			first := firsts[at]
			if first == nil {
				firsts[at] = e
				continue
			}
			if first.Hook.Source.Path != e.Hook.Source.Path { // within a file its reader says so
				notes = append(notes, hook.Diagnostic{Severity: hook.SeverityInfo, Code: "duplicate_hook", Hook: e.Hook.ID,
					Path: e.Hook.Source.Path, Line: e.Hook.Source.Line,
					Message: fmt.Sprintf("it is the same as %s (%s:%d): one of them runs", first.Hook.ID, first.Hook.Source.Path, first.Hook.Source.Line),
					Hint:    "remove one of them"})
				break
			}
		}
	}
	return notes
}
