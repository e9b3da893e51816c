package registry

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/trust"
)

// openTrust opens the stores of approvals. A store that cannot be relied on
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
	r.pauses = pause.Open(dir)
	if err := r.pauses.Err(); err != nil {
		r.storeNotes = append(r.storeNotes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "disabled_list", Path: dir,
			Message: "no hook is disabled, since the list cannot be relied on: " + err.Error(), Hint: "remove the file, and disable hooks again"})
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

// needApproval guards a definition that comes with a workspace or a package. That
// of a pack is approved by the digest that the settings name.
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
	d.subject = &trust.Subject{ID: d.hooks[0].ID, Root: root, Workspace: r.opts.Workspace, Path: d.path, Definition: bound}
	d.env = r.env
	if d.described { // the lock file pins its bytes at each start too
		d.subject.Files = []string{d.path}
	} else if d.config == nil { // the hook of a config file has no folder of its own
		d.subject.Dir = d.hooks[0].Source.Dir
	}
	if d.content != nil {
		d.guard = trust.NewContentGuard(*d.subject, d.content)
		return
	}
	d.guard = trust.NewGuard(*d.subject, r.stores...)
}

// program is what the definition's command comes to for a caller with env, nil =
// the registry's own: what its approval has to bind. A hook of a folder will run
// from a copy of it, so that is what its words are relative to.
func (d *definition) program(env []string) hook.Program {
	h := d.hooks[0] // all of them run the same
	if h.Command == nil || h.Command.Line == "" {
		return hook.Program{}
	}
	if env == nil {
		env = d.env
	}
	at := resolve.Place{Project: d.subject.Workspace}
	if d.subject.Dir != "" {
		moved := *h
		moved.Source.Dir, at.Bytes = resolve.Copy, h.Source.Dir
		h = &moved
	}
	environ := resolve.NewEnviron(h, env, at.Project)
	p, _ := resolve.Command(h, &environ, at) // what cannot start has files all the same
	return p
}

// check is the verdict on the definition, as of now. A definition that needs no
// approval is approved.
func (d *definition) check(env []string) trust.Verdict {
	if d == nil || d.guard == nil {
		return trust.Verdict{Approved: true}
	}
	return d.guard.Check(func() hook.Program { return d.program(env) })
}

// verify returns what keeps a program of the definition from being started, or
// nil where the definition needs no approval.
func (d *definition) verify() func(*hook.Program) error {
	if d == nil || d.guard == nil {
		return nil
	}
	return func(p *hook.Program) error {
		v := d.guard.Check(func() hook.Program { return *p })
		if v.Approved {
			return nil
		}
		return &hook.Error{Failure: hook.FailureUntrusted, Reason: v.Why, Hint: v.Hint}
	}
}

// overriders finds, for each hook of the --dir folders, the hooks that may take
// its place, the nearest first: those of the same name in a folder that was named
// later, which listen to all that it listens to. Nothing else overrides: a hook of
// a farther scope always runs beside the nearer ones.
func overriders(entries []*entry) (map[*entry][]*entry, []hook.Diagnostic) {
	named := make(map[string][]*entry)
	for _, e := range entries {
		if e.definition.config == nil && e.hook.Scope == hook.ScopeDir {
			named[e.hook.Name] = append(named[e.hook.Name], e)
		}
	}
	over := make(map[*entry][]*entry)
	var notes []hook.Diagnostic
	for _, far := range entries {
		if far.hook.Scope != hook.ScopeDir {
			continue
		}
		for _, near := range slices.Backward(named[far.hook.Name]) {
			if near.definition.scope.Dir == far.definition.scope.Dir {
				break
			}
			if near.overrides(far) {
				over[far] = append(over[far], near)
			}
		}
		if len(over[far]) > 0 {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "shadowed", Hook: far.hook.ID, Path: far.hook.Source.Path,
				Message: fmt.Sprintf("another hook is named %q too: %s", far.hook.Name, over[far][0].hook.Source.Path), Hint: "rename one of them if both are wanted"})
		}
	}
	return over, notes
}

