package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/eligibility"
	"github.com/tenterhook/tenterhook/handler/command"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/manifest"
	"github.com/tenterhook/tenterhook/trust"
)

// Open loads the hooks of every scope. What is wrong with a definition is a
// diagnostic, and never keeps the others from loading. It fails only if ctx
// ends or the workspace is no directory.
func Open(ctx context.Context, opts Options) (*Registry, error) {
	opts = opts.withDefaults()
	workspace, err := filepath.Abs(opts.Workspace)
	if err != nil {
		return nil, fmt.Errorf("open hooks: workspace %s: %w", opts.Workspace, err)
	}
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("open hooks: workspace %s is no directory: name the project's root", workspace)
	}
	opts.Workspace = workspace
	r := &Registry{opts: opts, parallel: make(chan struct{}, opts.MaxParallel), home: opts.homeDir()}
	r.handlers = map[hook.Kind]hook.Handler{hook.KindCommand: command.New(command.Options{Env: opts.Env})}
	for kind, h := range opts.Handlers {
		r.handlers[kind] = h
	}
	r.eligibility = eligibility.New(eligibility.Options{LookupEnv: opts.lookupEnv()})
	r.stops.limit = *opts.StopLimit
	r.async = newPool(r, opts.MaxAsync)
	r.done, r.end = context.WithCancel(context.Background())
	r.openTrust()
	definitions, notes, err := r.load(ctx)
	if err != nil {
		r.end()
		return nil, fmt.Errorf("open hooks: %w", err)
	}
	for _, d := range definitions {
		for _, h := range d.hooks {
			e := r.prepare(h)
			e.definition = d
			d.entries = append(d.entries, e)
			r.loaded = append(r.loaded, e)
			notes = append(notes, e.problems()...)
		}
	}
	r.definitions = definitions
	r.found = append(r.found, notes...)
	r.swap()
	return r, nil
}

// definition is a hook folder, parsed: several hooks if it names several
// events.
type definition struct {
	scope discovery.Scope
	path  string
	hooks []*hook.Hook
	notes []hook.Diagnostic

	subject *trust.Subject // of one that needs an approval
	guard   *trust.Guard
	nearer  []*definition // those of the same name that take its place
	entries []*entry
}

// load finds and parses every definition, in scope order.
func (r *Registry) load(ctx context.Context) ([]*definition, []hook.Diagnostic, error) {
	opts := r.opts
	workspace := opts.Workspace
	if slices.Contains(opts.Without, hook.ScopeProject) {
		workspace = ""
	}
	scopes, notes := discovery.Scopes(discovery.Options{FS: opts.FS, Workspace: workspace,
		ManagedDir: opts.ManagedDir, UserDir: opts.UserDir, PluginsDir: opts.PluginsDir, Dirs: opts.Dirs, Without: opts.Without})
	var owners trust.Owners
	definitions, found, err := discovery.Walk(ctx, opts.FS, scopes, func(f *discovery.Found) *definition {
		d := define(f)
		d.judgeOwner(&owners, opts.FS == nil)
		r.needApproval(d)
		return d
	})
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, found...)
	for _, d := range definitions {
		notes = append(notes, d.notes...)
	}
	return definitions, append(notes, findNearer(definitions)...), nil
}

// define parses a hook folder. One that cannot be read is a hook as well, one
// that is invalid: nobody may take it for one that is not there.
func define(f *discovery.Found) *definition {
	src := manifest.Source{Scope: f.Scope.Scope, Package: f.Scope.Package, Folder: f.Name, Files: f.Files,
		Source: hook.Source{Path: f.Path, Dir: f.Dir, Root: f.Scope.Dir, Data: f.Scope.DataDir}}
	d := &definition{scope: f.Scope, path: f.Path}
	if f.Problem != nil {
		d.hooks = []*hook.Hook{manifest.Broken(src, *f.Problem)}
	} else {
		d.hooks, d.notes = manifest.Parse(src, f.Data)
	}
	return d
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
		if p.Code == match.ProblemMatcherInvalid {
			d.Severity = hook.SeverityError
		}
		notes = append(notes, d)
	}
	return notes
}
