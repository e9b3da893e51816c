package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/trust"
)

// openTrust opens the stores of approvals. A store that cannot be relied on
// approves nothing, and says why.
func (r *Registry) openTrust() {
	dir := r.opts.stateDir()
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

// overriders finds, for each hook of the --dir folders, the hooks that may take
// its place, the nearest first: those of the same name in a folder that was named
// later, which listen to all that it listens to. Nothing else overrides: a hook of
// a farther scope always runs beside the nearer ones.
func overriders(entries []*entry) (map[*entry][]*entry, []hook.Diagnostic) {
	named := make(map[string][]*entry)
	for _, e := range entries {
		if e.definition.Config == nil && e.hook.Scope == hook.ScopeDir {
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
			if near.definition.Scope.Dir == far.definition.Scope.Dir {
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
	if verdict = e.definition.Check(from.env()); !verdict.Approved {
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
		if e.hook != h || e.definition == nil || e.definition.Config != nil {
			continue
		}
		if e.state == hook.StateUntrusted {
			return "", &hook.Error{Failure: hook.FailureUntrusted, Reason: e.why}
		}
		verdict := e.definition.Check(nil)
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
	for _, d := range r.snap.Load().Definitions {
		if d.Subject != nil && d.Content == nil {
			list = append(list, Subject{Hooks: d.Hooks, Verdict: d.Check(nil), subject: d.Subject.With(d.Program(nil))})
		}
	}
	return list
}

// Approvals is the store that approvals are kept in.
func (r *Registry) Approvals() *trust.Store { return r.stores[0] }
