package webhook

import "github.com/tenterhook/tenterhook/hook"

// severities are what a problem means to whoever checks a hook: a refusal and a
// mistake keep it from being called.
var severities = map[level]hook.Severity{
	note: hook.SeverityWarning, warning: hook.SeverityWarning, refusal: hook.SeverityError, mistake: hook.SeverityError,
}

// Check says what would keep the hook from being called, and what is risky
// about it, under the settings of the last Configure. It connects to nothing.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	var ds []hook.Diagnostic
	for _, p := range h.policy.Load().plan(hk).problems {
		ds = append(ds, hook.Diagnostic{Severity: severities[p.level], Code: p.code, Hook: hk.ID,
			Path: hk.Source.Path, Line: hk.Source.Line, Message: p.message, Hint: p.hint})
	}
	return ds
}
