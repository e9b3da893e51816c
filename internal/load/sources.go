package load

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/pack"
)

// ownProduct is whose the settings in the scopes' own directories are.
const ownProduct = "tenterhook"

// compatAll stands for every product in Options.Compat.
const compatAll = "all"

// Compatible returns the products whose files are read too.
func Compatible(named []string) ([]string, error) {
	known := slices.DeleteFunc(dialect.Products(), func(p string) bool { return p == ownProduct })
	var products []string
	for _, p := range named {
		if p == compatAll {
			return known, nil
		}
		if !slices.Contains(known, p) {
			hint := "known are " + strings.Join(known, ", ") + " and " + compatAll
			if near := hook.Nearest(p, append(known, compatAll)); near != "" {
				hint = fmt.Sprintf("did you mean %s? %s", near, hint)
			}
			return nil, fmt.Errorf("no config files of %q are known here: %s", p, hint)
		}
		products = append(products, p)
	}
	return products, nil
}

// ProjectMarks are the files of products that mark a project's root.
func ProjectMarks(products []string) []string {
	var marks []string
	for _, p := range dialect.ConfigPlaces(products...) {
		if p.Base == dialect.BaseWorkspace {
			marks = append(marks, p.Names...)
		}
	}
	return marks
}

// configPlace is where config files may lie, and how they count.
type configPlace struct {
	discovery.ConfigPlace
	legacy bool
}

// configPlaces returns where settings of the scopes and config files of the
// products are looked for.
func (r *Reader) configPlaces(scopes []discovery.Scope) []configPlace {
	var places []configPlace
	add := func(s discovery.Scope, product string, legacy bool, names ...string) {
		places = append(places, configPlace{discovery.ConfigPlace{Scope: s, Product: product, Names: names, MaxSize: dialect.MaxConfig}, legacy})
	}
	for _, s := range scopes {
		switch s.Scope {
		case hook.ScopePlugin:
			add(s, "", false, "hooks/hooks.json", "plugin.json", ".claude-plugin/plugin.json")
		default:
			add(s, ownProduct, false, "settings.json", "settings.toml")
		}
	}
	for _, p := range dialect.ConfigPlaces(r.Compat...) {
		if dir, ok := r.baseDir(p.Base, scopes); ok && !slices.Contains(r.Without, withoutOf(p.Scope)) {
			s := discovery.Scope{Scope: p.Scope, Dir: dir}
			if p.Base == dialect.BaseWorkspace {
				s.Base = dir
			}
			add(s, p.Product, p.Legacy, p.Names...)
		}
	}
	return places
}

// withoutOf is the scope by which Options.Without leaves out another.
func withoutOf(s hook.Scope) hook.Scope {
	if s == hook.ScopeLocal {
		return hook.ScopeProject
	}
	return s
}

// baseDir is the directory that a product's files are looked for below.
func (r *Reader) baseDir(base dialect.Base, scopes []discovery.Scope) (string, bool) {
	beside := func(of hook.Scope) (string, bool) {
		i := slices.IndexFunc(scopes, func(s discovery.Scope) bool { return s.Scope == of })
		if i < 0 {
			return "", false
		}
		return filepath.Dir(scopes[i].Dir), true
	}
	switch base {
	case dialect.BaseWorkspace:
		return r.Workspace, true
	case dialect.BaseHome:
		return r.Home, filepath.IsAbs(r.Home)
	case dialect.BaseConfigHome:
		return beside(hook.ScopeUser)
	}
	return beside(hook.ScopeManaged)
}

// ConfigFile is a config file as it was read.
type ConfigFile struct {
	scope       discovery.Scope
	path        string
	product     string
	legacy      bool
	data        []byte
	settings    dialect.Settings
	refs        []dialect.Ref
	Definitions []*Definition
	notes       []hook.Diagnostic
	problem     string  // why the file could not be read
	broken      bool    // none of it could be read
	Stale       bool    // kept, for what is there now is broken
	untrusted   string  // why its settings do not count; "" = they do
	Fleet       *Policy // of a fleet's document; nil = a file of this machine's own
}

// readConfigFile makes hooks of a file. Each is a definition of its own, so
// that approvals and faults concern it alone.
func readConfigFile(f *discovery.ConfigFile) *ConfigFile {
	c := &ConfigFile{scope: f.Scope, path: f.Path, product: f.Product, data: f.Data}
	src := dialect.ConfigSource{Scope: f.Scope.Scope, Package: f.Scope.Package, Product: f.Product,
		Source: hook.Source{Path: f.Path, Root: f.Scope.Dir, Data: f.Scope.DataDir}}
	var config dialect.Config
	if f.Problem != nil {
		c.problem = f.Problem.Message
		config = dialect.BrokenConfig(src, *f.Problem)
		blockIfLost(config.Hooks, f.Scope, f.Problem)
	} else {
		config = dialect.ReadConfig(src, f.Data)
	}
	c.settings, c.refs, c.notes = config.Settings, config.Refs, config.Notes
	c.broken = len(config.Hooks) == 1 && config.Hooks[0].Event == "" && config.Hooks[0].State == hook.StateInvalid
	for _, h := range config.Hooks {
		c.Definitions = append(c.Definitions, &Definition{Scope: f.Scope, Path: f.Path, Hooks: []*hook.Hook{h}, Config: c})
	}
	return c
}

// Watched returns the directories that hooks are loaded from, and those of the
// hooks, whether they exist or not, and the folders where a hook may come.
func (r *Reader) Watched(now *Loaded) []string {
	scopes, _ := r.scopes()
	var dirs []string
	if dir := r.packagesDir(); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, s := range scopes {
		dirs = append(dirs, s.Dir, s.HooksDir)
		dirs = append(dirs, s.Folders()...)
	}
	for _, place := range r.configPlaces(scopes) {
		for _, name := range place.Names {
			dirs = append(dirs, filepath.Join(place.Scope.Dir, filepath.Dir(filepath.FromSlash(name))))
		}
	}
	for _, d := range now.Definitions {
		dirs = append(dirs, filepath.Dir(d.Path))
		if d.guard == nil {
			continue
		}
		for _, file := range d.Program(nil).Files { // its approval binds them
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	dirs = append(dirs, r.StateDir, pack.StoreDir(r.StateDir)) // of approvals and of packs
	for _, m := range now.Fleet {
		for _, file := range m.look.files {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	for _, file := range r.Approvals {
		dirs = append(dirs, filepath.Dir(file))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// packagesDir is where plugin packages lie, "" = none are looked for.
func (r *Reader) packagesDir() string {
	if slices.Contains(r.Without, hook.ScopePlugin) {
		return ""
	}
	return cmp.Or(r.PluginsDir, discovery.DefaultPluginsDir())
}

// Bounds returns the folders outside of which another load looks at nothing,
// whether they exist or not; nil if there are none: what packages, packs, a fleet's
// documents and the files of other products bring may lie anywhere.
func (r *Reader) Bounds(now *Loaded) []string {
	if r.FS != nil || len(r.Compat) > 0 || len(now.Fleet) > 0 || len(namedPacks(now.Configs)) > 0 {
		return nil
	}
	scopes, notes := r.scopes()
	if len(notes) > 0 {
		return nil
	}
	var dirs []string
	if dir := r.packagesDir(); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, s := range scopes {
		if s.Scope == hook.ScopePlugin {
			return nil
		}
		dirs = append(dirs, s.Dir)
	}
	return dirs
}
