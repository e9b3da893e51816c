package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// Place is where a command runs.
type Place struct {
	Project string // the workspace's root
	Session string // the session's working directory; "" = the workspace's root
	// Bytes is where the hook's folder is read, for a hook that is to run from a
	// copy of it that does not have to be there yet; "" = Hook.Source.Dir.
	Bytes string
}

// Command returns what the hook's command comes to. Files and Unbound are there
// although the error, a missing program for one, keeps the command from starting.
//
// A command runs in its hook's folder. A hook without one runs in the session's
// directory, or where that is gone in the workspace's root, home, or temp. One
// that needs an approval runs in the workspace's root wherever the session is,
// unless its words mean the same files in both.
func Command(h *hook.Hook, e *Environ, at Place) (hook.Program, *hook.Error) {
	dir := workDir(h, e, at)
	if h.Source.Dir != "" || !NeedsApproval(h.Scope) || at.Project == "" {
		return commandIn(h, e, at, dir)
	}
	p, failed := commandIn(h, e, at, at.Project)
	if dir == at.Project || failed != nil {
		return p, failed
	}
	moved, failed := commandIn(h, e, at, dir)
	if failed != nil || moved.Unbound != p.Unbound || !slices.Equal(moved.Files, p.Files) || moved.Path != p.Path {
		return p, nil
	}
	return moved, nil
}

// Start is Command without Files and Unbound, for a hook whose files are not asked
// for. It looks at nothing but the program.
func Start(h *hook.Hook, e *Environ, at Place) (hook.Program, *hook.Error) {
	if NeedsApproval(h.Scope) { // its files say where it runs
		return Command(h, e, at)
	}
	l := &locator{hook: h, env: e, at: at, dir: workDir(h, e, at)}
	p, failed := l.start()
	p.Dir = l.dir
	return p, failed
}

// NeedsApproval reports whether hooks of a scope run only if a person approved
// them.
func NeedsApproval(s hook.Scope) bool {
	return s == hook.ScopeProject || s == hook.ScopeLocal || s == hook.ScopePlugin
}

// workDir is the first that is there.
func workDir(h *hook.Hook, e *Environ, at Place) string {
	if h.Source.Dir != "" {
		return h.Source.Dir
	}
	for _, dir := range []string{at.Session, at.Project, e.Home()} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}

func commandIn(h *hook.Hook, e *Environ, at Place, dir string) (hook.Program, *hook.Error) {
	l := &locator{hook: h, env: e, at: at, dir: dir, files: make(map[string]bool)}
	p, failed := l.start()
	if failed == nil {
		failed = checkPlace(p.Path, dir)
	}
	l.ownVariables()
	l.written()
	p.Dir, p.Files, p.Unbound = dir, slices.Sorted(maps.Keys(l.files)), l.why
	return p, failed
}

// start finds the program, and the files on the way if they are asked for.
func (l *locator) start() (hook.Program, *hook.Error) {
	cmd := l.hook.Command
	if cmd.Args != nil {
		if failed := checkArgs(cmd, l.env); failed != nil {
			l.unbound(failed.Reason)
			return hook.Program{}, failed
		}
		argv := append(make([]string, 0, 1+len(cmd.Args)), l.env.placeholders(cmd.Line))
		for _, arg := range cmd.Args {
			argv = append(argv, l.env.placeholders(arg))
		}
		l.bind(func() { l.command(argv, false, 0) })
		return l.direct(argv)
	}
	if cmd.Shell == "" && l.env.prefix == "" {
		if argv, ok := words(cmd.Line, l.env.Get); ok {
			l.bind(func() { l.command(argv, false, 0) })
			return l.direct(argv)
		}
	}
	p, failed := ViaShell(l.hook, l.env)
	if failed == nil {
		l.bind(func() { l.shell(p.Path) })
	}
	return p, failed
}

// bind looks for files, where they are asked for.
func (l *locator) bind(look func()) {
	if l.files != nil {
		look()
	}
}

// shell binds a shell, and what its line says.
func (l *locator) shell(path string) {
	cmd := l.hook.Command
	switch {
	case slices.Contains([]string{"", "sh", "bash", "zsh"}, cmd.Shell):
		l.program(path, cmd.Shell != "")
		l.script(cmd.Line, cmd.Shell, 0)
	case filepath.IsAbs(cmd.Shell) && shellName(cmd.Shell):
		l.program(path, false)
		l.script(cmd.Line, programName(cmd.Shell), 0)
	default:
		l.unbound("the text of " + show(cmd.Shell) + " is not read")
	}
}

// ViaShell returns how the hook's command line is run by its shell.
func ViaShell(h *hook.Hook, e *Environ) (hook.Program, *hook.Error) {
	shell, remedy := e.shell(h.Command.Shell) // cmd gets its line as it stands, from internal/process
	if shell == nil {
		return hook.Program{}, &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("there is no shell %q", cmp.Or(h.Command.Shell, "sh")), Hint: remedy}
	}
	line := h.Command.Line
	if h.Command.Shell == "powershell" || h.Command.Shell == "pwsh" {
		line += powershellExit
	}
	if e.prefix != "" {
		line = e.prefix + " '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	}
	return hook.Program{Path: shell[0], Argv: append(shell[:len(shell):len(shell)], line), Shell: true}, nil
}

// powershellExit hands on the exit code of a program. PowerShell makes 1 of it,
// so that a guard's 2 would deny nothing.
const powershellExit = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }"

// direct finds the program of a command that is started without a shell.
func (l *locator) direct(argv []string) (hook.Program, *hook.Error) {
	path, ok := l.lookUp(argv[0])
	if !ok {
		return hook.Program{}, missing(argv[0])
	}
	return l.interpreted(path, argv)
}

// lookUp finds a program by the name that a command calls it.
func (l *locator) lookUp(name string) (string, bool) {
	switch {
	case filepath.IsAbs(name):
		return l.named(name), true
	case isPath(name):
		return l.named(l.dir + string(filepath.Separator) + strings.TrimPrefix(name, "./")), true
	}
	return l.env.lookPath(name)
}

// isPath reports whether a program's name says where it lies.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// contained refuses a program of the hook's folder that is a link out of its
// scope: what was reviewed there is not what would run.
func contained(h *hook.Hook, path string) *hook.Error {
	root := h.Source.Root
	if root == "" || h.Source.Dir == "" || !within(h.Source.Dir, path) {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return nil // starting it says what is wrong
	}
	for _, allowed := range []string{root, h.Source.Dir} {
		if realDir, err := filepath.EvalSymlinks(allowed); err == nil && within(realDir, real) {
			return nil
		}
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("%s is a link out of %s", path, root),
		Hint: "put the program itself there, or name its full path in the command"}
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}
