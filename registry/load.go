package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/manifest"
	"github.com/tenterhook/tenterhook/trust"
)

// definition is a hook folder, parsed (several hooks if it names several
// events), or one hook of a config file. It is not changed once it is loaded.
type definition struct {
	scope  discovery.Scope
	path   string
	data   []byte      // of a hook folder's manifest
	config *configFile // nil = a hook folder
	hooks  []*hook.Hook
	notes  []hook.Diagnostic

	subject *trust.Subject // of a definition that needs an approval
	content *trust.Content // of a definition that a pack's digest approves
	guard   *trust.Guard
	env     []string // the environment for callers without one

	disowned  string // why its files are not trusted; "" = their owner is fine
	problem   string // why the manifest could not be read
	listed    bool   // what is beside the manifest had a say
	described bool   // it is what a plugin says of itself
	stale     bool   // kept, for what is there now is broken
}

// loaded is what the scopes hold.
type loaded struct {
	definitions []*definition // those of config files after the folders
	configs     []*configFile // the settings that count
	read        []*configFile // all of them
	notes       []hook.Diagnostic
	fleet       []*fleetMemory
}

// load finds and parses every definition, in scope order. What last knows to
// be as it was read is taken from there; last may be nil.
func (r *Registry) load(ctx context.Context, last *memory) (*loaded, error) {
	opts := r.opts
	workspace := opts.Workspace
	if slices.Contains(opts.Without, hook.ScopeProject) {
		workspace = ""
	}
	scopes, notes := discovery.Scopes(discovery.Options{FS: opts.FS, Workspace: workspace,
		ManagedDir: opts.ManagedDir, UserDir: opts.UserDir, PluginsDir: opts.PluginsDir, Dirs: opts.Dirs, GuardDirs: opts.GuardDirs, Without: opts.Without})
	l := &loaded{notes: notes}
	var owners trust.Owners // asked again at each load: files may be as they were, and others' to write now
	scopes = r.keepPackages(last, scopes, &owners, l)
	for _, s := range scopes {
		if err := r.loadFolders(ctx, last, s, &owners, l); err != nil {
			return nil, err
		}
	}
	r.describe(last, scopes, l)
	if err := r.loadConfigs(ctx, last, scopes, &owners, l); err != nil {
		return nil, err
	}
	var fleet []*fleetMemory
	if last != nil {
		fleet = last.fleet
	}
	r.loadFleet(fleet, l)
	return l, r.loadPacks(ctx, last, l)
}

// keepPackages adds the earlier plugin packages, if the present ones
// cannot be listed. Where none is known, a hook that is invalid stands for them.
func (r *Registry) keepPackages(last *memory, scopes []discovery.Scope, owners *trust.Owners, l *loaded) []discovery.Scope {
	i := slices.IndexFunc(l.notes, func(d hook.Diagnostic) bool { return d.Severity == hook.SeverityError })
	if i < 0 {
		return scopes
	}
	kept := last.unseenPackages(scopes)
	if len(kept) == 0 && !slices.ContainsFunc(scopes, func(s discovery.Scope) bool { return s.Package != "" }) {
		bad := l.notes[i]
		all := discovery.Scope{Scope: hook.ScopePlugin, Dir: bad.Path, HooksDir: bad.Path}
		l.definitions = append(l.definitions, r.insteadOf(last, all, owners, &bad, nil)...)
	}
	at := slices.IndexFunc(scopes, func(s discovery.Scope) bool { return s.Scope == hook.ScopeDir })
	if at < 0 {
		at = len(scopes)
	}
	return slices.Insert(scopes, at, kept...)
}

