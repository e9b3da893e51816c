package selection

import (
	"fmt"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/trust"
)

// overriders finds, for each hook of the --dir folders, the hooks that may take
// its place, the nearest first: those of the same name in a folder that was named
// later, which listen to all that it listens to. Nothing else overrides: a hook of
// a farther scope always runs beside the nearer ones.
func overriders(entries []*Entry) (map[*Entry][]*Entry, []hook.Diagnostic) {
	named := make(map[string][]*Entry)
	for _, e := range entries {
		if e.Definition.Config == nil && e.Hook.Scope == hook.ScopeDir {
			named[e.Hook.Name] = append(named[e.Hook.Name], e)
		}
	}
	over := make(map[*Entry][]*Entry)
	var notes []hook.Diagnostic
	for _, far := range entries {
		if far.Hook.Scope != hook.ScopeDir {
			continue
		}
		for _, near := range slices.Backward(named[far.Hook.Name]) {
			if near.Definition.Scope.Dir == far.Definition.Scope.Dir {
				break
			}
			if near.overrides(far) {
				over[far] = append(over[far], near)
			}
		}
		if len(over[far]) > 0 {
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "shadowed", Hook: far.Hook.ID, Path: far.Hook.Source.Path,
				Message: fmt.Sprintf("another hook is named %q too: %s", far.Hook.Name, over[far][0].Hook.Source.Path), Hint: "rename one of them if both are wanted"})
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
func (e *Entry) overrides(far *Entry) bool {
	near, was := e.Hook, far.Hook
	return e.State == hook.StateReady && e.Event == far.Event && !asksMore(near) &&
		(near.Matcher == "" || near.Matcher == was.Matcher && near.Syntax == was.Syntax) &&
		(len(near.If) == 0 || slices.Equal(near.If, was.If)) &&
		(!Background(near) || Background(was)) && (!near.Once || was.Once)
}

// standing is the state of a loaded hook as of now, approval and names included.
func (e *Entry) standing(from *Caller) (state hook.State, why string, verdict trust.Verdict) {
	if e.State != hook.StateReady || e.Definition == nil {
		return e.State, e.Why, verdict
	}
	if verdict = e.Definition.Check(from.Environ()); !verdict.Approved {
		return hook.StateUntrusted, verdict.Why, verdict
	}
	return hook.StateReady, "", verdict
}

// Sealed returns the hook to run: a hook that needed an approval runs from a copy
// of what was approved, whatever is in its folder now.
func (r *Hooks) Sealed(e *Entry, seal *trust.Seal) (*hook.Hook, error) {
	if seal == nil || e.Definition.InPlugin() { // a plugin's handler makes a copy of its own
		return e.Hook, nil
	}
	dir, err := r.Snapshots.Dir(seal)
	if err != nil || dir == "" {
		return e.Hook, err
	}
	if last := e.sealed.Load(); last != nil && last.Source.Dir == dir {
		return last, nil // handlers remember hooks by their pointers
	}
	h := *e.Hook
	h.Source.Dir = dir
	e.sealed.Store(&h)
	return &h, nil
}
