package selection

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/trust"
)

// Pick is a hook whose event and matcher fit an input.
type Pick struct {
	*Entry
	Run       bool
	Concerned bool         // it leaves a result: only its `if` can say otherwise
	Failure   hook.Failure // of a hook that should have run and cannot
	Why       string       // of a hook that does not run, in a word
	Detail    string
	Hint      string
	by        string      // which `if` rule matched, and what it saw
	Seal      *trust.Seal // what was approved; nil = nothing had to be
	Unbound   string      // why the approval does not bind what runs; "" = it does
}

// DeclaredEntry is the entry as it was loaded, whatever took over from it.
func (p *Pick) DeclaredEntry() *Entry { return cmp.Or(p.origin, p.Entry) }

// View is what one dispatch selects from, from beginning to end: the hooks as
// they were when it began.
type View struct {
	Snap     *snapshot
	sessions *sessionHooks // nil = there are none
	From     *Caller       // nil = the host itself
}

func (r *Hooks) View(from *Caller) View { return View{r.Snap.Load(), r.sessions.Load(), from} }

// Pick finds the hooks that an input concerns, in order. asked, if not nil,
// reports which hooks this dispatch has asked already: `once` does not keep it
// from asking them again. pick allocates nothing if there are no hooks.
func (r *Hooks) Pick(v View, in hook.Input, asked func(*Entry) bool) []Pick {
	found := v.Snap.candidates(in.Event(), hook.Subject(in))
	if v.sessions != nil {
		found = v.sessions.join(found, in)
	}
	if len(found) == 0 {
		return nil
	}
	var call *match.Call
	var also []*match.Call
	hooks := make([]Pick, len(found))
	for i, e := range found {
		if len(e.rules) > 0 && call == nil {
			call = r.matchCall(in, v.From)
			also = r.elsewhere(call, v.From)
		}
		hooks[i] = r.consider(e, in, call, also, v.From, asked != nil && asked(e))
	}
	dedupe(hooks)
	return hooks
}

// consider decides whether a hook whose matcher fits runs. again reports that
// this dispatch has asked it already.
func (r *Hooks) consider(e *Entry, in hook.Input, call *match.Call, also []*match.Call, from *Caller, again bool) Pick {
	p := Pick{Entry: e, Concerned: true}
	switch takesIf := hook.Info(e.Event).TakesIf; {
	case len(e.rules) == 0, e.NoRule != nil:
	case takesIf:
		if p.by = e.matchRules(call, also); p.by == "" {
			p.Concerned, p.Why = false, "if"
			p.Detail = fmt.Sprintf("`if` %q does not match the call", e.Hook.If.String())
			return p
		}
	}
	s := r.Status(e, from)
	if s.State != hook.StateReady {
		p.Cannot(s)
		if s.State == hook.StateInvalid && e.NoRule != nil {
			p.Why = "if"
		}
		return p
	}
	p.Seal, p.Unbound = s.Approval.Seal, s.Approval.Unbound()
	if e.Hook.Once && !again && r.Spent(e, in.Common().SessionID) {
		p.Concerned, p.Why, p.Detail = false, "once", "it has run in this session"
		return p
	}
	if from != nil && slices.Contains(from.Within, e.Hook.ID) {
		p.Why, p.Detail = "within", "it caused this event itself"
		return p
	}
	p.Run = true
	return p
}

// Cannot notes why the hook does not run though the input concerns it.
func (p *Pick) Cannot(s Status) {
	p.Run = false
	p.Why, p.Detail, p.Hint, p.Failure = string(s.State), s.Why, s.Hint, stateFailure(s.State)
}

// stateFailure is what a state counts as if the hook was meant to block on
// failures. A hook that is switched off has not failed.
func stateFailure(s hook.State) hook.Failure {
	switch s {
	case hook.StateUntrusted:
		return hook.FailureUntrusted
	case hook.StateIneligible:
		return hook.FailureIneligible
	case hook.StateUnsupported:
		return hook.FailureUnsupported
	case hook.StateInvalid:
		return hook.FailureInvalid
	}
	return ""
}

// SelectedBy says in words what chose the hook.
func (p *Pick) SelectedBy(in hook.Input) string {
	by := "every " + string(in.Event())
	if hook.Info(p.Event).MatcherField != "" && p.Matcher.Kind() != match.KindEvery {
		by = fmt.Sprintf("matcher %q takes %q", p.Hook.Matcher, hook.Subject(in))
	}
	if p.Ruling != nil && p.by != "" {
		by += "; " + p.by
	}
	if len(p.rules) > 0 {
		by += "; if " + p.by
	}
	return by
}

// matchRules says which rule matches a call, and what it saw; "" = none does.
func (e *Entry) matchRules(call *match.Call, also []*match.Call) string {
	for _, rule := range e.rules {
		if d := rule.Match(call); d.Run {
			return fmt.Sprintf("%q: %s", rule, d.By)
		}
	}
	if len(also) > 0 {
		return e.matchRules(also[0], also[1:])
	}
	return ""
}

func (r *Hooks) matchCall(in hook.Input, from *Caller) *match.Call {
	c := &match.Call{}
	r.fillCall(c, in, from)
	return c
}

// fillCall makes the zero c a tool call as `if` rules see it: ~ is the home of
// the user who caused it.
func (r *Hooks) fillCall(c *match.Call, in hook.Input, from *Caller) {
	c.Home = cmp.Or(environ.Home(from.getenv), r.Home)
	tool, _ := hook.ToolCallOf(in)
	c.ToolName, c.ToolInput, c.Workspace, c.Cwd = tool.ToolName, tool.ToolInput, r.Workspace, r.FillBase(in.Common()).Cwd
}

// elsewhere is a tool call for each further directory that ~ may mean.
func (r *Hooks) elsewhere(c *match.Call, from *Caller) []*match.Call {
	var calls []*match.Call
	for _, homes := range [2][]string{r.Homes, environ.OtherHomes(from.getenv)} {
		for _, home := range homes {
			if home != c.Home {
				calls = append(calls, c.At(home))
			}
		}
	}
	return calls
}
