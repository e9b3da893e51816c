package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
)

// Open loads the hooks of every scope. What is wrong with a definition is a
// diagnostic, and never keeps the others from loading. It fails only if ctx
// ends, the workspace is no directory, or Options.Compat names a product that
// tenterhook does not know.
func Open(ctx context.Context, opts Options) (*Registry, error) {
	opts = opts.withDefaults()
	workspace, err := filepath.Abs(opts.Workspace)
	if err != nil {
		return nil, fmt.Errorf("open hooks: workspace %s: %w", opts.Workspace, err)
	}
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("open hooks: workspace %s is no directory: name the project's root", workspace)
	}
	compat, err := compatible(opts.Compat)
	if err != nil {
		return nil, fmt.Errorf("open hooks: %w", err)
	}
	if opts.FS == nil {
		workspace = discovery.ProjectRoot(workspace, opts.homeDir(), projectMarks(compat))
	}
	opts.Workspace = workspace
	r := &Registry{opts: opts, compat: compat, parallel: make(chan struct{}, opts.MaxParallel), home: opts.homeDir()}
	if r.env = opts.Env; r.env == nil {
		r.env = os.Environ()
	}
	r.off = r.switchedOff()
	r.commands = command.New(command.Options{Env: opts.Env})
	r.handlers = map[hook.Kind]hook.Handler{
		hook.KindCommand: r.commands,
		hook.KindHTTP:    webhook.New(webhook.Options{Env: opts.Env}),
		hook.KindRule:    rule.New(rule.Options{}),
	}
	for kind, h := range opts.Handlers {
		r.handlers[kind] = h
	}
	r.eligibility = eligibility.New(eligibility.Options{LookupEnv: opts.lookupEnv()})
	r.stops, r.once, r.pins = newStopGuard(*opts.StopLimit), newOnceRuns(), newPins()
	r.openTrust()
	l, err := r.load(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open hooks: %w", err), r.closeHandlers())
	}
	g := r.arrange(l)
	for _, guard := range opts.Guards {
		h, err := inProcessHook(guard, hook.KindCallback, hook.ScopeManaged)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open hooks: %w", err), r.closeHandlers())
		}
		r.inProc = append(r.inProc, r.prepare(&g.policy, h))
	}
	r.async = newPool(r, opts.maxAsync(&g.policy))
	r.done, r.end = context.WithCancel(context.Background())
	r.swap(g)
	r.watchFleet(l)
	return r, nil
}

// Configurer is a handler, or a recorder, that settings have a say in. The registry calls
// Configure with those in force before it runs hooks, and again when a reload
// changed them; calls under way keep what they began with.
type Configurer interface {
	Configure(dialect.Settings) []hook.Diagnostic
}

// Describer is a handler of plugin hooks that knows, without starting anything,
// which hooks the plugins of a package have.
type Describer interface {
	Describe(pkg, dir string) ([]*hook.Hook, []hook.Diagnostic)
}

// Container is a handler whose processes serve several hooks, and have a sandbox of their own. Sandbox returns
// what is declared for the process of a hook; nil = nothing is, and that of the hook's scope counts.
type Container interface {
	Sandbox(h *hook.Hook) *hook.Sandbox
}

// arrange makes of what was loaded what hooks are selected from.
func (r *Registry) arrange(l *loaded) *generation {
	g := &generation{definitions: l.definitions, configs: l.configs, found: l.notes, guards: new(guardSet), fleet: l.fleet}
	g.diagnostics = slices.Concat(r.storeNotes, l.notes)
	note := func(notes []hook.Diagnostic) { g.diagnostics = append(g.diagnostics, notes...) }
	var notes []hook.Diagnostic
	g.policy, notes = layer(l.configs, r.opts.DirSandbox)
	note(notes)
	note(g.policy.unknownIDs(l.definitions))
	for _, kind := range hook.Kinds() {
		if c, ok := r.handlers[kind].(Configurer); ok {
			note(r.configure(handlerOf(kind), c, g.policy.Settings))
		}
	}
	if c, ok := r.opts.Recorder.(Configurer); ok {
		note(r.configure("Options.Recorder", c, g.policy.Settings))
	}
	var keys sameKeys
	for _, d := range l.definitions {
		for _, h := range d.hooks {
			e, apart := (*entry)(nil), d.scope.Package
			switch {
			case !d.scope.Aside:
				e = r.prepare(&g.policy, h)
			case canGuard(h):
				e, apart = r.guardOnly(&g.policy, h), d.scope.Dir
			default:
				continue
			}
			e.definition = d
			if d.config != nil {
				e.same = keys.of(apart, e)
			}
			g.entries = append(g.entries, e)
		}
	}
	over, notes := overriders(g.entries)
	note(notes)
	for _, e := range g.entries {
		e.over = over[e]
		note(e.problems())
	}
	note(duplicates(g.entries))
	g.diagnostics = once(g.diagnostics)
	return g
}

// once leaves out what was said before.
func once(notes []hook.Diagnostic) []hook.Diagnostic {
	said := make(map[hook.Diagnostic]bool, len(notes))
	return slices.DeleteFunc(notes, func(d hook.Diagnostic) bool {
		before := said[d]
		said[d] = true
		return before
	})
}

// problems are what is wrong with the hook's matcher and `if`, as far as that
// shows without compiling an expression.
func (e *entry) problems() []hook.Diagnostic {
	var notes []hook.Diagnostic
	if hook.Info(e.event).MatcherField == "" {
		return nil // it is ignored, and the manifest says so
	}
	for _, p := range slices.Concat(e.matcher.Problems(), e.ruleProblems) {
		d := hook.Diagnostic{Severity: hook.SeverityWarning, Code: strings.ReplaceAll(p.Code, "-", "_"), Hook: e.hook.ID,
			Path: e.hook.Source.Path, Line: e.hook.Source.Line, Message: p.Message, Hint: p.Hint}
		if p.Code == match.ProblemMatcherInvalid || isInvalid(p) {
			d.Severity = hook.SeverityError
		}
		notes = append(notes, d)
	}
	return notes
}
