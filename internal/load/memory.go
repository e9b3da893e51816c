package load

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/stamp"
	"github.com/tenterhook/tenterhook/trust"
)

// Memory is what was loaded, so that a reload reads and parses only what
// changed. A nil memory knows nothing.
type Memory struct {
	folders map[source]*remembered[*Definition]
	plugins map[string]*Definition // by ID
	hosts   map[string]*Plugin     // by path
	configs map[source]*remembered[*ConfigFile]
	fleet   []*Fleet
}

// source is a file as a scope has it. The same file may be in several, where a
// home is the workspace, say: whose word it is then depends on the scope.
type source struct {
	scope        hook.Scope
	pkg, product string
	path         string
}

func sourceOf(s discovery.Scope, product, path string) source {
	return source{s.Scope, s.Package, product, path}
}

func (d *Definition) source() source { return sourceOf(d.Scope, "", d.Path) }
func (c *ConfigFile) source() source { return sourceOf(c.scope, c.product, c.path) }

// remembered is something that was made of a file.
type remembered[T comparable] struct {
	value T
	stamp stamp.Stamp
	sure  bool        // the stamp shows that the file is unchanged
	moved atomic.Bool // it was read again, and has the same content
}

// Remember keeps what was loaded since began. A file that changed since then
// may differ from what was read. What last remembered and the load took from
// there is as it was.
func Remember(l *Loaded, began time.Time, stats bool, last *Memory) *Memory {
	m := &Memory{folders: make(map[source]*remembered[*Definition], len(l.Definitions)),
		plugins: make(map[string]*Definition), hosts: make(map[string]*Plugin), configs: make(map[source]*remembered[*ConfigFile], len(l.read)), fleet: l.Fleet}
	for _, p := range l.Plugins {
		m.hosts[p.Subject.Path] = p
	}
	for _, d := range l.Definitions {
		if d.plugin != nil {
			m.plugins[d.Hooks[0].ID] = d
		} else if d.Config == nil {
			var k *remembered[*Definition]
			if last != nil {
				k = last.folders[d.source()]
			}
			m.folders[d.source()] = k.renewed(d.Path, d, began, stats && !d.listed && d.problem == "")
		}
	}
	for _, c := range l.read {
		var k *remembered[*ConfigFile]
		if last != nil {
			k = last.configs[c.source()]
		}
		m.configs[c.source()] = k.renewed(c.path, c, began, stats && c.problem == "")
	}
	return m
}

// renewed remembers value; a stamp that holds is kept.
func (k *remembered[T]) renewed(path string, value T, began time.Time, stats bool) *remembered[T] {
	if k != nil && k.sure && k.value == value && !k.moved.Load() {
		return k
	}
	k = &remembered[T]{value: value}
	if stats {
		at, err := stamp.Of(path, true)
		k.stamp, k.sure = at, err == nil && !at.Young(began)
	}
	return k
}

// fresh returns what is remembered of a path whose file is untouched.
func (k *remembered[T]) fresh(path string) (T, bool) {
	if k != nil && k.sure {
		if now, err := stamp.Of(path, true); err == nil && now == k.stamp {
			return k.value, true
		}
	}
	var none T
	return none, false
}

func (m *Memory) folder(at source) (*Definition, bool) {
	if m == nil {
		return nil, false
	}
	return m.folders[at].fresh(at.path)
}

func (m *Memory) config(at source) (*ConfigFile, bool) {
	if m == nil {
		return nil, false
	}
	return m.configs[at].fresh(at.path)
}

// sameFolder is what is remembered of a folder whose manifest was read again and
// has not changed.
func (m *Memory) sameFolder(f *discovery.Found, problem *trust.Problem) *Definition {
	if m == nil {
		return nil
	}
	k := m.folders[sourceOf(f.Scope, "", f.Path)]
	if k == nil {
		return nil
	}
	d := k.value
	if d.listed || d.Stale || !bytes.Equal(d.data, f.Data) || d.problem != messageOf(f.Problem) || !sameProblem(d.untrusted, problem) {
		return nil
	}
	k.moved.Store(true)
	return d
}

// standIn is the invalid hook in the place of a folder, a package or a pack that cannot be read:
// the one that is remembered, as long as it cannot for the same reason.
func (m *Memory) standIn(s discovery.Scope, name, path string, bad *hook.Diagnostic) *Definition {
	f := &discovery.Found{Scope: s, Name: name, Path: path, Problem: bad}
	if d := m.sameFolder(f, nil); d != nil {
		return d
	}
	return define(f)
}