// loadFolders reads the hook folders of a scope.
func (r *Registry) loadFolders(ctx context.Context, last *memory, s discovery.Scope, owners *trust.Owners, l *loaded) error {
	known := func(path string) (*definition, bool) {
		d, ok := last.folder(sourceOf(s, "", path))
		return d, ok && sameProblem(d.disowned, r.disown(owners, s, path, true))
	}
	folders, found, err := discovery.Walk(ctx, r.opts.FS, []discovery.Scope{s}, known, func(f *discovery.Found) *definition {
		problem := r.disown(owners, s, f.Path, true)
		if d := last.sameFolder(f, problem); d != nil {
			return d
		}
		d := define(f)
		d.distrust(problem)
		r.needApproval(d)
		return last.orGood(d)
	})
	if bad := closedFolder(found, s.HooksDir); bad != nil {
		folders = append(folders, r.insteadOf(last, s, owners, bad, folders)...)
	}
	l.definitions, l.notes = append(l.definitions, folders...), append(l.notes, found...)
	for _, d := range folders {
		l.notes = append(l.notes, d.notes...)
	}
	return err
}

// closedFolder finds why a folder that is there could not be read.
func closedFolder(notes []hook.Diagnostic, dir string) *hook.Diagnostic {
	i := slices.IndexFunc(notes, func(d hook.Diagnostic) bool {
		return d.Path == dir && d.Severity == hook.SeverityError && d.Code != "dir_missing"
	})
	if i < 0 {
		return nil
	}
	return &notes[i]
}

// insteadOf is what stands for the hooks of a folder that cannot be read: what
// it last held, or a hook that is invalid. It must not look empty.
func (r *Registry) insteadOf(last *memory, s discovery.Scope, owners *trust.Owners, bad *hook.Diagnostic, seen []*definition) []*definition {
	if r.disown(owners, s, s.HooksDir, false) == nil {
		if kept := last.unseenFolders(s, seen); len(kept) > 0 {
			return kept
		}
	}
	f := &discovery.Found{Scope: s, Name: filepath.Base(s.HooksDir), Path: s.HooksDir, Problem: bad}
	if d := last.sameFolder(f, nil); d != nil {
		return []*definition{d}
	}
	return []*definition{define(f)}
}

// describe adds the hooks that plugins have in themselves. A HOOK.md
// beside a plugin configures the hook that it declares.
func (r *Registry) describe(last *memory, scopes []discovery.Scope, l *loaded) {
	plugins, ok := r.handlers[hook.KindPlugin].(Describer)
	if !ok || r.opts.FS != nil {
		return
	}
	declared := make(map[string]bool, len(l.definitions))
	for _, d := range l.definitions {
		declared[d.hooks[0].ID] = true
	}
	for _, s := range scopes {
		if s.Scope != hook.ScopePlugin {
			continue
		}
		var hooks []*hook.Hook
		var notes []hook.Diagnostic
		if failed := loading(new(contain.Guard), describeLimit, handlerOf(hook.KindPlugin), "Describe", func() { hooks, notes = plugins.Describe(s.Package, s.Dir) }); failed != nil {
			failed.Path = s.Dir
			hooks, notes = nil, []hook.Diagnostic{*failed}
		}
		l.notes = append(l.notes, notes...)
		if bad := closedFolder(notes, s.Dir); bad != nil {
			kept := last.unseenPlugins(s)
			if len(kept) == 0 {
				f := &discovery.Found{Scope: s, Name: s.Package, Path: s.Dir, Problem: bad}
				kept = []*definition{define(f)}
			}
			for _, d := range kept {
				l.definitions, l.notes = append(l.definitions, d), append(l.notes, d.notes...)
			}
			continue
		}
		byID := make(map[string]*definition)
		for _, h := range hooks {
			h.ID, h.Scope = dialect.HookID(s.Scope, s.Package, h.Name), s.Scope
			if declared[h.ID] {
				continue
			}
			h.Source.Root, h.Source.Data = s.Dir, s.DataDir
			if d := byID[h.ID]; d != nil {
				d.hooks = append(d.hooks, h)
				continue
			}
			byID[h.ID] = &definition{scope: s, path: h.Source.Path, hooks: []*hook.Hook{h}, described: true}
			l.definitions = append(l.definitions, byID[h.ID])
		}
	}
	for i, d := range l.definitions {
		if d.described && !d.stale {
			r.needApproval(d)
			l.definitions[i] = last.sameDescribed(d)
		}
	}
}

