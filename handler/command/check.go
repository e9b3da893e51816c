package command

import (
	"fmt"
	"os"

	"github.com/tenterhook/tenterhook/hook"
)

// Check says what would keep the hook's command from starting.
func (h *Handler) Check(hk *hook.Hook) []hook.Diagnostic {
	if hk.Command == nil || hk.Command.Line == "" {
		return nil // its definition says so
	}
	c := &hook.Call{Hook: hk}
	env := h.environ(c)
	p, failed := makePlan(hk, workDir(c, &env), &env)
	if failed == nil && !p.shell {
		failed = startable(p.path)
	}
	if failed == nil {
		return nil
	}
	return []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "cannot_start", Hook: hk.ID,
		Path: hk.Source.Path, Line: hk.Source.Line, Message: failed.Reason, Hint: failed.Hint}}
}

func startable(path string) *hook.Error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " does not exist", Hint: "create it, or correct the command"}
	case info.IsDir():
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " is a directory", Hint: "name the program in it"}
	}
	if _, ok := executable(path, &environ{}); !ok {
		return &hook.Error{Failure: hook.FailureStart, Reason: path + " may not be executed", Hint: fmt.Sprintf("chmod +x %s", path)}
	}
	return nil
}