// asksMore reports whether a hook has conditions beside its matcher and `if`.
func asksMore(h *hook.Hook) bool {
	declared := h.Declared()
	return declared != nil && declared.Narrows()
}

// overrides reports whether e, of a folder named later, takes the place of far:
// it is asked about everything that far is asked about.
func (e *entry) overrides(far *entry) bool {
	near, was := e.hook, far.hook
	return e.state == hook.StateReady && e.event == far.event && !asksMore(near) &&
		(near.Matcher == "" || near.Matcher == was.Matcher && near.Syntax == was.Syntax) &&
		(len(near.If) == 0 || slices.Equal(near.If, was.If)) &&
		(!background(near) || background(was)) && (!near.Once || was.Once)
}

// standing is the state of a loaded hook as of now, approval and names included.
func (e *entry) standing(from *Caller) (state hook.State, why string, verdict trust.Verdict) {
	if e.state != hook.StateReady || e.definition == nil {
		return e.state, e.why, verdict
	}
	if verdict = e.definition.check(from.env()); !verdict.Approved {
		return hook.StateUntrusted, verdict.Why, verdict
	}
	return hook.StateReady, "", verdict
}

// sealed returns the hook to run: a hook that needed an approval runs from a copy
// of what was approved, whatever is in its folder now.
func (r *Registry) sealed(e *entry, seal *trust.Seal) (*hook.Hook, error) {
	if seal == nil {
		return e.hook, nil
	}
	dir, err := r.snapshots.Dir(seal)
	if err != nil || dir == "" {
		return e.hook, err
	}
	if last := e.sealed.Load(); last != nil && last.Source.Dir == dir {
		return last, nil // handlers remember hooks by their pointers
	}
	h := *e.hook
	h.Source.Dir = dir
	e.sealed.Store(&h)
	return &h, nil
}

// Folder returns the folder that a hook of [Registry.List] runs from: its own, or
// for a hook that needed an approval the copy of what was approved. It is "" for a
// hook without a folder, such as one of a config file. The error says that the
// hook is not approved.
func (r *Registry) Folder(h *hook.Hook) (string, error) {
	for _, e := range r.entries() {
		if e.hook != h || e.definition == nil || e.definition.config != nil {
			continue
		}
		if e.state == hook.StateUntrusted {
			return "", &hook.Error{Failure: hook.FailureUntrusted, Reason: e.why}
		}
		verdict := e.definition.check(nil)
		if !verdict.Approved {
			return "", &hook.Error{Failure: hook.FailureUntrusted, Reason: verdict.Why, Hint: verdict.Hint}
		}
		sealed, err := r.sealed(e, verdict.Seal)
		if err != nil {
			return "", err
		}
		return sealed.Source.Dir, nil
	}
	return "", nil
}

// Subject is a definition that runs only with an approval.
type Subject struct {
	Hooks   []*hook.Hook
	Verdict trust.Verdict // with what changed since it was approved

	subject trust.Subject
}

// Seal reads the definition's files, to be shown and approved.
func (s *Subject) Seal() (*trust.Seal, error) { return s.subject.Seal() }

// Root is the directory of the workspace or the package that it comes with.
func (s *Subject) Root() string { return s.subject.Root }

// Key is what its approval is kept by.
func (s *Subject) Key() (trust.Key, error) { return s.subject.Key() }

// Subjects lists the definitions that need an approval, in order.
func (r *Registry) Subjects() []Subject {
	var list []Subject
	for _, d := range r.snap.Load().definitions {
		if d.subject != nil && d.content == nil {
			list = append(list, Subject{Hooks: d.hooks, Verdict: d.check(nil), subject: d.subject.With(d.program(nil))})
		}
	}
	return list
}

// Approvals is the store that approvals are kept in.
func (r *Registry) Approvals() *trust.Store { return r.stores[0] }
