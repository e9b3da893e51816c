package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/trust"
)

// Selection says who would run for an input, in order. It is a view of the
// registry as it was when Select was called.
type Selection struct {
	Event    hook.Event
	Selected []Selected

	picked []pick
	view   view
	in     hook.Input
}

// Selected is a hook that would run, and by what it was chosen. Unbound says why
// what it runs may change without a new approval; "" = it may not.
type Selected struct {
	Hook    *hook.Hook
	By      string
	Unbound string
}

// Skipped is a hook that would not run. Why is one word: "event", "matcher",
// "if", "once", "duplicate", a state, or the key of a condition of a rule; Detail says it in full.
type Skipped struct {
	Hook   *hook.Hook
	Why    string
	Detail string
}

// Select says which hooks would run for an input. It runs nothing: a hook whose
// handler says that it cannot run is skipped here, and a failure of a dispatch.
func (r *Registry) Select(in hook.Input) Selection {
	_ = r.keepFleet(r.done) // it fails for a registry that is closed
	s := Selection{Event: in.Event(), in: in, view: r.view(nil)}
	s.picked = r.pick(s.view, in, nil)
	var facts *rule.Facts
	for i := range s.picked {
		p := &s.picked[i]
		if p.run && p.ruling != nil {
			if facts == nil {
				wire, _ := hook.Encode(in, r.fillBase(in.Common())) // what cannot be encoded has no fields, and conditions say so
				facts = r.factsOf(in, wire, nil)
			}
			r.explainRule(p, facts)
		}
		if p.run {
			if outlook, _ := r.outlook(p.entry, nil); outlook.state != hook.StateReady {
				p.cannot(outlook)
			}
		}
		if p.run {
			s.Selected = append(s.Selected, Selected{p.hook, p.selectedBy(in), p.unbound})
		}
	}
	return s
}

// Skipped says of every other hook of the registry why it would not run, those
// of the event first.
func (s Selection) Skipped() []Skipped {
	concerned := make(map[*entry]pick, len(s.picked))
	for _, p := range s.picked {
		concerned[p.declaredEntry()] = p
	}
	var ours, others []Skipped
	for _, e := range s.view.snap.entries {
		p, ok := concerned[e]
		switch {
		case ok && p.run:
		case ok:
			ours = append(ours, Skipped{e.hook, p.why, p.detail})
		case e.event != s.Event:
			others = append(others, Skipped{e.hook, "event", "it listens to " + string(e.hook.Event)})
		default:
			ours = append(ours, Skipped{e.hook, "matcher",
				fmt.Sprintf("matcher %q does not take %q", e.hook.Matcher, hook.Subject(s.in))})
		}
	}
	return append(ours, others...)
}

// MarshalJSON writes the selection as `tenterhook why --json` prints it.
func (s Selection) MarshalJSON() ([]byte, error) {
	type selected struct {
		Hook    string `json:"hook"`
		By      string `json:"by"`
		Unbound string `json:"unbound"`
	}
	type skipped struct {
		Hook   string `json:"hook"`
		Why    string `json:"why"`
		Detail string `json:"detail"`
	}
	runs, others := []selected{}, []skipped{}
	for _, one := range s.Selected {
		runs = append(runs, selected{one.Hook.ID, one.By, one.Unbound})
	}
	for _, one := range s.Skipped() {
		others = append(others, skipped{one.Hook.ID, one.Why, one.Detail})
	}
	return json.Marshal(struct {
		Event    hook.Event `json:"event"`
		Selected []selected `json:"selected"`
		Skipped  []skipped  `json:"skipped"`
	}{s.Event, runs, others})
}

// pick is a hook whose event and matcher fit an input.
type pick struct {
	*entry
	run       bool
	concerned bool         // it leaves a result: only its `if` can say otherwise
	failure   hook.Failure // of a hook that should have run and cannot
	why       string       // of a hook that does not run, in a word
	detail    string
	hint      string
	by        string      // which `if` rule matched, and what it saw
	seal      *trust.Seal // what was approved; nil = nothing had to be
	unbound   string      // why the approval does not bind what runs; "" = it does
}

// declaredEntry is the entry as it was loaded, whatever took over from it.
func (p *pick) declaredEntry() *entry { return cmp.Or(p.origin, p.entry) }

// view is what one dispatch selects from, from beginning to end: the hooks as
// they were when it began.
type view struct {
	snap     *snapshot
	sessions *sessionHooks // nil = there are none
	from     *Caller       // nil = the host itself
}

