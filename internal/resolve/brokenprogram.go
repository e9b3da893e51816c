package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

func (s *starter) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// builtin follows the commands of a shell that are known to start nothing, and
// commands that run their arguments.
func (s *starter) builtin(argv []string, all bool) ending {
	switch name, args := argv[0], argv[1:]; {
	case name == ":" || name == "true" || name == "umask":
		return passes
	case name == "set" && all && !slices.ContainsFunc(args, func(a string) bool { return !setOptions().MatchString(a) }):
		s.errexit = s.errexit || slices.ContainsFunc(args, func(a string) bool { return a == "errexit" || a[0] == '-' && strings.ContainsRune(a, 'e') })
		return passes
	case name == "exec" && all && len(args) == 0:
		return passes
	case (name == "exec" || name == "command") && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		if name == "command" && slices.Contains(builtins, args[0]) {
			return s.builtin(args, all)
		}
		return s.program(args)
	case (name == "." || name == "source") && len(args) > 0:
		return s.sourced(args[0])
	case name == "eval" && all && len(args) > 0:
		shell := "sh"
		if s.bash {
			shell = "bash"
		}
		return s.script(strings.Join(args, " "), shell)
	case name == "cd" && all && len(args) == 1 && !strings.HasPrefix(args[0], "-") && s.get("CDPATH") == "":
		dir := s.path(args[0])
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return s.fails(&hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("%s: it is no folder", dir), Hint: "check the path of cd"})
		}
		s.dir = dir
		return passes
	case (name == "export" || name == "readonly") && all && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }):
		for _, a := range args {
			key, value, valued := strings.Cut(a, "=")
			if key == "PATH" || key == "CDPATH" || key == "IFS" {
				return unsure
			}
			if valued {
				s.vars[key] = &value
			}
		}
		return passes
	}
	return unsure
}

// sourced follows a text that the shell reads from a file: a missing file.
func (s *starter) sourced(name string) ending {
	if !isPath(name) {
		if s.onPath(name) || s.env.relativePath() || s.env.Get("PATH") == "" {
			return unsure
		}
		if _, err := os.Stat(s.path(name)); err == nil {
			return unsure // bash looks there too
		}
	}
	if failed := s.inspect(s.path(name), true); failed != nil {
		return s.fails(failed)
	}
	return unsure
}

// onPath reports whether a file is on PATH, which does not have to be executable.
func (s *starter) onPath(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(s.env.Get("PATH")), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && !info.IsDir()
	})
}

// program judges a program and, if it runs another one or a script, that.
func (s *starter) program(argv []string) ending {
	path := s.path(argv[0])
	if !isPath(argv[0]) {
		if s.env.relativePath() || s.env.Get("PATH") == "" {
			return unsure
		}
		found := false
		if path, found = s.env.lookPath(argv[0]); !found {
			return s.fails(missing(argv[0]))
		}
	}
	if failed := s.inspect(path, false); failed != nil {
		return s.fails(failed)
	}
	return s.arguments(path, argv)
}

func (s *starter) arguments(path string, argv []string) ending {
	name, args := programName(argv[0]), argv[1:]
	lang := languageOf(name)
	if lang == nil {
		if end, err := filepath.EvalSymlinks(path); err == nil {
			lang = languageOf(programName(end))
		}
	}
	switch {
	case lang != nil:
		return s.interpreter(lang, name, args)
	case wrappers[name] != nil:
		if rest := behind(name, args); len(rest) > 0 {
			return s.program(rest)
		}
	case (name == "bun" || name == "lua") && len(args) > 0 && !strings.HasPrefix(args[0], "-") && filepath.Ext(args[0]) != "":
		return s.scriptOf(args[0])
	}
	return unsure
}

// behind returns what a program that runs its arguments runs; nil if that is not
// certain.
func behind(name string, args []string) []string {
	for name == "env" && len(args) > 0 {
		key, _, ok := strings.Cut(args[0], "=")
		if !ok {
			break
		}
		if key == "PATH" {
			return nil
		}
		args = args[1:]
	}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch option := args[0]; {
		case name == "nice" && option == "-n", name == "timeout" && (option == "-k" || option == "-s"):
			args = args[2:]
		case name == "nice" && strings.Trim(option, "-0123456789") == "", name == "timeout" && (option == "-v" || strings.HasPrefix(option, "--")):
			args = args[1:]
		default:
			return nil
		}
	}
	if n := *wrappers[name]; len(args) > n {
		return args[n:]
	}
	return nil
}

// interpreter follows the arguments of an interpreter to its script.
func (s *starter) interpreter(lang *language, name string, args []string) ending {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case lang.flags.MatchString(arg):
		case lang.shell && (arg == "-o" || arg == "+o") && i+1 < len(args) && setOptions().MatchString(args[i+1]):
			i++
		case lang.shell && textFlag().MatchString(arg) && i+1 < len(args):
			inner := s.subshell()
			inner.errexit = strings.ContainsRune(arg, 'e')
			return inner.script(args[i+1], name)
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+") && lang.shell:
			return unsure
		case lang.shell && !isPath(arg):
			if s.onPath(arg) || s.env.relativePath() {
				return unsure
			}
			return s.scriptOf(arg)
		case lang.exists && s.thereAs(arg, ".js", ".json", ".node"):
			return unsure
		default:
			return s.scriptOf(arg)
		}
	}
	return unsure
}

// thereAs reports whether an interpreter finds a script by a longer name.
func (s *starter) thereAs(name string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool {
		_, err := os.Stat(s.path(name) + ending)
		return err == nil
	})
}

// scriptOf judges the script of an interpreter. Some take a folder for one.
func (s *starter) scriptOf(name string) ending {
	path := s.path(name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return unsure
	}
	if failed := s.inspect(path, true); failed != nil {
		return s.fails(failed)
	}
	return unsure
}

// missing says that no program of a name is there.
func missing(name string) *hook.Error {
	return &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("there is no program %q on PATH", name),
		Hint: fmt.Sprintf("install it, or write ./%s if it is in the hook's folder", name)}
}
