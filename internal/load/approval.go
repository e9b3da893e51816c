package load

import (
	"cmp"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
	"github.com/tenterhook/tenterhook/trust"
)

// distrust keeps the hooks of a definition from running because of who could
// have written it.
func (d *Definition) distrust(problem *trust.Problem) {
	if problem == nil {
		return
	}
	d.untrusted = problem.Error()
	note := problem.Diagnostic()
	note.Hook = d.Hooks[0].ID
	d.Notes = append(d.Notes, note)
	d.refuse(d.untrusted)
}

func (d *Definition) refuse(why string) {
	for _, h := range d.Hooks {
		if cmp.Or(h.State, hook.StateReady) == hook.StateReady {
			h.State, h.Why = hook.StateUntrusted, why
		}
	}
}

// needApproval guards a definition that comes with a workspace or a package. That
// of a pack is approved by the digest that the settings name.
func (r *Reader) needApproval(d *Definition) {
	root := r.Workspace
	switch d.Scope.Scope {
	case hook.ScopePlugin:
		root = d.Scope.Dir
	case hook.ScopeProject, hook.ScopeLocal:
	default:
		return
	}
	bound, err := trust.Define(d.Hooks...)
	if err != nil {
		d.refuse(err.Error())
		return
	}
	if d.plugin != nil { // its approval binds its hooks too
		d.Subject, d.guard = &d.plugin.Subject, d.plugin.guard
		return
	}
	d.Subject = &trust.Subject{ID: d.Hooks[0].ID, Root: root, Workspace: r.Workspace, Path: d.Path, Definition: bound}
	d.env = r.Env
	if d.Config == nil { // the hook of a config file has no folder of its own
		d.Subject.Dir = d.Hooks[0].Source.Dir
	}
	if d.Content != nil {
		d.guard = trust.NewContentGuard(*d.Subject, d.Content)
		return
	}
	d.guard = trust.NewGuard(*d.Subject, r.Stores...)
}

// Program is what the definition's command comes to for a caller with env, nil =
// the registry's own: what its approval has to bind. A hook of a folder runs
// from a copy of it, so that is what its words are relative to.
func (d *Definition) Program(env []string) hook.Program {
	h := d.Hooks[0] // all of them run the same
	if h.Command == nil || h.Command.Line == "" {
		return hook.Program{}
	}
	if env == nil {
		env = d.env
	}
	at := resolve.Place{Project: d.Subject.Workspace}
	if d.Subject.Dir != "" {
		moved := *h
		moved.Source.Dir, at.Bytes = resolve.Copy, h.Source.Dir
		h = &moved
	}
	environ := resolve.NewEnviron(h, env, at.Project)
	p, _ := resolve.Command(h, &environ, at) // what cannot start has files all the same
	return p
}

// Check is the verdict on the definition, as of now. A definition that needs no
// approval is approved.
func (d *Definition) Check(env []string) trust.Verdict {
	if d == nil || d.guard == nil {
		return trust.Verdict{Approved: true}
	}
	return d.guard.Check(func() hook.Program { return d.Program(env) })
}

// Verify returns what keeps a program of the definition from being started, or
// nil where the definition needs no approval.
func (d *Definition) Verify() func(*hook.Program) error {
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

// Check is the verdict on the plugin, as of now.
func (p *Plugin) Check() trust.Verdict { return p.guard.Check(nil) }

// InPlugin reports whether the definition is what a plugin says of itself.
func (d *Definition) InPlugin() bool { return d.plugin != nil }
