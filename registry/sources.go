package registry

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

// ownProduct is whose the settings in the scopes' own directories are.
const ownProduct = "tenterhook"

// compatAll stands for every product in Options.Compat.
const compatAll = "all"

// compatible returns the products whose files are read too.
func compatible(named []string) ([]string, error) {
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

// projectMarks are the files of products that mark a project's root.
func projectMarks(products []string) []string {
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
func (r *Registry) configPlaces(scopes []discovery.Scope) []configPlace {
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
	for _, p := range dialect.ConfigPlaces(r.compat...) {
		if dir, ok := r.baseDir(p.Base, scopes); ok && !slices.Contains(r.opts.Without, withoutOf(p.Scope)) {
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
func (r *Registry) baseDir(base dialect.Base, scopes []discovery.Scope) (string, bool) {
	beside := func(of hook.Scope) (string, bool) {
		i := slices.IndexFunc(scopes, func(s discovery.Scope) bool { return s.Scope == of })
		if i < 0 {
			return "", false
		}
		return filepath.Dir(scopes[i].Dir), true
	}
	switch base {
	case dialect.BaseWorkspace:
		return r.opts.Workspace, true
	case dialect.BaseHome:
		return r.home, filepath.IsAbs(r.home)
	case dialect.BaseConfigHome:
		return beside(hook.ScopeUser)
	}
	return beside(hook.ScopeManaged)
}

// configFile is a config file as it was read.
type configFile struct {
	scope       discovery.Scope
	path        string
	product     string
	legacy      bool
	data        []byte
	settings    dialect.Settings
	refs        []dialect.Ref
	definitions []*definition
	notes       []hook.Diagnostic
	problem     string  // why the file could not be read
	broken      bool    // none of it could be read
	stale       bool    // kept, for what is there now is broken
	disowned    string  // why its settings do not count; "" = they do
	fleet       *Policy // of a fleet's document; nil = a file of this machine's own
}

// readConfigFile makes hooks of a file. Each is a definition of its own, so
// that approvals and faults concern it alone.
func readConfigFile(f *discovery.ConfigFile) *configFile {
	c := &configFile{scope: f.Scope, path: f.Path, product: f.Product, data: f.Data}
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
		c.definitions = append(c.definitions, &definition{scope: f.Scope, path: f.Path, hooks: []*hook.Hook{h}, config: c})
	}
	return c
}
