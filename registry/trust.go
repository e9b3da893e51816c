package registry

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// openTrust opens the stores of approvals. One that cannot be relied on
// approves nothing, and says why.
func (r *Registry) openTrust() {
	dir := cmp.Or(r.opts.StateDir, discovery.DefaultStateDir())
	open := func(s *trust.Store, err error) {
		r.stores = append(r.stores, s)
		var p *trust.Problem
		if errors.As(err, &p) {
			r.storeNotes = append(r.storeNotes, p.Diagnostic())
		}
	}
	open(trust.Open(dir))
	for _, file := range r.opts.Approvals {
		open(trust.OpenFile(file))
	}
	r.snapshots = trust.NewSnapshots(filepath.Join(dir, "snapshots"))
}

// distrust keeps the hooks of a definition from running because of who could
// have written it.
func (d *definition) distrust(problem *trust.Problem) {
	if problem == nil {
		return
	}
	d.disowned = problem.Error()
	note := problem.Diagnostic()
	note.Hook = d.hooks[0].ID
	d.notes = append(d.notes, note)
	d.refuse(d.disowned)
}

func (d *definition) refuse(why string) {
	for _, h := range d.hooks {
		if cmp.Or(h.State, hook.StateReady) == hook.StateReady {
			h.State, h.Why = hook.StateUntrusted, why
		}
	}
}

// needApproval guards a definition that comes with a workspace or a package.
func (r *Registry) needApproval(d *definition) {
	root := r.opts.Workspace
	switch d.scope.Scope {
	case hook.ScopePlugin:
		root = d.scope.Dir
	case hook.ScopeProject, hook.ScopeLocal:
	default:
		return
	}
	bound, err := trust.Define(d.hooks...)
	if err != nil {
		d.refuse(err.Error())
		return
	}
	d.subject = &trust.Subject{ID: d.hooks[0].ID, Root: root, Path: d.path,
		Definition: bound, Files: trust.NamedFiles(root, d.hooks...)}
	if d.described { // the lock file pins its bytes at each start as well
		d.subject.Files = append(d.subject.Files, d.path)
	} else if d.config == nil { // the hook of a config file has no folder of its own
		d.subject.Dir = d.hooks[0].Source.Dir
	}
	d.guard = trust.NewGuard(*d.subject, r.stores...)
}

// approved reports whether nothing, or an approval, lets the definition run.
func (d *definition) approved() bool { return d.guard == nil || d.guard.Check().Approved }

// stands reports whether a definition can take the place of another of its
// name: a broken one can't, or it would switch that one off.
func (d *definition) stands() bool {
	switch d.hooks[0].State {
	case hook.StateInvalid, hook.StateUntrusted, hook.StateUnsupported:
		return false
	}
	return true
}

// isNearer reports whether d, which comes later, is nearer than o: it is of a
// later scope, or a folder that was named later. In one folder the first is.
func (d *definition) isNearer(o *definition) bool {
	return d.scope.Scope > o.scope.Scope || d.scope.Scope == hook.ScopeDir && d.scope.Dir != o.scope.Dir
}

// findNearer finds hook folders of one name, and for each those that take its
// place. Nothing takes a managed one's place, packages have names of their own,
// and one that is switched off switches nothing off.
func findNearer(definitions []*definition, off func(*definition) bool) (map[*definition][]*definition, []hook.Diagnostic) {
	var notes []hook.Diagnostic
	nearer := make(map[*definition][]*definition)
	named := make(map[string][]*definition)
	for _, d := range definitions {
		if d.config != nil || !d.stands() || d.scope.Scope == hook.ScopeManaged || off(d) {
			continue
		}
		name := d.scope.Package + "\x00" + d.hooks[0].Name
		for _, other := range named[name] {
			near, far := other, d
			if d.isNearer(other) {
				near, far = d, other
			}
			nearer[far] = append(nearer[far], near)
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "shadowed", Hook: far.hooks[0].ID, Path: far.path,
				Message: fmt.Sprintf("another hook is named %q too: %s", far.hooks[0].Name, near.path), Hint: "rename one of them if both are wanted"})
		}
		named[name] = append(named[name], d)
	}
	return nearer, notes
}

// shadower is a nearer definition of the same name, if one may run now: one
// that nobody approved switches nothing off.
func (e *entry) shadower() *definition {
	for _, near := range e.nearer {
		if near.approved() {
			return near
		}
	}
	return nil
}

// standing is the state of a loaded hook as of now, approval and names included.
func (e *entry) standing() (state hook.State, why string, verdict trust.Verdict) {
	if e.state != hook.StateReady || e.definition == nil {
		return e.state, e.why, verdict
	}
	if near := e.shadower(); near != nil {
		return hook.StateShadowed, fmt.Sprintf("shadowed by %s in %s", near.hooks[0].ID, near.path), verdict
	}
	if e.definition.guard != nil {
		if verdict = e.definition.guard.Check(); !verdict.Approved {
			return hook.StateUntrusted, verdict.Why, verdict
		}
	}
	return hook.StateReady, "", verdict
}

// sealed returns the hook to run: one that needed an approval runs from a copy
// of what was approved, whatever lies in its folder by now.
func (r *Registry) sealed(e *entry, seal *trust.Seal) (*hook.Hook, error) {
	if seal == nil {
		return e.hook, nil
	}
	dir, err := r.snapshots.Dir(seal)
	if err != nil || dir == "" {
		return e.hook, err
	}
	if h, ok := e.copies.Load(dir); ok {
		return h.(*hook.Hook), nil
	}
	h := *e.hook
	h.Source.Dir = dir
	kept, _ := e.copies.LoadOrStore(dir, &h)
	return kept.(*hook.Hook), nil
}

// Subject is a definition that runs only if somebody approves it.
type Subject struct {
	Hooks   []*hook.Hook
	Verdict trust.Verdict // with what changed since it was approved

	subject trust.Subject
}

// Seal reads the definition's files, to be shown and approved.
func (s *Subject) Seal() (*trust.Seal, error) { return s.subject.Seal() }

// Key is what its approval is kept by.
func (s *Subject) Key() (trust.Key, error) { return s.subject.Key() }

// Subjects lists the definitions that need an approval, in order.
func (r *Registry) Subjects() []Subject {
	var list []Subject
	for _, d := range r.snap.Load().definitions {
		if d.subject != nil {
			list = append(list, Subject{Hooks: d.hooks, Verdict: d.guard.Check(), subject: *d.subject})
		}
	}
	return list
}

// Approvals is the store that approvals are kept in.
func (r *Registry) Approvals() *trust.Store { return r.stores[0] }