// define parses a hook folder. A folder that cannot be read
// is an invalid hook, so that it does not look like a missing one.
func define(f *discovery.Found) *definition {
	src := manifest.Source{Scope: f.Scope.Scope, Package: f.Scope.Package, Folder: f.Name,
		Source: hook.Source{Path: f.Path, Dir: f.Dir, Root: f.Scope.Dir, Data: f.Scope.DataDir, Pack: f.Scope.Pack, PackBy: f.Scope.PackBy}}
	d := &definition{scope: f.Scope, path: f.Path, data: f.Data}
	src.Files = func() []string { d.listed = true; return f.Files() }
	if f.Problem != nil {
		d.problem = f.Problem.Message
		d.hooks = []*hook.Hook{manifest.Broken(src, *f.Problem)}
		blockIfLost(d.hooks, f.Scope, f.Problem)
	} else {
		d.hooks, d.notes = manifest.Parse(src, f.Data)
	}
	return d
}

// blockIfLost makes what stands for definitions that the system could not read
// block what they could have blocked: their on_failure is unknown. The system may
// have run out of something, such as descriptors, and that switches no guard off.
func blockIfLost(hooks []*hook.Hook, s discovery.Scope, problem *hook.Diagnostic) {
	if problem.Code != discovery.CodeUnreadable && !lostPack(s, problem) {
		return
	}
	for _, h := range hooks {
		h.OnFailure, h.Why = hook.FailureBlock, h.Why+"; its on_failure is unknown, so it blocks"
	}
}

// loadConfigs reads the config files of all places.
func (r *Registry) loadConfigs(ctx context.Context, last *memory, scopes []discovery.Scope, owners *trust.Owners, l *loaded) error {
	for _, place := range r.configPlaces(scopes) {
		configs, err := r.walkConfigs(ctx, last, place, owners, l)
		if err == nil && place.Scope.Scope == hook.ScopePlugin {
			err = r.follow(ctx, last, owners, place, configs, l)
		}
		if err != nil {
			return err
		}
	}
	l.read = slices.Clone(l.configs)
	l.configs = slices.DeleteFunc(l.configs, func(c *configFile) bool {
		note, drop := c.outdated(l.configs)
		l.notes = append(l.notes, note...)
		return drop
	})
	for _, c := range l.configs {
		l.definitions, l.notes = append(l.definitions, c.definitions...), append(l.notes, c.notes...)
	}
	return nil
}

// walkConfigs reads the config files of a place.
func (r *Registry) walkConfigs(ctx context.Context, last *memory, place configPlace, owners *trust.Owners, l *loaded) ([]*configFile, error) {
	known := func(path string) (*configFile, bool) {
		c, ok := last.config(sourceOf(place.Scope, place.Product, path))
		return c, ok && sameProblem(c.disowned, r.disown(owners, place.Scope, path, false))
	}
	configs, notes, err := discovery.WalkConfigs(ctx, r.opts.FS, []discovery.ConfigPlace{place.ConfigPlace}, known, func(f *discovery.ConfigFile) *configFile {
		return r.readConfig(last, owners, f, place.legacy)
	})
	for i := range notes {
		configs = append(configs, r.insteadOfConfigs(last, place, owners, &notes[i], configs)...)
	}
	l.configs, l.notes = append(l.configs, configs...), append(l.notes, notes...)
	return configs, err
}

