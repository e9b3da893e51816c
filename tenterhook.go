package tenterhook

import (
	"context"
	"maps"

	"github.com/tenterhook/tenterhook/handler/mcptool"
	"github.com/tenterhook/tenterhook/handler/model"
	"github.com/tenterhook/tenterhook/handler/rule"
	"github.com/tenterhook/tenterhook/handler/rule/expr"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/plugins"
	"github.com/tenterhook/tenterhook/registry"
)

// Options configure Open; the zero value loads the standard scopes of the
// current directory.
type Options = registry.Options

// Open loads the hooks of every scope into a registry that can run every kind
// of hook there is, those of Options.Handlers with the handlers given there.
// What is wrong with a definition is a diagnostic of the registry, not an
// error. Close the registry when the agent ends.
func Open(ctx context.Context, opts Options) (*registry.Registry, error) {
	return registry.Open(ctx, withHandlers(opts))
}

// Check reads definitions without running anything and tells all that is wrong
// with them, as [registry.Check] does, for every kind of hook.
func Check(ctx context.Context, opts Options, paths ...string) (*registry.Report, error) {
	return registry.Check(ctx, withHandlers(opts), paths...)
}

// withHandlers adds handlers for the kinds that opts has none for.
func withHandlers(opts Options) Options {
	asks := model.New(model.Options{Env: opts.Env})
	handlers := map[hook.Kind]hook.Handler{
		hook.KindMCP:    mcptool.New(mcptool.Options{Env: opts.Env}),
		hook.KindPrompt: asks,
		hook.KindAgent:  asks,
		hook.KindRule:   rule.New(rule.Options{Compile: expr.Compile}),
		hook.KindPlugin: plugins.New(plugins.Options{StateDir: opts.StateDir, Approvals: opts.Approvals, Environ: opts.Env, Logger: opts.Logger}),
	}
	maps.Copy(handlers, opts.Handlers)
	opts.Handlers = handlers
	return opts
}
