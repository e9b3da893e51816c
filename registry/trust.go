package registry

import (
	"errors"
	"path/filepath"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pause"
	"github.com/tenterhook/tenterhook/internal/selection"
	"github.com/tenterhook/tenterhook/trust"
)

// openTrust opens the stores of approvals. A store that cannot be relied on
// approves nothing, and says why.
func (r *Registry) openTrust(h *selection.Hooks) {
	dir := r.opts.stateDir()
	open := func(s *trust.Store, err error) {
		r.stores = append(r.stores, s)
		var p *trust.Problem
		if errors.As(err, &p) {
			h.Notes = append(h.Notes, p.Diagnostic())
		}
	}
	open(trust.Open(dir))
	for _, file := range r.opts.Approvals {
		open(trust.OpenFile(file))
	}
	h.Pauses = pause.Open(dir)
	if err := h.Pauses.Err(); err != nil {
		h.Notes = append(h.Notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "disabled_list", Path: dir,
			Message: "no hook is disabled, since the list cannot be relied on: " + err.Error(), Hint: "remove the file, and disable hooks again"})
	}
	h.Snapshots = trust.NewSnapshots(filepath.Join(dir, "snapshots"))
}

// Folder returns the folder that a hook of [Registry.List] runs from: its own, or
// for a hook that needed an approval the copy of what was approved. It is "" for a
// hook without a folder, such as one of a config file. The error says that the
// hook is not approved.
func (r *Registry) Folder(h *hook.Hook) (string, error) {
	for _, e := range r.hooks.Entries() {
		if e.Hook != h || e.Definition == nil || e.Definition.Config != nil {
			continue
		}
		if e.State == hook.StateUntrusted {
			return "", &hook.Error{Failure: hook.FailureUntrusted, Reason: e.Why}
		}
		verdict := e.Definition.Check(nil)
		if !verdict.Approved {
			return "", &hook.Error{Failure: hook.FailureUntrusted, Reason: verdict.Why, Hint: verdict.Hint}
		}
		sealed, err := r.hooks.Sealed(e, verdict.Seal)
		if err != nil {
			return "", err
		}
		return sealed.Source.Dir, nil
	}
	return "", nil
}

// Subject is a definition, or a plugin, that runs only with an approval.
type Subject struct {
	Hooks   []*hook.Hook  // none for a plugin that was not asked yet
	Plugin  bool          // one approval for the plugin and all its hooks
	Verdict trust.Verdict // with what changed since it was approved

	subject trust.Subject
}

// ID is what it is approved by: a hook's, or plugin/PACKAGE/NAME for a plugin.
func (s *Subject) ID() string { return s.subject.ID }

// Path is the file that declares it, or that of the plugin.
func (s *Subject) Path() string { return s.subject.Path }

// Seal reads the definition's files, to be shown and approved.
func (s *Subject) Seal() (*trust.Seal, error) { return s.subject.Seal() }

// Root is the directory of the workspace or the package that it comes with.
func (s *Subject) Root() string { return s.subject.Root }

// Key is what its approval is kept by.
func (s *Subject) Key() (trust.Key, error) { return s.subject.Key() }

// Subjects lists the definitions that need an approval, in order.
func (r *Registry) Subjects() []Subject {
	var list []Subject
	for _, d := range r.hooks.Snap.Load().Definitions {
		if d.Subject != nil && d.Content == nil && !d.InPlugin() {
			list = append(list, Subject{Hooks: d.Hooks, Verdict: d.Check(nil), subject: d.Subject.With(d.Program(nil))})
		}
	}
	for _, p := range r.hooks.Snap.Load().Plugins {
		list = append(list, Subject{Hooks: p.Hooks, Plugin: true, Verdict: p.Check(), subject: p.Subject})
	}
	return list
}

// Approvals is the store that approvals are kept in.
func (r *Registry) Approvals() *trust.Store { return r.stores[0] }
