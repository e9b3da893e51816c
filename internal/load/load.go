package load

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/manifest"
	"github.com/tenterhook/tenterhook/trust"
)

// Definition is a hook folder, parsed (several hooks if it names several
// events), or one hook of a config file. It is not changed once it is loaded.
type Definition struct {
	Scope  discovery.Scope
	Path   string
	data   []byte      // of a hook folder's manifest
	Config *ConfigFile // nil = a hook folder
	Hooks  []*hook.Hook
	Notes  []hook.Diagnostic

	Subject *trust.Subject // of a definition that needs an approval
	Content *trust.Content // of a definition that a pack's digest approves
	guard   *trust.Guard
	env     []string // the environment for callers without one

	untrusted string  // why its files are not trusted; "" = their owner is fine
	problem   string  // why the manifest could not be read
	listed    bool    // what is beside the manifest had a say
	plugin    *Plugin // that says it has these hooks; nil = they are declared in a file
	Stale     bool    // kept, for what is there now is broken
}

// Plugin is a program with hooks of several definitions, all of one approval.
type Plugin struct {
	trust.Plugin
	scope discovery.Scope
	guard *trust.Guard
}

// Loaded is what the scopes hold.
type Loaded struct {
	Definitions []*Definition // those of config files after the folders
	Plugins     []*Plugin
	Configs     []*ConfigFile // the settings that count
	read        []*ConfigFile // all of them
	Notes       []hook.Diagnostic
	Fleet       []*Fleet
}

// Reader reads what the scopes hold. Its fields are set before the first load.
type Reader struct {
	discovery.Options          // its Workspace is the project's root, also if the project's scope is left out
	Compat            []string // products whose files are read too
	Home              string   // what ~ means in the places of products; "" = unknown
	Env               []string // that hooks inherit
	StateDir          string   // where approvals and packs are kept
	Stores            []*trust.Store
	Approvals         []string // the files of stores that the operator handed in
	// DescribePlugins says which plugins a package has; nil = there are none.
	DescribePlugins func(pkg, dir string) ([]trust.Plugin, []hook.Diagnostic)
}

// Load finds and parses every definition, in scope order. What last knows to
// be as it was read is taken from there; last may be nil.
func (r *Reader) Load(ctx context.Context, last *Memory) (*Loaded, error) {
	scopes, notes := r.scopes()
	l := &Loaded{Notes: notes}
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
	var fleet []*Fleet
	if last != nil {
		fleet = last.fleet
	}
	r.loadFleet(fleet, l)
	return l, r.loadPacks(ctx, last, l)
}

// scopes are where hooks are loaded from.
func (r *Reader) scopes() ([]discovery.Scope, []hook.Diagnostic) {
	where := r.Options
	if slices.Contains(where.Without, hook.ScopeProject) {
		where.Workspace = ""
	}
	return discovery.Scopes(where)
}

// keepPackages adds the earlier plugin packages, if the present ones
// cannot be listed. Where none is known, a hook that is invalid stands for them.
func (r *Reader) keepPackages(last *Memory, scopes []discovery.Scope, owners *trust.Owners, l *Loaded) []discovery.Scope {
	i := slices.IndexFunc(l.Notes, func(d hook.Diagnostic) bool { return d.Severity == hook.SeverityError })
	if i < 0 {
		return scopes
	}
	kept := last.unseenPackages(scopes)
	if len(kept) == 0 && !slices.ContainsFunc(scopes, func(s discovery.Scope) bool { return s.Package != "" }) {
		bad := l.Notes[i]
		all := discovery.Scope{Scope: hook.ScopePlugin, Dir: bad.Path, HooksDir: bad.Path}
		l.Definitions = append(l.Definitions, r.insteadOf(last, all, owners, &bad, nil)...)
	}
	at := slices.IndexFunc(scopes, func(s discovery.Scope) bool { return s.Scope == hook.ScopeDir })
	if at < 0 {
		at = len(scopes)
	}
	return slices.Insert(scopes, at, kept...)
}

