package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// lastShown is how many of a hook's runs show prints.
const lastShown = 5

// shownHook is a hook as show prints it.
type shownHook struct {
	listedHook
	Approval  string         `json:"approval"`
	Overrides []listedSource `json:"overrides"` // hooks of its ID that do not run, since it does

	Policy *registry.Policy `json:"policy,omitempty"` // of a fleet, that it is from

	hook *hook.Hook
}

// showHook prints what is loaded under an ID, and its last runs.
func (a *app) showHook(ctx context.Context, j *journal.Journal, id string) error {
	reg, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer reg.Close()
	hooks := a.shownHooks(reg, id)
	runs, err := j.Log(ctx, journal.Filter{Hook: id, Limit: lastShown})
	if err != nil {
		return err
	}
	if len(hooks) == 0 && len(runs) == 0 {
		return &located{code: "unknown_hook", message: fmt.Sprintf("there is no hook %s, and the journal has no run of it", id), hint: "'tenterhook list' lists the hooks"}
	}
	if a.json {
		return a.printJSON(map[string]any{"hooks": hooks, "runs": orEmpty(runs)})
	}
	for _, h := range hooks {
		a.printHook(h)
	}
	if len(hooks) == 0 {
		fmt.Fprintf(a.Out, "%s is not loaded any more\n", phrase.Printable(id))
	}
	fmt.Fprintln(a.Out)
	if len(runs) == 0 {
		fmt.Fprintln(a.Out, "the journal has no run of it")
	}
	return a.printLines(runs, len(runs) > 0)
}

func (a *app) shownHooks(reg *registry.Registry, id string) []shownHook {
	hooks, subjects := []shownHook{}, reg.Subjects()
	list := slices.DeleteFunc(a.list(reg), func(l registry.Listed) bool { return l.Hook.ID != id })
	for _, l := range list {
		h := shownHook{listedHook: listed(l), Approval: approvalOf(subjects, l), Overrides: []listedSource{}, hook: l.Hook}
		for _, p := range reg.Policies() {
			if p.Path == l.Hook.Source.Path || slices.Contains(p.Packs, l.Hook.Source.Pack) {
				h.Policy = &p
			}
		}
		for _, other := range list {
			if other.State == hook.StateShadowed && l.State != hook.StateShadowed && other.Hook.Event == l.Hook.Event {
				h.Overrides = append(h.Overrides, listedSource{other.Hook.Source.Path, other.Hook.Source.Line})
			}
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// approvalOf says whether a hook is approved, and whether it has to be.
func approvalOf(subjects []registry.Subject, l registry.Listed) string {
	for _, s := range subjects {
		if !slices.ContainsFunc(s.Hooks, func(h *hook.Hook) bool { return h.ID == l.Hook.ID && h.Source == l.Hook.Source }) {
			continue
		}
		if v := s.Verdict; !v.Approved {
			return cmp.Or(v.Why, "it is not approved") + "; approve it with: tenterhook trust " + l.Hook.ID
		} else if v.Approval != nil && !v.Approval.Approved.IsZero() {
			return joined("approved "+v.Approval.Approved.Local().Format(time.DateTime), unboundNote(v.Unbound()))
		}
		return joined("approved", unboundNote(s.Verdict.Unbound()))
	}
	if l.State == hook.StateUntrusted {
		return l.Why
	}
	if l.Hook.Source.Pack != "" {
		return joined("by the digest in the settings ("+l.Hook.Source.PackBy.String()+")", unboundNote(l.Unbound))
	}
	return "none needed in scope " + l.Hook.Scope.String()
}

func (a *app) printHook(h shownHook) {
	style := a.styleOf(a.Out)
	fmt.Fprintf(a.Out, "%s  %s\n", style.bold(oneLine(h.ID)), style.state(h.State))
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Out, "  %-14s %s\n", name, oneLine(value))
		}
	}
	flag := func(name string, is bool) {
		if is {
			fact(name, "true")
		}
	}
	fact("why", h.Why)
	fact("description", h.Description)
	fact("status_message", h.StatusMessage)
	fact("source", fmt.Sprintf("%s:%d", h.Source.Path, h.Source.Line))
	fact("pack", h.Pack)
	if h.Policy != nil {
		fact("policy", policyLine(*h.Policy))
	}
	fact("scope", h.Scope.String())
	fact("event", string(h.Event))
	fact("matches", shown(h.hook))
	fact("kind", string(h.Kind))
	a.printWhatRuns(h, fact)
	fact("on_failure", string(h.OnFailure))
	if !h.Kind.Info().Instant {
		fact("timeout", (time.Duration(h.TimeoutMS) * time.Millisecond).String())
		fact("breaker", h.Breaker)
	}
	if h.Priority != 0 {
		fact("priority", fmt.Sprint(h.Priority))
	}
	flag("rewrites", h.Rewrites)
	flag("async", h.Async)
	flag("once", h.Once)
	for _, what := range []string{"bins", "any_bins", "envs", "os"} {
		fact("requires", strings.TrimSuffix(what+" "+strings.Join(h.Requires[what], ", "), what+" "))
	}
	fact("approval", h.Approval)
	if !h.Kind.Info().Instant {
		fact("sandbox", strings.TrimPrefix(cmp.Or(sandboxNote(h.hook.Sandbox), "none"), "sandbox: "))
	}
	for _, o := range h.Overrides {
		fact("overrides", fmt.Sprintf("%s:%d", o.Path, o.Line))
	}
}

// printWhatRuns prints the command, or the keys of another kind: a value can be a
// secret, but for what a rule decides.
func (a *app) printWhatRuns(h shownHook, fact func(name, value string)) {
	fact("command", strings.Join(append([]string{h.Command}, h.Args...), " "))
	if rule, ok := h.hook.Declared().(*hook.RuleParams); ok {
		fact("decides", strings.TrimSuffix(string(rule.Decision)+": "+cmp.Or(rule.Reason, rule.Text), ": "))
		fact("unless", rule.Unless.String())
		fact("when", rule.When)
		fact("touches", strings.Join(rule.Touches, ", "))
		fact("reads", strings.Join(rule.Reads, ", "))
		fact("writes", strings.Join(rule.Writes, ", "))
		return
	}
	fact("keys", strings.Join(h.Params, ", "))
	fact("env", strings.Join(h.Env, ", "))
}

// insteadOfRun is what a person may have meant who asked for a run that is not
// there.
func (a *app) insteadOfRun(ctx context.Context, name string) string {
	if reg, err := a.open(ctx); err == nil {
		defer reg.Close()
		for _, l := range reg.List() {
			if l.Hook.Name == name {
				return "did you mean " + l.Hook.ID + "?"
			}
		}
	}
	return "'tenterhook log' lists runs, 'tenterhook list' hooks"
}
