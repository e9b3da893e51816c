package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/load"
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
	compat, err := load.Compatible(opts.Compat)
	if err != nil {
		return nil, fmt.Errorf("open hooks: %w", err)
	}
	if opts.FS == nil {
		workspace = discovery.ProjectRoot(workspace, opts.homeDir(), load.ProjectMarks(compat))
	}
	opts.Workspace = workspace
	r := &Registry{opts: opts, parallel: make(chan struct{}, opts.MaxParallel), home: opts.homeDir(), off: opts.switchedOff(compat)}
	if r.env = opts.Env; r.env == nil {
		r.env = os.Environ()
	}
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
	r.loader = r.newLoader(compat)
	l, err := r.loader.Load(ctx, nil)
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

// newLoader returns what reads the files of the products and of our own scopes.
func (r *Registry) newLoader(compat []string) *load.Reader {
	o := &r.opts
	l := &load.Reader{
		Options: discovery.Options{FS: o.FS, Workspace: o.Workspace, ManagedDir: o.ManagedDir, UserDir: o.UserDir, PluginsDir: o.PluginsDir,
			Dirs: o.Dirs, GuardDirs: o.GuardDirs, Without: o.Without},
		Compat: compat, Home: r.home, Env: r.env, StateDir: o.stateDir(), Stores: r.stores, Approvals: o.Approvals,
	}
	if plugins, ok := r.handlers[hook.KindPlugin].(Describer); ok {
		l.DescribePlugins = func(pkg, dir string) (hooks []*hook.Hook, notes []hook.Diagnostic) {
			failed := loading(new(contain.Guard), describeLimit, handlerOf(hook.KindPlugin), "Describe", func() { hooks, notes = plugins.Describe(pkg, dir) })
			if failed != nil {
				failed.Path = dir
				return nil, []hook.Diagnostic{*failed} // the others may still be written
			}
			return hooks, notes
		}
	}
	return l
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
func (r *Registry) arrange(l *load.Loaded) *generation {
	g := &generation{Loaded: l, guards: new(guardSet)}
	g.diagnostics = slices.Concat(r.storeNotes, l.Notes)
	note := func(notes []hook.Diagnostic) { g.diagnostics = append(g.diagnostics, notes...) }
	var notes []hook.Diagnostic
	g.policy, notes = load.Layer(l.Configs, r.off, r.opts.DirSandbox)
	note(notes)
	note(g.policy.UnknownIDs(l.Definitions))
	for _, kind := range hook.Kinds() {
		if c, ok := r.handlers[kind].(Configurer); ok {
			note(r.configure(handlerOf(kind), c, g.policy.Settings))
		}
	}
	if c, ok := r.opts.Recorder.(Configurer); ok {
		note(r.configure("Options.Recorder", c, g.policy.Settings))
	}
	var keys sameKeys
	for _, d := range l.Definitions {
		for _, h := range d.Hooks {
			e, apart := (*entry)(nil), d.Scope.Package
			switch {
			case !d.Scope.Aside:
				e = r.prepare(&g.policy, h)
			case canGuard(h):
				e, apart = r.guardOnly(&g.policy, h), d.Scope.Dir
			default:
				continue
			}
			e.definition = d
			if d.Config != nil {
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
