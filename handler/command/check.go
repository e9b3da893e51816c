package command

import (
	"path/filepath"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/process"
	"github.com/tenterhook/tenterhook/internal/resolve"
)

// Check says what would keep the hook's command from starting, or from being
// understood.
func (h *Handler) Check(c *hook.Call) []hook.Diagnostic {
	hk := c.Hook
	if hk.Command == nil || hk.Command.Line == "" {
		return nil // its definition says so
	}
	env := h.environ(c)
	p, failed := resolved(c, &env)
	if failed == nil {
		failed = startable(hk, &p, &env)
	}
	var found []hook.Diagnostic
	note := func(sev hook.Severity, code, message, hint string) {
		found = append(found, hook.Diagnostic{Severity: sev, Code: code, Hook: hk.ID,
			Path: hk.Source.Path, Line: hk.Source.Line, Message: message, Hint: hint})
	}
	if failed == nil {
		_, failed = contained(c, &env, &p)
	}
	if failed != nil {
		note(hook.SeverityError, "cannot_start", failed.Reason, failed.Hint)
	}
	if hk.Command.Worker && hk.AsyncRewake {
		note(hook.SeverityWarning, "worker_cannot_wake", "a worker has no exit code, so that it can never wake the agent",
			"remove worker, or async_rewake")
	}
	return found
}

// startable returns what certainly keeps the command from running anything: its
// program, or the first of its shell line, or the script of an interpreter.
func startable(h *hook.Hook, p *hook.Program, env *resolve.Environ) *hook.Error {
	return resolve.Broken(h, p, env, func(path string, script bool) *hook.Error {
		d, ok := process.Inspect(filepath.Clean(path), env.List())
		switch {
		case !ok:
			return nil
		case script && d.Cause != process.CauseNotFound:
			return nil
		case d.Cause == process.CauseFormat && (h.Command.Args == nil || path != p.Path):
			return nil // a script without a first line is one for the shell, and for what runs others
		}
		return diagnosed(d)
	})
}
