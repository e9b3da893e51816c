package dialect

import (
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Base is a directory that config files are looked for below.
type Base uint8

// The bases.
const (
	BaseWorkspace  Base = iota // the project's root
	BaseHome                   // the user's home directory
	BaseConfigHome             // $XDG_CONFIG_HOME
	BaseManaged                // what holds the folder of the managed scope, /etc say
)

// ConfigPlace is where a product keeps hooks, and whose they are.
type ConfigPlace struct {
	Product string
	Base    Base
	Names   []string // patterns of path.Match, with slashes, below Base
	Scope   hook.Scope
	Legacy  bool // counts only where no other place of the product has hooks
}

// ConfigPlaces returns the places of products, in the order of scopes. Our own
// files are not among them: they are in the scopes' directories.
func ConfigPlaces(of ...string) []ConfigPlace {
	var places []ConfigPlace
	for _, p := range products {
		if p.own || !slices.Contains(of, p.name) {
			continue
		}
		for _, f := range p.files {
			places = f.places(p, places)
		}
	}
	slices.SortStableFunc(places, func(a, b ConfigPlace) int { return int(a.Scope) - int(b.Scope) })
	return places
}

// places appends where a file of a product may lie.
func (f configFile) places(p *product, places []ConfigPlace) []ConfigPlace {
	add := func(base Base, scope hook.Scope, name string) {
		i := slices.IndexFunc(places, func(o ConfigPlace) bool {
			return o.Product == p.name && o.Base == base && o.Scope == scope && o.Legacy == f.legacy
		})
		if i < 0 {
			places = append(places, ConfigPlace{Product: p.name, Base: base, Scope: scope, Legacy: f.legacy})
			i = len(places) - 1
		}
		places[i].Names = append(places[i].Names, name)
	}
	folder, name, _ := strings.Cut(f.pattern, "/")
	switch {
	case f.form == formManifest: // of a plugin
	case f.managed != nil:
		add(BaseManaged, hook.ScopeManaged, f.managed()+"/"+f.pattern)
	case !strings.HasPrefix(folder, "."):
		add(BaseConfigHome, hook.ScopeUser, f.pattern)
	case strings.Contains(name, ".local."):
		add(BaseWorkspace, hook.ScopeLocal, f.pattern)
	default:
		if f.only != hook.ScopeProject {
			add(BaseHome, hook.ScopeUser, f.pattern)
		}
		if f.only != hook.ScopeUser {
			add(BaseWorkspace, hook.ScopeProject, f.pattern)
		}
	}
	return places
}
