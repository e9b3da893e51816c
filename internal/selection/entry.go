package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/breaker"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/trust"
)

// Entry is a hook with what the registry prepared to select and run it.
type Entry struct {
	*preparation
	Hook   *hook.Hook
	strict func() *Entry             // itself with on_failure = "block"
	origin *Entry                    // of such a one: what it is made of
	sealed atomic.Pointer[hook.Hook] // as it last ran from a copy of what was approved
}

// preparation is what an entry shares with the entry that blocks on failure.
type preparation struct {
	Handler hook.Handler // nil = none runs this kind
	State   hook.State   // without eligibility, which is asked each time
	Why     string
	gated   bool       // it is disabled, and not by its own definition
	Event   hook.Event // the event it is indexed under: the hook's, or the event that it misspelt

	declared   *hook.Hook       // without the defaults of the settings
	SpentAs    string           // of a hook that runs once: its definition
	Definition *load.Definition // nil = registered from Go
	over       []*Entry         // hooks that take its place while they can run, the nearest first
	same       sameness         // what dedupe knows it by

	kept    bool // a guard of an earlier load, for the sessions that began with it
	Limited bool // its word counts as far as it refuses or asks

	Matcher      *match.Matcher
	rules        []*match.Rule // of `if`: any of them; none = every call, or a rule that tests it itself
	Ruling       *rule.Rule    // of a hook of kind rule
	ruleProblems []hook.Diagnostic
	NoRule       *hook.Diagnostic // why no rule of `if` can match anything; nil = one can
	Check        *eligibility.Check
	Breaker      *breaker.Breaker
	Timeout      time.Duration
	Foreign      *contain.Guard // calls its handler
	Project      string         // the root of the project that it was read from; "" = the workspace
}

// Prepare makes a hook selectable. The handler that the hook brings goes
// before the one of its kind.
func (r *Hooks) Prepare(p *load.Settings, h *hook.Hook) *Entry {
	declared := h
	if own, ok := r.Handlers[h.Kind].(container); ok && h.Handler == nil {
		shared := *h
		if d := r.Loading(askLimit, HandlerOf(h.Kind), "Sandbox", "", func() { shared.Sandbox = own.Sandbox(declared) }); d == nil {
			h = &shared
		}
	}
	h = p.Settled(h)
	e := &Entry{Hook: h, preparation: &preparation{declared: declared, State: cmp.Or(h.State, hook.StateReady), Why: h.Why, Event: h.Concerns(), Foreign: new(contain.Guard)}}
	info := hook.Info(e.Event)
	pattern := h.Matcher
	if info.MatcherField == "" {
		pattern = ""
	}
	e.Matcher = match.Compile(pattern, match.MatcherOptions{Syntax: matcherSyntax[h.Syntax], Narrow: info.NarrowMatcher})
	for _, text := range h.If {
		rule, problems := match.ParseRule(text, r.ruleOptions(h))
		e.rules, e.ruleProblems = append(e.rules, rule), append(e.ruleProblems, problems...)
	}
	if i := slices.IndexFunc(e.ruleProblems, isInvalid); i >= 0 && !slices.ContainsFunc(e.rules, (*match.Rule).Valid) {
		e.NoRule = &e.ruleProblems[i]
	}
	e.Check = r.Eligibility.Prepare(h.Requires)
	e.Handler = h.Handler
	if e.Handler == nil {
		e.Handler = r.Handlers[h.Kind]
	}
	if e.State == hook.StateReady {
		r.bindRule(e)
	}
	if e.Ruling != nil {
		e.rules = nil
	}
	e.Timeout = cmp.Or(h.Timeout, hook.DefaultTimeout(h.Kind, h.Event))
	if h.Once {
		bound, _ := trust.Define(declared) // what it can't tell apart is told apart by its name
		e.SpentAs = string(bound)
	}
	limits := breaker.Settings{
		Failures: h.Breaker.Failures, Cooldown: h.Breaker.Cooldown,
		// Not that of the event: all events of a hook share its breaker.
		ProbeTimeout: cmp.Or(h.Timeout, hook.DefaultTimeout(h.Kind, "")),
	}
	if h.Scope == hook.ScopeSession { // other sessions have functions of the same name
		e.Breaker = breaker.New(limits)
	} else {
		e.Breaker = r.Breakers.Get(breakerName(h), limits)
	}
	e.strict = sync.OnceValue(func() *Entry { return e.blocking() })
	r.judge(p, e)
	return e
}

func isInvalid(p hook.Diagnostic) bool { return p.Code == match.ProblemRuleInvalid }

var matcherSyntax = map[hook.MatcherSyntax]match.Syntax{
	hook.SyntaxClaude: match.SyntaxClaude, hook.SyntaxRegexp: match.SyntaxRegexp, hook.SyntaxGlob: match.SyntaxGlob,
}

// breakerName tells two hooks apart that only their folders distinguish.
func breakerName(h *hook.Hook) string { return h.ID + "\x00" + h.Source.Path }

// judge finds the reasons that hold for as long as the hook is loaded.
func (r *Hooks) judge(p *load.Settings, e *Entry) {
	h := e.Hook
	if e.State == hook.StateDisabled {
		return
	}
	off := p.Gate(h)
	switch {
	case off != "": // broken or not: an operator who switches it off wants no more messages about it
		e.State, e.Why, e.gated = hook.StateDisabled, off, true
	case e.State != hook.StateReady:
	case !hook.Info(h.Event).Takes(h.Kind):
		e.State, e.Why = hook.StateUnsupported, fmt.Sprintf("%s takes no %s hooks", h.Event, h.Kind)
	case r.NonInteractive && h.Kind.Info().Person:
		e.State, e.Why = hook.StateUnsupported, fmt.Sprintf("%s hooks need an interactive host", h.Kind)
	case e.Handler == nil:
		e.State, e.Why = hook.StateUnsupported, fmt.Sprintf("nothing here runs %s hooks", h.Kind)
	}
}

// CompareEntries is the configuration order: scope, priority (high first),
// path, position in the file.
func CompareEntries(a, b *Entry) int {
	return cmp.Or(
		cmp.Compare(a.Hook.Scope, b.Hook.Scope),
		cmp.Compare(b.Hook.Priority, a.Hook.Priority),
		strings.Compare(a.Hook.Source.Path, b.Hook.Source.Path),
		cmp.Compare(a.Hook.Source.Line, b.Hook.Source.Line),
	)
}
