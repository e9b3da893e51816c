package selection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/load"
)

// askLimit is how long a handler may take that is configured, or asked about a hook.
const askLimit = 15 * time.Second

// configurer is registry.Configurer.
type configurer interface {
	Configure(dialect.Settings) []hook.Diagnostic
}

// container is registry.Container.
type container interface {
	Sandbox(h *hook.Hook) *hook.Sandbox
}

// Arrange makes of what was loaded what hooks are selected from.
func (r *Hooks) Arrange(l *load.Loaded) *Generation {
	g := &Generation{Loaded: l, Guards: new(GuardSet)}
	g.Diagnostics = slices.Concat(r.Notes, l.Notes)
	note := func(notes []hook.Diagnostic) { g.Diagnostics = append(g.Diagnostics, notes...) }
	var notes []hook.Diagnostic
	g.Policy, notes = load.Layer(l.Configs, r.Off, r.DirSandbox)
	note(notes)
	note(g.Policy.UnknownIDs(l.Definitions))
	for _, kind := range hook.Kinds() {
		if c, ok := r.Handlers[kind].(configurer); ok {
			note(r.configure(HandlerOf(kind), c, g.Policy.Settings))
		}
	}
	if c, ok := r.Recorder.(configurer); ok {
		note(r.configure("Options.Recorder", c, g.Policy.Settings))
	}
	var keys sameKeys
	for _, d := range l.Definitions {
		for _, h := range d.Hooks {
			e, apart := (*Entry)(nil), d.Scope.Package
			switch {
			case !d.Scope.Aside:
				e = r.Prepare(&g.Policy, h)
			case canGuard(h):
				e, apart = r.guardOnly(&g.Policy, h), d.Scope.Dir
			default:
				continue
			}
			e.Definition = d
			if d.Config != nil {
				e.same = keys.of(apart, e)
			}
			g.Entries = append(g.Entries, e)
		}
	}
	over, notes := overriders(g.Entries)
	note(notes)
	for _, e := range g.Entries {
		e.over = over[e]
		note(e.Problems())
	}
	note(duplicates(g.Entries))
	g.Diagnostics = Once(g.Diagnostics)
	return g
}

// Once leaves out what was said before.
func Once(notes []hook.Diagnostic) []hook.Diagnostic {
	said := make(map[hook.Diagnostic]bool, len(notes))
	return slices.DeleteFunc(notes, func(d hook.Diagnostic) bool {
		before := said[d]
		said[d] = true
		return before
	})
}

// Problems are what is wrong with the hook's matcher and `if`, as far as that
// shows without compiling an expression.
func (e *Entry) Problems() []hook.Diagnostic {
	var notes []hook.Diagnostic
	if hook.Info(e.Event).MatcherField == "" {
		return nil // it is ignored, and the manifest says so
	}
	for _, d := range slices.Concat(e.Matcher.Problems(), e.ruleProblems) {
		d.Hook, d.Path, d.Line = e.Hook.ID, e.Hook.Source.Path, e.Hook.Source.Line
		notes = append(notes, d)
	}
	return notes
}

// configure hands the settings to a handler or the recorder.
func (r *Hooks) configure(whose string, c configurer, s dialect.Settings) []hook.Diagnostic {
	var notes []hook.Diagnostic
	if d := r.Loading(askLimit, whose, "Configure", "", func() { notes = c.Configure(s) }); d != nil {
		return []hook.Diagnostic{*d}
	}
	return notes
}

// HandlerOf names the handler of a kind in messages.
func HandlerOf(k hook.Kind) string { return fmt.Sprintf("the handler of %s hooks", k) }

// Loading calls a method of a handler or the recorder while no event is decided. A
// method that hangs is not called again about the same meanwhile: each load, and each
// hook, would wait for its whole limit.
func (r *Hooks) Loading(limit time.Duration, whose, method, about string, fn func()) *hook.Diagnostic {
	guard, _ := r.asked.LoadOrStore([3]string{whose, method, about}, new(contain.Guard))
	g := guard.(*contain.Guard)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := contain.ErrHung
	if !g.Hangs() {
		err = g.Call(ctx, 0, fn)
	}
	if err != nil {
		return &hook.Diagnostic{Severity: hook.SeverityError, Code: "handler_failed",
			Message: fmt.Sprintf("%s: its %s %v", whose, method, err), Hint: "fix what the host gave"}
	}
	return nil
}

// checked asks a handler what is wrong with a hook.
func (r *Hooks) checked(e *Entry, c hook.Checker, from *Caller) []hook.Diagnostic {
	call := r.IdleCall(e, from)
	var notes []hook.Diagnostic
	if d := r.Loading(askLimit, HandlerOf(e.Hook.Kind), "Check", "", func() { notes = c.Check(call) }); d != nil {
		d.Hook, d.Path, d.Line = e.Hook.ID, e.Hook.Source.Path, e.Hook.Source.Line
		return []hook.Diagnostic{*d}
	}
	return notes
}

// IdleCall is a call of a hook without an event.
func (r *Hooks) IdleCall(e *Entry, from *Caller) *hook.Call {
	call := &hook.Call{Hook: e.Hook, ProjectDir: r.Workspace, Dir: r.Workspace, Env: from.Environ()}
	if e.Project != "" {
		call.ProjectDir, call.Dir = e.Project, e.Project
	}
	return call
}
