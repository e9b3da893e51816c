package rule

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Options say how rules are read. The zero value runs rules without expressions.
type Options struct {
	// Compile compiles expressions; nil = a rule that has one is unsupported.
	Compile Compiler
}

// Handler runs hooks of kind rule. It keeps nothing of an event and is safe for
// concurrent use.
type Handler struct{ opts Options }

// New makes a handler.
func New(opts Options) *Handler { return &Handler{opts} }

// Handle binds the hook of the call and judges the call. A host that judges many
// events binds each hook once, with [Handler.Bind].
func (h *Handler) Handle(ctx context.Context, c *hook.Call) (*hook.Output, error) {
	r, err := h.Bind(c.Hook, match.RuleOptions{})
	if err != nil {
		return nil, err
	}
	return r.Handle(ctx, c)
}

// Rule is one hook of kind rule, ready to judge events. It is made by
// [Handler.Bind] and safe for concurrent use.
type Rule struct {
	hook    *hook.Hook
	params  hook.RuleParams
	compile Compiler
	match   match.RuleOptions

	once    sync.Once
	ready   conditions
	broken  *hook.Error       // why it can judge nothing
	notes   []hook.Diagnostic // what is wrong with it
	writers []writer          // of decision rewrite
	reason  template
	text    template
}

// conditions are those of a rule, compiled. A nil one always holds.
type conditions struct {
	ifs, unless            *match.Rules
	touches, reads, writes *match.Touches
	when                   Program
}

// writer sets one key.
type writer struct {
	key string
	to  Program
}

// Bind prepares a hook. It compiles nothing: that is done by the first event, or
// by Check. It fails if the rule has expressions and the handler has no compiler
// for them.
func (h *Handler) Bind(hk *hook.Hook, opts match.RuleOptions) (*Rule, error) {
	params, problems := hook.RuleOf(hk.Params)
	if len(problems) > 0 {
		return nil, &hook.Error{Failure: hook.FailureInvalid, Reason: problems[0].Message, Hint: problems[0].Hint}
	}
	if key := expressionKey(&params); key != "" && h.opts.Compile == nil {
		return nil, &hook.Error{Failure: hook.FailureUnsupported, Reason: fmt.Sprintf("this program reads no expressions, and the rule has one in its key %s", key),
			Hint: "open the registry with package tenterhook, or give Options.Handlers a rule handler with a compiler"}
	}
	return &Rule{hook: hk, params: params, compile: h.opts.Compile, match: opts}, nil
}

// Handle judges the event of a call. It fails with an [*hook.Error], and with
// [hook.ErrNotConcerned] where a condition does not hold.
func (r *Rule) Handle(_ context.Context, c *hook.Call) (*hook.Output, error) {
	out, basis, err := r.Judge(NewFacts(c))
	c.Report.By = basis.By
	switch {
	case err != nil:
		return nil, err
	case !basis.Holds:
		return nil, hook.ErrNotConcerned
	}
	return out, nil
}

// Judge decides about an event. The output is nil where a condition does not
// hold, which basis explains. An error is an [*hook.Error].
func (r *Rule) Judge(f *Facts) (out *hook.Output, basis Basis, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, &hook.Error{Failure: hook.FailurePanic, Reason: fmt.Sprintf("judging the event panicked: %v", p), Err: fmt.Errorf("%v\n%s", p, debug.Stack())}
		}
	}()
	basis = r.Applies(f)
	if basis.Err != nil || !basis.Holds {
		return nil, basis, basis.Err
	}
	out, err = r.decide(f, basis.Certainty)
	return out, basis, err
}

// Check reports what keeps the rule from judging events, expressions that do
// not compile included.
func (r *Rule) Check(*hook.Call) []hook.Diagnostic {
	r.once.Do(r.prepare)
	return r.notes
}

// Unready says why the rule can judge no event at all, nil if it can.
func (r *Rule) Unready() *hook.Error {
	r.once.Do(r.prepare)
	return r.broken
}

// decide makes the answer of a rule whose conditions hold.
func (r *Rule) decide(f *Facts, how match.Certainty) (*hook.Output, error) {
	info := hook.Info(r.hook.Event)
	switch r.params.Decision {
	case hook.DecisionDeny:
		verdict := hook.Deny
		if how < match.Sure && info.Fields.Has(hook.FieldPermission) {
			verdict = hook.Ask // what the call only may do is for a person to say
		}
		return &hook.Output{Verdict: verdict, Reason: r.reason.fill(f), SuppressOriginalPrompt: r.params.Suppress && info.Fields.Has(hook.FieldSuppressPrompt)}, nil
	case hook.DecisionAsk:
		return &hook.Output{Verdict: hook.Ask, Reason: r.reason.fill(f)}, nil
	case hook.DecisionAllow:
		return &hook.Output{Verdict: hook.Allow, Reason: r.reason.fill(f)}, nil
	case hook.DecisionWarn:
		return &hook.Output{SystemMessage: r.reason.fill(f)}, nil
	case hook.DecisionContext:
		return &hook.Output{Context: r.text.fill(f)}, nil
	}
	return r.rewrite(f)
}