func (r *Registry) view(from *Caller) view { return view{r.snap.Load(), r.sessions.Load(), from} }

// pick finds the hooks that an input concerns, in order. asked, if not nil,
// reports which hooks this dispatch has asked already: `once` does not keep it
// from asking them again. pick allocates nothing if there are no hooks.
func (r *Registry) pick(v view, in hook.Input, asked func(*entry) bool) []pick {
	found := v.snap.candidates(in.Event(), hook.Subject(in))
	if v.sessions != nil {
		found = v.sessions.join(found, in)
	}
	if len(found) == 0 {
		return nil
	}
	var call *match.Call
	var also []*match.Call
	hooks := make([]pick, len(found))
	for i, e := range found {
		if len(e.rules) > 0 && call == nil {
			call = r.matchCall(in, v.from)
			also = r.elsewhere(call)
		}
		hooks[i] = r.consider(e, in, call, also, v.from, asked != nil && asked(e))
	}
	dedupe(hooks)
	return hooks
}

// consider decides whether a hook whose matcher fits runs. again reports that
// this dispatch has asked it already.
func (r *Registry) consider(e *entry, in hook.Input, call *match.Call, also []*match.Call, from *Caller, again bool) pick {
	p := pick{entry: e, concerned: true}
	switch takesIf := hook.Info(e.event).TakesIf; {
	case len(e.rules) == 0, e.noRule != nil:
	case takesIf:
		if p.by = e.matchRules(call, also); p.by == "" {
			p.concerned, p.why = false, "if"
			p.detail = fmt.Sprintf("`if` %q does not match the call", e.hook.If.String())
			return p
		}
	}
	s := r.status(e, from)
	if s.state != hook.StateReady {
		p.cannot(s)
		if s.state == hook.StateInvalid && e.noRule != nil {
			p.why = "if"
		}
		return p
	}
	p.seal, p.unbound = s.approval.Seal, s.approval.Unbound()
	if e.hook.Once && !again && r.spent(e, in.Common().SessionID) {
		p.concerned, p.why, p.detail = false, "once", "it has run in this session"
		return p
	}
	if from != nil && slices.Contains(from.Within, e.hook.ID) {
		p.why, p.detail = "within", "it caused this event itself"
		return p
	}
	p.run = true
	return p
}

// cannot notes why the hook does not run though the input concerns it.
func (p *pick) cannot(s status) {
	p.run = false
	p.why, p.detail, p.hint, p.failure = string(s.state), s.why, s.hint, stateFailure(s.state)
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

// selectedBy says in words what chose the hook.
func (p *pick) selectedBy(in hook.Input) string {
	by := "every " + string(in.Event())
	if hook.Info(p.event).MatcherField != "" && p.matcher.Kind() != match.KindEvery {
		by = fmt.Sprintf("matcher %q takes %q", p.hook.Matcher, hook.Subject(in))
	}
	if p.ruling != nil && p.by != "" {
		by += "; " + p.by
	}
	if len(p.rules) > 0 {
		by += "; if " + p.by
	}
	return by
}

// matchRules says which rule matches a call, and what it saw; "" = none does.
func (e *entry) matchRules(call *match.Call, also []*match.Call) string {
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

func (r *Registry) matchCall(in hook.Input, from *Caller) *match.Call {
	c := &match.Call{}
	r.fillCall(c, in, from)
	return c
}

// fillCall makes the zero c a tool call as `if` rules see it: ~ is the home of
// the user who caused it.
func (r *Registry) fillCall(c *match.Call, in hook.Input, from *Caller) {
	c.Home = r.home
	if lookup := from.lookup(); lookup != nil {
		if own, _ := lookup("HOME"); own != "" {
			c.Home = own
		}
	}
	tool, _ := hook.ToolCallOf(in)
	c.ToolName, c.ToolInput, c.Workspace, c.Cwd = tool.ToolName, tool.ToolInput, r.opts.Workspace, r.fillBase(in.Common()).Cwd
}

// elsewhere is a tool call for each further directory that ~ may mean.
func (r *Registry) elsewhere(c *match.Call) []*match.Call {
	var calls []*match.Call
	for _, home := range r.opts.Homes {
		if home != c.Home {
			calls = append(calls, &match.Call{ToolName: c.ToolName, ToolInput: c.ToolInput, Cwd: c.Cwd, Workspace: c.Workspace, Home: home})
		}
	}
	return calls
}
