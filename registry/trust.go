package registry

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

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
	d.subject = &trust.Subject{ID: d.hooks[0].ID, Root: root, Path: d.path, Definition: bound, Words: trust.Words(root, d.hooks...)}
	if d.described { // the lock file pins its bytes at each start as well
		d.subject.Files = []string{d.path}
	} else if d.config == nil { // the hook of a config file has no folder of its own
		d.subject.Dir = d.hooks[0].Source.Dir
	}
	d.guard = trust.NewGuard(*d.subject, r.stores...)
}

// approved reports whether nothing, or an approval, lets the definition run.
func (d *definition) approved() bool { return d.guard == nil || d.guard.Check().Approved }

// stands reports whether a hook's definition can take the place of another of
// its name: one that cannot run can't, or it would switch that one off. One that
// switches itself off can.
func (e *entry) stands() bool {
	return e.state == hook.StateReady || e.state == hook.StateDisabled && !e.gated
}

// rival is a place among the hook folders of one name that can run, the nearest
// first: those of a later scope, of a folder that was named later, and in one
// folder those before it. The first of them that may run now is meant.
type rival struct {
	group []*definition
	at    int
}

// findRivals finds the hook folders that share their names. Nothing takes a
// managed one's place, and packages have names of their own.
func findRivals(definitions []*definition, standing map[*definition]bool) (map[*definition]rival, []hook.Diagnostic) {
	named, order := make(map[string][]*definition), make(map[string]int)
	for _, d := range definitions {
		if _, ok := order[d.scope.Dir]; !ok {
			order[d.scope.Dir] = len(order)
		}
		if name := d.scope.Package + "\x00" + d.hooks[0].Name; d.config == nil && standing[d] && d.scope.Scope != hook.ScopeManaged {
			named[name] = append(named[name], d)
		}
	}
	rivals := make(map[*definition]rival)
	for _, group := range named {
		slices.SortStableFunc(group, func(a, b *definition) int {
			return cmp.Or(cmp.Compare(b.scope.Scope, a.scope.Scope), cmp.Compare(order[b.scope.Dir], order[a.scope.Dir]))
		})
		for i, d := range group {
			rivals[d] = rival{group, i}
		}
	}
	var notes []hook.Diagnostic
	for _, far := range definitions {
		if r := rivals[far]; r.at > 0 {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "shadowed", Hook: far.hooks[0].ID, Path: far.path,
				Message: fmt.Sprintf("another hook is named %q too: %s", far.hooks[0].Name, r.group[0].path), Hint: "rename one of them if both are wanted"})
		}
	}
	return rivals, notes
}

// leaders remembers, for one look at all hooks, which of some rivals is the
// first that is approved, by the nearest of them.
type leaders map[*definition]int

// shadower is a nearer definition of the same name, if one may run now: one
// that nobody approved switches nothing off.
func (l *leaders) shadower(r rival) *definition {
	if r.at == 0 {
		return nil
	}
	first, ok := (*l)[r.group[0]]
	if !ok {
		if *l == nil {
			*l = make(leaders)
		}
		first = slices.IndexFunc(r.group, (*definition).approved)
		(*l)[r.group[0]] = first
	}
	if first < 0 || first >= r.at {
		return nil
	}
	return r.group[first]
}

// standing is the state of a loaded hook as of now, approval and names included.
func (e *entry) standing(seen *leaders) (state hook.State, why string, verdict trust.Verdict) {
	if e.state != hook.StateReady || e.definition == nil {
		return e.state, e.why, verdict
	}
	if near := seen.shadower(e.rival); near != nil {
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