// insteadOfConfigs is insteadOf for a folder that config files are looked for in.
// That of the place itself has hook folders too, and theirs stands for it.
func (r *Registry) insteadOfConfigs(last *memory, place configPlace, owners *trust.Owners, bad *hook.Diagnostic, seen []*configFile) []*configFile {
	if r.disown(owners, place.Scope, bad.Path, false) == nil {
		if kept := last.unseenConfigs(place, bad.Path, seen); len(kept) > 0 {
			return kept
		}
	}
	if bad.Path == place.Scope.Dir && bad.Code != discovery.CodeUnreadable {
		return nil
	}
	f := &discovery.ConfigFile{Scope: place.Scope, Product: place.Product, Path: bad.Path, Problem: bad}
	if c := last.sameConfig(f, nil); c != nil {
		return []*configFile{c}
	}
	c := readConfigFile(f)
	c.legacy, c.notes = place.legacy, nil // what is wrong was told
	return []*configFile{c}
}

// readConfig reads a config file and judges whose word it is.
func (r *Registry) readConfig(last *memory, owners *trust.Owners, f *discovery.ConfigFile, legacy bool) *configFile {
	problem := r.disown(owners, f.Scope, f.Path, false)
	if c := last.sameConfig(f, problem); c != nil {
		return c
	}
	c := readConfigFile(f)
	c.legacy = legacy
	if problem != nil {
		c.disowned = problem.Error()
		c.notes = append(c.notes, problem.Diagnostic())
	}
	for _, d := range c.definitions {
		if problem != nil {
			d.refuse(c.disowned)
		}
		r.needApproval(d)
	}
	return last.orGoodConfig(c)
}

// follow reads the hooks files that the manifests of a plugin point at.
func (r *Registry) follow(ctx context.Context, last *memory, owners *trust.Owners, place configPlace, manifests []*configFile, l *loaded) error {
	for _, manifest := range manifests {
		for _, ref := range manifest.refs {
			path := filepath.Join(place.Scope.Dir, filepath.FromSlash(ref.Path))
			if slices.ContainsFunc(l.configs, func(c *configFile) bool { return c.path == path }) {
				continue
			}
			at := place
			at.Names, at.Product = []string{ref.Path}, ref.Product
			files, err := r.walkConfigs(ctx, last, at, owners, l)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				l.notes = append(l.notes, refMissing(manifest.path, ref, "there is no such file"))
			}
		}
	}
	return nil
}

func refMissing(path string, ref dialect.Ref, why string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: "ref_missing", Path: path, Line: ref.Line,
		Message: fmt.Sprintf("hooks: %s cannot be read: %s", ref.Path, why), Hint: "name a file of the plugin, relative to its root"}
}

// outdated says of a file of an older version whether anything else has taken
// its place, and that it should. A file of a nearer scope does not.
func (c *configFile) outdated(all []*configFile) ([]hook.Diagnostic, bool) {
	if !c.legacy {
		return nil, false
	}
	note := hook.Diagnostic{Severity: hook.SeverityWarning, Code: "deprecated", Path: c.path,
		Message: "it is read because no settings of " + c.product + " have a hooks table", Hint: "move its hooks into settings.toml"}
	for _, other := range all {
		if other.product == c.product && !other.legacy && len(other.definitions) > 0 && other.disowned == "" && other.scope.Scope <= c.scope.Scope {
			note.Code = "superseded"
			note.Message = "it is not read: there are hooks in " + other.path
			return []hook.Diagnostic{note}, true
		}
	}
	return []hook.Diagnostic{note}, false
}

// disown says why a file of the managed or the user scope does not count, for a
// tree with all that is in its folder: another user could have written it. On a
// host's own file system files have no owner.
func (r *Registry) disown(owners *trust.Owners, scope discovery.Scope, path string, tree bool) *trust.Problem {
	owner := trust.OwnerOf(scope.Scope)
	if r.opts.FS != nil || owner == trust.OwnerAnyone {
		return nil
	}
	var err error
	if !tree {
		err = owners.Check(owner, path)
	} else if err = owners.Check(owner, scope.Dir, scope.HooksDir); err == nil {
		err = owners.CheckTree(owner, filepath.Dir(path))
	}
	var problem *trust.Problem
	errors.As(err, &problem)
	return problem
}
