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
	definitions, notes, err := load(ctx, opts)
	if err != nil {
		r.end()
		return nil, fmt.Errorf("open hooks: %w", err)
	}
	for _, d := range definitions {
		for _, h := range d.hooks {
			e := r.prepare(h)
			r.loaded = append(r.loaded, e)
			notes = append(notes, e.problems()...)
		}
	}
	r.found = notes
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
}

// load finds and parses every definition, in scope order, and decides which of
// those with one name is meant.
func load(ctx context.Context, opts Options) ([]definition, []hook.Diagnostic, error) {
	workspace := opts.Workspace
	if slices.Contains(opts.Without, hook.ScopeProject) {
		workspace = ""
	}
	scopes, notes := discovery.Scopes(discovery.Options{FS: opts.FS, Workspace: workspace,
		ManagedDir: opts.ManagedDir, UserDir: opts.UserDir, PluginsDir: opts.PluginsDir, Dirs: opts.Dirs, Without: opts.Without})
	definitions, found, err := discovery.Walk(ctx, opts.FS, scopes, func(f *discovery.Found) definition {
		d := define(f)
		d.judgeTrust(opts.FS == nil)
		return d
	})
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, found...)
	for _, d := range definitions {
		notes = append(notes, d.notes...)
	}
	notes = append(notes, shadow(definitions)...)
	return definitions, notes, nil
}

// define parses a hook folder. One that cannot be read is a hook as well, one
// that is invalid: nobody may take it for one that is not there.
func define(f *discovery.Found) definition {
	src := manifest.Source{Scope: f.Scope.Scope, Package: f.Scope.Package, Folder: f.Name, Files: f.Files,
		Source: hook.Source{Path: f.Path, Dir: f.Dir, Root: f.Scope.Dir, Data: f.Scope.DataDir}}
	d := definition{scope: f.Scope, path: f.Path}
	if f.Problem != nil {
		d.hooks = []*hook.Hook{manifest.Broken(src, *f.Problem)}
	} else {
		d.hooks, d.notes = manifest.Parse(src, f.Data)
	}
	return d
}

// judgeTrust says of a definition whether it may run. Files of the real file
// system must belong to whom their scope belongs to.
func (d *definition) judgeTrust(real bool) {
	why := ""
	switch d.scope.Scope {
	case hook.ScopeProject, hook.ScopeLocal, hook.ScopePlugin:
		why = "nobody approved it: hooks that come with a workspace or a package do not run unasked"
	default:
		if !real {
			return
		}
		err := trust.Owned(trust.OwnerOf(d.scope.Scope), d.scope.Dir, d.scope.HooksDir, filepath.Dir(d.path), d.path)
		var problem *trust.Problem
		if !errors.As(err, &problem) {
			return
		}
		why = problem.Error()
		d.notes = append(d.notes, hook.Diagnostic{Severity: hook.SeverityError, Code: "not_owned", Path: d.path,
			Hook: d.hooks[0].ID, Message: why, Hint: problem.Remedy})
	}
	for _, h := range d.hooks {
		if h.State == "" || h.State == hook.StateReady {
			h.State, h.Why = hook.StateUntrusted, why
		}
	}
}

// stands reports whether a definition can take the place of another of its
// name: a broken or unapproved one can't, or it would switch that one off.
func (d *definition) stands() bool {
	switch d.hooks[0].State {
	case hook.StateInvalid, hook.StateUntrusted, hook.StateUnsupported:
		return false
	}
	return true
}

// shadow finds definitions of one name. That of the nearest scope is meant, of
// two in one scope the first. A managed one is never shadowed, and packages
// have names of their own.
func shadow(definitions []definition) []hook.Diagnostic {
	meant := make(map[string]*definition)
	for i := range definitions {
		d := &definitions[i]
		if !d.stands() || d.scope.Scope == hook.ScopeManaged {
			continue
		}
		if old := meant[d.shadowName()]; old == nil || d.scope.Scope > old.scope.Scope ||
			d.scope.Scope == hook.ScopeDir && d.scope.Dir != old.scope.Dir {
			meant[d.shadowName()] = d
		}
	}
	var notes []hook.Diagnostic
	for i := range definitions {
		d := &definitions[i]
		by := meant[d.shadowName()]
		if by == nil || by == d || !d.stands() || d.scope.Scope == hook.ScopeManaged {
			continue
		}
		for _, h := range d.hooks {
			h.State, h.Why = hook.StateShadowed, fmt.Sprintf("shadowed by %s in %s", by.hooks[0].ID, by.path)
		}
		notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "shadowed", Hook: d.hooks[0].ID, Path: d.path,
			Message: fmt.Sprintf("another hook is named %q too: %s", d.hooks[0].Name, by.path), Hint: "rename one of them if both are wanted"})
	}
	return notes
}

func (d *definition) shadowName() string { return d.scope.Package + "\x00" + d.hooks[0].Name }

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