// loadFolders reads the hook folders of a scope.
func (r *Reader) loadFolders(ctx context.Context, last *Memory, s discovery.Scope, owners *trust.Owners, l *Loaded) error {
	known := func(path string) (*Definition, bool) {
		d, ok := last.folder(sourceOf(s, "", path))
		return d, ok && sameProblem(d.untrusted, r.untrusted(owners, s, path, true))
	}
	folders, found, err := discovery.Walk(ctx, r.FS, []discovery.Scope{s}, known, func(f *discovery.Found) *Definition {
		problem := r.untrusted(owners, s, f.Path, true)
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
	l.Definitions, l.Notes = append(l.Definitions, folders...), append(l.Notes, found...)
	for _, d := range folders {
		l.Notes = append(l.Notes, d.Notes...)
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
func (r *Reader) insteadOf(last *Memory, s discovery.Scope, owners *trust.Owners, bad *hook.Diagnostic, seen []*Definition) []*Definition {
	if r.untrusted(owners, s, s.HooksDir, false) == nil {
		if kept := last.unseenFolders(s, seen); len(kept) > 0 {
			return kept
		}
	}
	return []*Definition{last.standIn(s, filepath.Base(s.HooksDir), s.HooksDir, bad)}
}

// describe adds the hooks that plugins have in themselves. A HOOK.md
// beside a plugin configures the hook that it declares.
func (r *Reader) describe(last *Memory, scopes []discovery.Scope, l *Loaded) {
	if r.DescribePlugins == nil || r.FS != nil {
		return
	}
	declared := make(map[string]bool, len(l.Definitions))
	for _, d := range l.Definitions {
		declared[d.Hooks[0].ID] = true
	}
	for _, s := range scopes {
		if s.Scope != hook.ScopePlugin {
			continue
		}
		found, notes := r.DescribePlugins(s.Package, s.Dir)
		l.Notes = append(l.Notes, notes...)
		if bad := closedFolder(notes, s.Dir); bad != nil {
			kept := last.unseenPlugins(s)
			if len(kept) == 0 {
				kept = []*Definition{last.standIn(s, s.Package, s.Dir, bad)}
			}
			for _, d := range kept {
				l.Definitions, l.Notes = append(l.Definitions, d), append(l.Notes, d.Notes...)
				if d.plugin != nil && !slices.Contains(l.Plugins, d.plugin) {
					l.Plugins = append(l.Plugins, d.plugin)
				}
			}
			continue
		}
		for _, one := range found {
			for _, h := range one.Hooks {
				h.ID, h.Scope = dialect.HookID(s.Scope, s.Package, h.Name), s.Scope
				h.Source.Root, h.Source.Data = s.Dir, s.DataDir
			}
			p := last.samePlugin(&Plugin{Plugin: one, scope: s, guard: trust.NewGuard(one.Subject, r.Stores...)})
			l.Plugins = append(l.Plugins, p)
			l.Definitions = append(l.Definitions, r.describedBy(p, last, declared)...)
		}
	}
}

// describedBy are the definitions of the hooks that a plugin has in itself, one for
// each name that nothing declared.
func (r *Reader) describedBy(p *Plugin, last *Memory, declared map[string]bool) (all []*Definition) {
	byID := make(map[string]*Definition)
	for _, h := range p.Hooks {
		if declared[h.ID] {
			continue
		}
		if d := byID[h.ID]; d != nil {
			d.Hooks = append(d.Hooks, h)
			continue
		}
		byID[h.ID] = &Definition{Scope: p.scope, Path: h.Source.Path, Hooks: []*hook.Hook{h}, plugin: p}
		all = append(all, byID[h.ID])
	}
	for i, d := range all {
		r.needApproval(d)
		all[i] = last.sameDescribed(d)
	}
	return all
}

// define parses a hook folder. A folder that cannot be read
// is an invalid hook, so that it does not look like a missing one.
func define(f *discovery.Found) *Definition {
	src := manifest.Source{Scope: f.Scope.Scope, Package: f.Scope.Package, Folder: f.Name,
		Source: hook.Source{Path: f.Path, Dir: f.Dir, Root: f.Scope.Dir, Data: f.Scope.DataDir, Pack: f.Scope.Pack, PackBy: f.Scope.PackBy}}
	d := &Definition{Scope: f.Scope, Path: f.Path, data: f.Data}
	src.Files = func() []string { d.listed = true; return f.Files() }
	if f.Problem != nil {
		d.problem = f.Problem.Message
		d.Hooks = []*hook.Hook{manifest.Broken(src, *f.Problem)}
		blockIfLost(d.Hooks, f.Scope, f.Problem)
	} else {
		d.Hooks, d.Notes = manifest.Parse(src, f.Data)
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
func (r *Reader) loadConfigs(ctx context.Context, last *Memory, scopes []discovery.Scope, owners *trust.Owners, l *Loaded) error {
	for _, place := range r.configPlaces(scopes) {
		configs, err := r.walkConfigs(ctx, last, place, owners, l)
		if err == nil && place.Scope.Scope == hook.ScopePlugin {
			err = r.follow(ctx, last, owners, place, configs, l)
		}
		if err != nil {
			return err
		}
	}
	l.read = slices.Clone(l.Configs)
	l.Configs = slices.DeleteFunc(l.Configs, func(c *ConfigFile) bool {
		note, drop := c.outdated(l.Configs)
		l.Notes = append(l.Notes, note...)
		return drop
	})
	for _, c := range l.Configs {
		l.Definitions, l.Notes = append(l.Definitions, c.Definitions...), append(l.Notes, c.notes...)
	}
	return nil
}

// walkConfigs reads the config files of a place.
func (r *Reader) walkConfigs(ctx context.Context, last *Memory, place configPlace, owners *trust.Owners, l *Loaded) ([]*ConfigFile, error) {
	known := func(path string) (*ConfigFile, bool) {
		c, ok := last.config(sourceOf(place.Scope, place.Product, path))
		return c, ok && sameProblem(c.untrusted, r.untrusted(owners, place.Scope, path, false))
	}
	configs, notes, err := discovery.WalkConfigs(ctx, r.FS, []discovery.ConfigPlace{place.ConfigPlace}, known, func(f *discovery.ConfigFile) *ConfigFile {
		return r.readConfig(last, owners, f, place.legacy)
	})
	for i := range notes {
		configs = append(configs, r.insteadOfConfigs(last, place, owners, &notes[i], configs)...)
	}
	l.Configs, l.Notes = append(l.Configs, configs...), append(l.Notes, notes...)
	return configs, err
}

// insteadOfConfigs is insteadOf for a folder that config files are looked for in.
// That of the place itself has hook folders too, and theirs stands for it.
func (r *Reader) insteadOfConfigs(last *Memory, place configPlace, owners *trust.Owners, bad *hook.Diagnostic, seen []*ConfigFile) []*ConfigFile {
	if r.untrusted(owners, place.Scope, bad.Path, false) == nil {
		if kept := last.unseenConfigs(place, bad.Path, seen); len(kept) > 0 {
			return kept
		}
	}
	if bad.Path == place.Scope.Dir && bad.Code != discovery.CodeUnreadable {
		return nil
	}
	f := &discovery.ConfigFile{Scope: place.Scope, Product: place.Product, Path: bad.Path, Problem: bad}
	if c := last.sameConfig(f, nil); c != nil {
		return []*ConfigFile{c}
	}
	c := readConfigFile(f)
	c.legacy, c.notes = place.legacy, nil // what is wrong was reported
	return []*ConfigFile{c}
}

// readConfig reads a config file and judges whose word it is.
func (r *Reader) readConfig(last *Memory, owners *trust.Owners, f *discovery.ConfigFile, legacy bool) *ConfigFile {
	problem := r.untrusted(owners, f.Scope, f.Path, false)
	if c := last.sameConfig(f, problem); c != nil {
		return c
	}
	c := readConfigFile(f)
	c.legacy = legacy
	if problem != nil {
		c.untrusted = problem.Error()
		c.notes = append(c.notes, problem.Diagnostic())
	}
	for _, d := range c.Definitions {
		if problem != nil {
			d.refuse(c.untrusted)
		}
		r.needApproval(d)
	}
	return last.orGoodConfig(c)
}

// follow reads the hooks files that the manifests of a plugin point at.
func (r *Reader) follow(ctx context.Context, last *Memory, owners *trust.Owners, place configPlace, manifests []*ConfigFile, l *Loaded) error {
	for _, manifest := range manifests {
		for _, ref := range manifest.refs {
			path := filepath.Join(place.Scope.Dir, filepath.FromSlash(ref.Path))
			if slices.ContainsFunc(l.Configs, func(c *ConfigFile) bool { return c.path == path }) {
				continue
			}
			at := place
			at.Names, at.Product = []string{ref.Path}, ref.Product
			files, err := r.walkConfigs(ctx, last, at, owners, l)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				l.Notes = append(l.Notes, refMissing(manifest.path, ref, "there is no such file"))
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
func (c *ConfigFile) outdated(all []*ConfigFile) ([]hook.Diagnostic, bool) {
	if !c.legacy {
		return nil, false
	}
	note := hook.Diagnostic{Severity: hook.SeverityWarning, Code: "deprecated", Path: c.path,
		Message: "it is read because no settings of " + c.product + " have a hooks table", Hint: "move its hooks into settings.toml"}
	for _, other := range all {
		if other.product == c.product && !other.legacy && len(other.Definitions) > 0 && other.untrusted == "" && other.scope.Scope <= c.scope.Scope {
			note.Code = "superseded"
			note.Message = "it is not read: there are hooks in " + other.path
			return []hook.Diagnostic{note}, true
		}
	}
	return []hook.Diagnostic{note}, false
}

// untrusted says why a file of the managed or the user scope does not count, for a
// tree with all that is in its folder: another user could have written it. On a
// host's own file system files have no owner.
func (r *Reader) untrusted(owners *trust.Owners, scope discovery.Scope, path string, tree bool) *trust.Problem {
	if r.FS != nil {
		return nil
	}
	owner := trust.OwnerOf(scope.Scope)
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
