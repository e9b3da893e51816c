package command

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

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

// startable returns what keeps the program, or the script that it is to run, from
// starting. Of a shell line it judges the first command, if that is certain.
func startable(h *hook.Hook, p *hook.Program, env *resolve.Environ) *hook.Error {
	argv := p.Argv
	if p.Shell {
		if failed := inspected(p.Path, env, false); failed != nil {
			return failed
		}
		if argv = firstCommand(h.Command.Line, env); len(argv) == 0 {
			return nil
		}
	}
	program := argv[0]
	switch {
	case !p.Shell:
		program = p.Path
	case !strings.ContainsRune(program, '/'):
		program = "" // a builtin, a function, or on PATH: the shell knows
	}
	if program != "" {
		if failed := inspected(within(p.Dir, program), env, h.Command.Args != nil); failed != nil {
			return failed
		}
	}
	if len(argv) < 2 || !interprets(argv[0]) || !namesScript(argv[1]) {
		return nil
	}
	script := within(p.Dir, argv[1])
	if d, ok := process.Inspect(script, env.List()); ok && (d.Cause == process.CauseNotFound || d.Cause == process.CauseDirectory) {
		return diagnosed(d)
	}
	return nil
}

// inspected looks at a program. A script without a first line is one for the
// shell, unless the hook has no shell.
func inspected(path string, env *resolve.Environ, noShell bool) *hook.Error {
	d, ok := process.Inspect(filepath.Clean(path), env.List())
	if !ok || d.Cause == process.CauseFormat && !noShell {
		return nil
	}
	return diagnosed(d)
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// interpreters run the script that their first argument names.
var interpreters = []string{"sh", "bash", "dash", "ksh", "zsh", "python", "python2", "python3", "node", "bun", "ruby", "perl", "php", "lua"}

func interprets(program string) bool { return slices.Contains(interpreters, filepath.Base(program)) }

// namesScript reports whether an argument is a path, and no option.
func namesScript(arg string) bool {
	return !strings.HasPrefix(arg, "-") && (strings.ContainsRune(arg, '/') || filepath.Ext(arg) != "")
}

// firstCommand returns the words of the command that a shell line begins with;
// nil where they are known only to a shell, or where the line copes with a
// command that fails.
func firstCommand(line string, env *resolve.Environ) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) == 0 {
		return nil
	}
	stmt := file.Stmts[0]
	for {
		list, ok := stmt.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		if list.Op == syntax.OrStmt {
			return nil
		}
		stmt = list.X
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return nil
	}
	get := func(name string) string {
		if name == "IFS" {
			return " \t\n"
		}
		return env.Get(name)
	}
	argv, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(get), NoUnset: true}, call.Args[:min(2, len(call.Args))]...)
	if err != nil || slices.ContainsFunc(argv, func(s string) bool { return strings.ContainsAny(s, "*?[") }) {
		return nil
	}
	return argv
}
