package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// planTTL is how long a program that was found is taken to be where it was.
const planTTL = time.Second

// plan is how a command is started.
type plan struct {
	path  string
	argv  []string
	shell bool
}

// plans remembers what was found out for each hook.
type plans struct{ byHook sync.Map } // *hook.Hook → *remembered

type remembered struct {
	plan
	path string // the PATH that it was found on
	at   time.Time
}

// get returns the plan for a hook. What depends on the environment or on files
// is found out anew when PATH changes, and at the latest after planTTL.
func (p *plans) get(h *hook.Hook, dir string, e *environ) (plan, *hook.Error) {
	path := e.get("PATH")
	if old, ok := p.byHook.Load(h); ok {
		if r := old.(*remembered); r.path == path && time.Since(r.at) < planTTL {
			return r.plan, nil
		}
	}
	made, err := makePlan(h, dir, e)
	if err != nil {
		return plan{}, err
	}
	p.byHook.Store(h, &remembered{made, path, time.Now()})
	return made, nil
}

func (p *plans) forget(h *hook.Hook) { p.byHook.Delete(h) }

func makePlan(h *hook.Hook, dir string, e *environ) (plan, *hook.Error) {
	cmd := h.Command
	if cmd.Args != nil {
		argv := append(make([]string, 0, 1+len(cmd.Args)), e.placeholders(cmd.Line))
		for _, arg := range cmd.Args {
			argv = append(argv, e.placeholders(arg))
		}
		return direct(h, argv, dir, e)
	}
	prefix := e.get("CLAUDE_CODE_SHELL_PREFIX")
	if cmd.Shell == "" && prefix == "" {
		if argv, ok := words(cmd.Line, e.get); ok {
			return direct(h, argv, dir, e)
		}
	}
	return viaShell(cmd, prefix, e)
}

func viaShell(cmd *hook.Command, prefix string, e *environ) (plan, *hook.Error) {
	shell, remedy := e.shell(cmd.Shell)
	if shell == nil {
		return plan{}, &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("there is no shell %q", cmd.Shell), Hint: remedy}
	}
	line := cmd.Line
	if prefix != "" {
		line = prefix + " '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	}
	return plan{path: shell[0], argv: append(shell[:len(shell):len(shell)], line), shell: true}, nil
}

// direct plans a start without a shell.
func direct(h *hook.Hook, argv []string, dir string, e *environ) (plan, *hook.Error) {
	p := plan{argv: argv}
	switch name := argv[0]; {
	case filepath.IsAbs(name):
		p.path = name
	case strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator):
		p.path = filepath.Join(dir, name)
	default:
		path, ok := e.lookPath(name)
		if !ok {
			return plan{}, &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("there is no program %q on PATH", name),
				Hint: fmt.Sprintf("install it, or write ./%s if it lies in the hook's folder", name)}
		}
		p.path = path
	}
	if err := contained(h, p.path); err != nil {
		return plan{}, err
	}
	return p, nil
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
