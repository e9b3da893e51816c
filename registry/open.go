package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/webhook"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/dispatch"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/selection"
	"github.com/tenterhook/tenterhook/trust"
)

// Open loads the hooks of every scope. What is wrong with a definition is a
// diagnostic, and never keeps the others from loading. It fails only if ctx
// ends, the workspace is no directory, or Options.Compat names a product that
// tenterhook does not know.
func Open(ctx context.Context, opts Options) (*Registry, error) {
	opts = opts.withDefaults()
	workspace, err := filepath.Abs(discovery.PlainPath(opts.Workspace))
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
	r := &Registry{opts: opts}
	commands := command.New(command.Options{Env: opts.Env})
	r.hooks = r.newHooks(compat, commands)
	r.dispatcher = dispatch.New(dispatch.Options{Workspace: opts.Workspace, StateDir: opts.stateDir(), Serial: opts.Serial,
		MaxParallel: opts.MaxParallel, StopLimit: *opts.StopLimit, DrainTimeout: opts.DrainTimeout, ToolSchema: opts.ToolSchema,
		OnAsync: opts.OnAsync, Recorder: opts.Recorder, Logger: opts.Logger, Refresh: r.keepFleet}, r.hooks, commands)
	r.loader = r.newLoader(compat)
	l, err := r.loader.Load(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open hooks: %w", err), r.dispatcher.CloseHandlers())
	}
	g := r.hooks.Arrange(l)
	var guards []*hook.Hook
	for _, guard := range opts.Guards {
		h, err := inProcessHook(guard, hook.KindCallback, hook.ScopeManaged)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open hooks: %w", err), r.dispatcher.CloseHandlers())
		}
		guards = append(guards, h)
	}
	r.dispatcher.Start(opts.maxAsync(&g.Policy))
	r.hooks.Start(g, guards)
	r.watchFleet(l)
	return r, nil
}

// describeLimit is how long a function may take that reads the plugins of a package.
const describeLimit = time.Minute

// newHooks returns what selects hooks, and opens the stores that it looks into.
func (r *Registry) newHooks(compat []string, commands hook.Handler) *selection.Hooks {
	o := &r.opts
	h := &selection.Hooks{Workspace: o.Workspace, Home: o.homeDir(), Homes: append(o.Homes, environ.OtherHomes(o.getenv)...), Env: o.Env, RuleEnv: o.Env, DirSandbox: o.DirSandbox,
		Off: o.switchedOff(compat), StrictCompat: o.StrictCompat, NonInteractive: o.NonInteractive, Recorder: o.Recorder,
		Eligibility: eligibility.New(eligibility.Options{LookupEnv: o.lookupEnv()})}
	if h.Env == nil {
		h.Env = os.Environ()
	}
	h.Handlers = map[hook.Kind]hook.Handler{
		hook.KindCommand: commands,
		hook.KindHTTP:    webhook.New(webhook.Options{Env: o.Env}),
		hook.KindRule:    rule.New(rule.Options{}),
	}
	maps.Copy(h.Handlers, o.Handlers)
	r.openTrust(h)
	return h
}

// newLoader returns what reads the files of the products and of our own scopes.
func (r *Registry) newLoader(compat []string) *load.Reader {
	o := &r.opts
	l := &load.Reader{
		Options: discovery.Options{FS: o.FS, Workspace: o.Workspace, ManagedDir: o.ManagedDir, UserDir: o.UserDir, PluginsDir: o.PluginsDir,
			Dirs: o.Dirs, GuardDirs: o.GuardDirs, Without: o.Without},
		Compat: compat, Home: r.hooks.Home, Env: r.hooks.Env, StateDir: o.stateDir(), Stores: r.stores, Approvals: o.Approvals,
	}
	if plugins, ok := r.hooks.Handlers[hook.KindPlugin].(Describer); ok {
		l.DescribePlugins = func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic) {
			var found []trust.Plugin
			var notes []hook.Diagnostic
			failed := r.hooks.Loading(describeLimit, selection.HandlerOf(hook.KindPlugin), "Describe", dir, func() { found, notes = plugins.Describe(pkg, dir) })
			if failed != nil {
				failed.Path = dir
				return nil, []hook.Diagnostic{*failed} // the others may still be written
			}
			return found, notes
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
// which plugins a package has, and which hooks these have.
type Describer interface {
	Describe(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic)
}

// Container is a handler whose processes serve several hooks, and have a sandbox of their own. Sandbox returns
// what is declared for the process of a hook; nil = nothing is, and that of the hook's scope counts.
type Container interface {
	Sandbox(h *hook.Hook) *hook.Sandbox
}
