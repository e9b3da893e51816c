package plugins

import (
	"fmt"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Check says what would keep a hook's plugin from running it: a plugin that is
// missing or was not approved, a name that it does not have. It starts nothing.
func (h *Host) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	about := func(p *Problem, s hook.Severity) []hook.Diagnostic {
		return []hook.Diagnostic{{Severity: s, Code: p.Code, Hook: hk.ID, Path: hk.Source.Path, Line: hk.Source.Line,
			Message: p.failure().Reason, Hint: p.Hint}}
	}
	u, want, p := h.approved(hk, c.ProjectDir)
	if p != nil {
		return about(p, hook.SeverityError)
	}
	if _, p := enforced(want.box); p != nil {
		return about(p, hook.SeverityError)
	}
	d, p := h.recall(u.path, want.digest)
	if p != nil {
		return about(p, hook.SeverityWarning)
	}
	var names []string
	for _, one := range d.GetHooks() {
		if one.GetEvent() == string(hk.Event) {
			if one.GetName() == nameOf(hk) {
				return nil
			}
			names = append(names, one.GetName())
		}
	}
	missing := &Problem{Code: CodeHook, Path: u.path, Reason: fmt.Sprintf("it has no hook %q for %s", nameOf(hk), hk.Event)}
	if len(names) > 0 {
		missing.Hint = "it has: " + strings.Join(names, ", ")
	}
	return about(missing, hook.SeverityError)
}