// orGood returns a definition that was just parsed, or in its place what is
// remembered of it: if that is the same, and if d is broken and it was not.
func (m *Memory) orGood(d *Definition) *Definition {
	if m == nil {
		return d
	}
	k := m.folders[d.source()]
	if k == nil {
		return d
	}
	last := k.value
	switch {
	case d.listed && !last.Stale && reflect.DeepEqual(d.Hooks, last.Hooks) && slices.Equal(d.Notes, last.Notes):
		return last
	case d.untrusted != "", last.untrusted != "": // the edit that broke it may have changed its scripts
	case d.broken() && !last.broken():
		own := *last
		own.Stale, own.data, own.problem, own.Notes = true, d.data, d.problem, append(slices.Clip(d.Notes), keptNote(d.Path))
		if last.Stale && bytes.Equal(last.data, d.data) && last.problem == d.problem {
			return last
		}
		return &own
	}
	return d
}

// unseenFolders are the good definitions of a scope that a load did not come
// upon, by path.
func (m *Memory) unseenFolders(s discovery.Scope, seen []*Definition) []*Definition {
	return m.unseen(func(d *Definition) bool { return d.Scope == s }, seen)
}

// unseenPack is unseenFolders for what a pack held, wherever that was.
func (m *Memory) unseenPack(ref string, seen []*Definition) []*Definition {
	return m.unseen(func(d *Definition) bool { return d.Scope.Pack == ref }, seen)
}

func (m *Memory) unseen(of func(*Definition) bool, seen []*Definition) []*Definition {
	if m == nil {
		return nil
	}
	there := make(map[string]bool, len(seen))
	for _, d := range seen {
		there[d.Path] = true
	}
	var unseen []*Definition
	for _, k := range m.folders {
		d := k.value
		if of(d) && !d.broken() && !there[d.Path] {
			unseen = append(unseen, d.kept())
		}
	}
	slices.SortFunc(unseen, func(a, b *Definition) int { return strings.Compare(a.Path, b.Path) })
	return unseen
}

// unseenPlugins are the hooks that the plugins of a scope last said they have,
// by ID.
func (m *Memory) unseenPlugins(s discovery.Scope) []*Definition {
	if m == nil {
		return nil
	}
	var unseen []*Definition
	for _, id := range slices.Sorted(maps.Keys(m.plugins)) {
		if d := m.plugins[id]; d.Scope == s {
			unseen = append(unseen, d.kept())
		}
	}
	return unseen
}

// unseenPackages are the plugin packages, by name, that something was loaded
// from and that are not among those listed.
func (m *Memory) unseenPackages(listed []discovery.Scope) []discovery.Scope {
	if m == nil {
		return nil
	}
	var unseen []discovery.Scope
	add := func(s discovery.Scope) {
		if s.Package != "" && !slices.Contains(listed, s) && !slices.Contains(unseen, s) {
			unseen = append(unseen, s)
		}
	}
	for _, k := range m.folders {
		add(k.value.Scope)
	}
	for _, k := range m.configs {
		add(k.value.scope)
	}
	for _, d := range m.plugins {
		add(d.Scope)
	}
	slices.SortFunc(unseen, func(a, b discovery.Scope) int { return strings.Compare(a.Package, b.Package) })
	return unseen
}

// kept is a definition that stays though it was not read this time.
func (d *Definition) kept() *Definition {
	if d.Stale {
		return d
	}
	own := *d
	own.Stale, own.problem, own.Notes = true, notRead, append(slices.Clip(d.Notes), keptNote(d.Path))
	return &own
}

// unseenConfigs is unseenFolders for the config files of a place, below dir.
func (m *Memory) unseenConfigs(place configPlace, dir string, seen []*ConfigFile) []*ConfigFile {
	if m == nil {
		return nil
	}
	there := make(map[string]bool, len(seen))
	for _, c := range seen {
		there[c.path] = true
	}
	var unseen []*ConfigFile
	for _, k := range m.configs {
		c := k.value
		if c.scope != place.Scope || c.product != place.Product || c.legacy != place.legacy || c.broken || c.Fleet != nil || there[c.path] {
			continue
		}
		if rel, err := filepath.Rel(dir, c.path); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if !c.Stale {
			own := *c
			own.Stale, own.problem, own.notes = true, notRead, append(slices.Clip(c.notes), keptNote(c.path))
			c = &own
		}
		unseen = append(unseen, c)
	}
	slices.SortFunc(unseen, func(a, b *ConfigFile) int { return strings.Compare(a.path, b.path) })
	return unseen
}

