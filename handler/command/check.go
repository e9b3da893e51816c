package command

import (
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/resolve"
)

// Check says what would keep the hook's command from starting, or from being
// understood.
func (h *Handler) Check(hk *hook.Hook) []hook.Diagnostic {
	if hk.Command == nil || hk.Command.Line == "" {
		return nil // its definition says so
	}
	c := &hook.Call{Hook: hk}
	env := h.environ(c)
	p, failed := resolved(c, &env)
	if failed == nil && !p.Shell {
		failed = startable(p.Path)
	}
	var found []hook.Diagnostic
	warn := func(code, message, hint string) {
		found = append(found, hook.Diagnostic{Severity: hook.SeverityWarning, Code: code, Hook: hk.ID,
			Path: hk.Source.Path, Line: hk.Source.Line, Message: message, Hint: hint})
	}
	if failed != nil {
		warn("cannot_start", failed.Reason, failed.Hint)
	}
	if hk.Command.Worker && hk.AsyncRewake {
		warn("worker_cannot_wake", "a worker has no exit code, so that it can never wake the agent",
			"remove worker, or async_rewake")
	}
	return found
}

func startable(path string) *hook.Error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " does not exist", Hint: "create it, or correct the command"}
	case info.IsDir():
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " is a directory", Hint: "name the program in it"}
	}
	if !resolve.Executable(path) {
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " may not be executed", Hint: fmt.Sprintf("chmod +x %s", path)}
	}
	return nil
}
