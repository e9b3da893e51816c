package model

import (
	"github.com/tenterhook/tenterhook/hook"
)

// Check says what would keep the hook from getting an answer. Nothing is asked.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	note := func(sev hook.Severity, code, message, hint string) hook.Diagnostic {
		return hook.Diagnostic{Severity: sev, Code: code, Hook: hk.ID, Path: hk.Source.Path, Line: hk.Source.Line, Message: message, Hint: hint}
	}
	d, failed := h.declared(hk)
	if failed != nil {
		return []hook.Diagnostic{note(hook.SeverityError, "bad_prompt", failed.Reason, failed.Hint)}
	}
	var ds []hook.Diagnostic
	if !d.schema.asksOK {
		ds = append(ds, note(hook.SeverityWarning, "schema_without_ok", "its schema has no key ok, which is the verdict", `add "ok": {"type": "boolean"} to the schema's properties`))
	}
	if hk.Kind.Info().Turns && h.opts.Agent != nil {
		return ds
	}
	b := h.current.Load()
	failed = b.failed
	if failed == nil {
		_, failed = b.modelFor(d.model)
	}
	if failed != nil {
		ds = append(ds, note(hook.SeverityError, "no_model", failed.Reason, failed.Hint))
	}
	return ds
}