// notRead is the problem of a file that stays though it was not read: once it is, it
// has another, or none.
const notRead = "not read"

// broken reports whether nothing of a hook folder can be used.
func (d *Definition) broken() bool {
	return !slices.ContainsFunc(d.Hooks, func(h *hook.Hook) bool { return h.State != hook.StateInvalid })
}

// sameDescribed is what is remembered of a plugin's hook, if it is the same.
func (m *Memory) sameDescribed(d *Definition) *Definition {
	if m == nil {
		return d
	}
	if last := m.plugins[d.Hooks[0].ID]; last != nil && !last.Stale && last.plugin == d.plugin && reflect.DeepEqual(last.Hooks, d.Hooks) {
		return last
	}
	return d
}

// samePlugin is what is remembered of a plugin, with its new hooks, if an approval
// of it is about the same.
func (m *Memory) samePlugin(p *Plugin) *Plugin {
	if m == nil {
		return p
	}
	last := m.hosts[p.Subject.Path]
	if last == nil || last.scope != p.scope || !reflect.DeepEqual(last.Subject, p.Subject) {
		return p
	}
	if reflect.DeepEqual(last.Hooks, p.Hooks) {
		return last
	}
	p.guard = last.guard
	return p
}

// sameConfig is sameFolder for a config file.
func (m *Memory) sameConfig(f *discovery.ConfigFile, problem *trust.Problem) *ConfigFile {
	if m == nil {
		return nil
	}
	k := m.configs[sourceOf(f.Scope, f.Product, f.Path)]
	if k == nil || !bytes.Equal(k.value.data, f.Data) || k.value.problem != messageOf(f.Problem) || !sameProblem(k.value.untrusted, problem) {
		return nil
	}
	k.moved.Store(true)
	return k.value
}

// orGoodConfig is orGood for a config file, and for each of its entries.
func (m *Memory) orGoodConfig(c *ConfigFile) *ConfigFile {
	if m == nil || c.untrusted != "" {
		return c
	}
	k := m.configs[c.source()]
	switch {
	case k == nil, k.value.untrusted != "":
		return c
	case !c.broken:
		c.keepGood(k.value)
		return c
	case k.value.broken:
		return c
	}
	own := *k.value
	own.Stale, own.data, own.problem, own.notes = true, c.data, c.problem, append(slices.Clip(c.notes), keptNote(c.path))
	return &own
}

// keepGood puts in the place of each broken entry what last had under its ID.
func (c *ConfigFile) keepGood(last *ConfigFile) {
	good := make(map[string]*Definition, len(last.Definitions))
	for _, was := range last.Definitions {
		if !was.broken() {
			good[was.Hooks[0].ID] = was
		}
	}
	for i, d := range c.Definitions {
		was := good[d.Hooks[0].ID]
		if was == nil || !d.broken() {
			continue
		}
		kept, h := *was, *was.Hooks[0]
		h.Source.Line = d.Hooks[0].Source.Line // its place in the order
		kept.Stale, kept.Hooks = true, []*hook.Hook{&h}
		c.Definitions[i] = &kept
		note := keptNote(c.path)
		note.Hook, note.Line = h.ID, h.Source.Line
		c.notes = append(c.notes, note)
	}
}

// SameEntry reports whether an entry of a settings file is as it was, wherever
// in the file it stands now.
func (d *Definition) SameEntry(was *Definition) bool {
	if d.Config == nil || was.Config == nil || d.Stale != was.Stale {
		return false
	}
	now, then := *d.Hooks[0], *was.Hooks[0]
	now.Source.Line, then.Source.Line = 0, 0
	return reflect.DeepEqual(now, then)
}

func keptNote(path string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: "kept_last_good", Path: path,
		Message: "it is broken now, so what it last declared stays in force", Hint: "fix it, or remove it"}
}

func messageOf(problem *hook.Diagnostic) string {
	if problem == nil {
		return ""
	}
	return problem.Message
}

func sameProblem(before string, now *trust.Problem) bool {
	if now == nil {
		return before == ""
	}
	return before == now.Error()
}
