package registry

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

// entry is a hook with what the registry prepared to select and run it.
type entry struct {
	*preparation
	hook   *hook.Hook
	strict func() *entry             // itself with on_failure = "block"
	origin *entry                    // of such a one: what it is made of
	sealed atomic.Pointer[hook.Hook] // as it last ran from a copy of what was approved
}

// preparation is what an entry shares with the entry that blocks on failure.
type preparation struct {
	handler hook.Handler // nil = none runs this kind
	state   hook.State   // without eligibility, which is asked each time
	why     string
	gated   bool       // it is disabled, and not by its own definition
	event   hook.Event // the event it is indexed under: the hook's, or the event that it misspelt

	declared   *hook.Hook       // without the defaults of the settings
	spentAs    string           // of a hook that runs once: its definition
	definition *load.Definition // nil = registered from Go
	over       []*entry         // hooks that take its place while they can run, the nearest first
	same       sameness         // what dedupe knows it by

	kept    bool // a guard of an earlier load, for the sessions that began with it
	limited bool // its word counts as far as it refuses or asks

	matcher      *match.Matcher
	rules        []*match.Rule // of `if`: any of them; none = every call, or a rule that tests it itself
	ruling       *rule.Rule    // of a hook of kind rule
	ruleProblems []match.Problem
	noRule       *match.Problem // why no rule of `if` can match anything; nil = one can
	check        *eligibility.Check
	breaker      *breaker.Breaker
	timeout      time.Duration
	foreign      *contain.Guard // calls its handler
	project      string         // the root of the project that it was read from; "" = the workspace
}

// prepare makes a hook selectable. The handler that the hook brings goes
// before the one of its kind.
func (r *Registry) prepare(p *load.Settings, h *hook.Hook) *entry {
	declared := h
	if own, ok := r.handlers[h.Kind].(Container); ok && h.Handler == nil {
		shared := *h
		if d := loading(new(contain.Guard), askLimit, handlerOf(h.Kind), "Sandbox", func() { shared.Sandbox = own.Sandbox(h) }); d == nil {
			h = &shared
		}
	}
	h = p.Settled(h)
	e := &entry{hook: h, preparation: &preparation{declared: declared, state: cmp.Or(h.State, hook.StateReady), why: h.Why, event: h.Concerns(), foreign: new(contain.Guard)}}
	info := hook.Info(e.event)
	pattern := h.Matcher
	if info.MatcherField == "" {
		pattern = ""
	}
	e.matcher = match.Compile(pattern, match.MatcherOptions{Syntax: matcherSyntax[h.Syntax], Narrow: info.NarrowMatcher})
	for _, text := range h.If {
		rule, problems := match.ParseRule(text, r.ruleOptions(h))
		e.rules, e.ruleProblems = append(e.rules, rule), append(e.ruleProblems, problems...)
	}
	if i := slices.IndexFunc(e.ruleProblems, isInvalid); i >= 0 && !slices.ContainsFunc(e.rules, (*match.Rule).Valid) {
		e.noRule = &e.ruleProblems[i]
	}
	e.check = r.eligibility.Prepare(h.Requires)
	e.handler = h.Handler
	if e.handler == nil {
		e.handler = r.handlers[h.Kind]
	}
	if e.state == hook.StateReady {
		r.bindRule(e)
	}
	if e.ruling != nil {
		e.rules = nil
	}
	e.timeout = cmp.Or(h.Timeout, hook.DefaultTimeout(h.Kind, h.Event))
	if h.Once {
		bound, _ := trust.Define(declared) // what it can't tell apart is told apart by its name
		e.spentAs = string(bound)
	}
	limits := breaker.Settings{
		Failures: h.Breaker.Failures, Cooldown: h.Breaker.Cooldown,
		// Not that of the event: all events of a hook share its breaker.
		ProbeTimeout: cmp.Or(h.Timeout, hook.DefaultTimeout(h.Kind, "")),
	}
	if h.Scope == hook.ScopeSession { // other sessions have functions of the same name
		e.breaker = breaker.New(limits)
	} else {
		e.breaker = r.breakers.Get(breakerName(h), limits)
	}
	e.strict = sync.OnceValue(func() *entry { return e.blocking() })
	r.judge(p, e)
	return e
}

func isInvalid(p match.Problem) bool { return p.Code == match.ProblemRuleInvalid }

var matcherSyntax = map[hook.MatcherSyntax]match.Syntax{
	hook.SyntaxClaude: match.SyntaxClaude, hook.SyntaxRegexp: match.SyntaxRegexp, hook.SyntaxGlob: match.SyntaxGlob,
}

// breakerName tells two hooks apart that only their folders distinguish.
func breakerName(h *hook.Hook) string { return h.ID + "\x00" + h.Source.Path }

// judge finds the reasons that hold for as long as the hook is loaded.
func (r *Registry) judge(p *load.Settings, e *entry) {
	h := e.hook
	if e.state == hook.StateDisabled {
		return
	}
	off := p.Gate(h)
	switch {
	case off != "": // be it broken or not: who switches it off wants no more messages about it
		e.state, e.why, e.gated = hook.StateDisabled, off, true
	case e.state != hook.StateReady:
	case !hook.Info(h.Event).Takes(h.Kind):
		e.state, e.why = hook.StateUnsupported, fmt.Sprintf("%s takes no %s hooks", h.Event, h.Kind)
	case r.opts.NonInteractive && h.Kind.Info().Person:
		e.state, e.why = hook.StateUnsupported, fmt.Sprintf("%s hooks need an interactive host", h.Kind)
	case e.handler == nil:
		e.state, e.why = hook.StateUnsupported, fmt.Sprintf("nothing here runs %s hooks", h.Kind)
	}
}

// compareEntries is the configuration order: scope, priority (high first),
// path, position in the file.
func compareEntries(a, b *entry) int {
	return cmp.Or(
		cmp.Compare(a.hook.Scope, b.hook.Scope),
		cmp.Compare(b.hook.Priority, a.hook.Priority),
		strings.Compare(a.hook.Source.Path, b.hook.Source.Path),
		cmp.Compare(a.hook.Source.Line, b.hook.Source.Line),
	)
}
