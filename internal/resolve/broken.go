package resolve

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/tenterhook/tenterhook/hook"
)

// Inspect returns what keeps a file from being started, or from being read as a
// script by an interpreter; nil = nothing.
type Inspect func(path string, script bool) *hook.Error

// Broken returns why a command certainly does nothing: what it starts first cannot
// be started, and nothing else of it runs then. nil stands for everything that is
// not certain, such as a line that copes with the failure.
func Broken(h *hook.Hook, p *hook.Program, e *Environ, inspect Inspect) *hook.Error {
	s := &starter{env: e, inspect: inspect, dir: p.Dir, vars: map[string]*string{}, functions: map[string]bool{}, failure: new(*hook.Error)}
	if failed := inspect(p.Path, false); failed != nil {
		return failed
	}
	end := unsure
	if !p.Shell {
		end = s.arguments(p.Path, p.Argv)
	} else if e.prefix == "" {
		end = s.script(h.Command.Line, filepath.Base(p.Path))
	}
	if end == breaks || end == turned {
		return *s.failure
	}
	return nil
}

// ending is what is certain of a part of a shell's text.
type ending uint8

const (
	unsure ending = iota // it runs something, or may
	passes               // it runs nothing and succeeds
	goesOn               // it runs nothing that matters, and may succeed
	breaks               // it can run nothing, and fails
	turned               // it can run nothing, and succeeds
)

// starter follows a shell's text to the first program that it starts.
type starter struct {
	env       *Environ
	inspect   Inspect
	dir       string
	vars      map[string]*string // that the text sets; nil = to something unknown
	functions map[string]bool
	errexit   bool
	bash      bool // the text is read by a shell that knows more than POSIX
	zsh       bool // which splits no variables
	depth     int
	failure   **hook.Error // the last one, shared with subshells
}

func (s *starter) fails(e *hook.Error) ending {
	*s.failure = e
	return breaks
}

// subshell is a copy whose changes stay in it.
func (s *starter) subshell() *starter {
	c := *s
	c.vars, c.functions = maps.Clone(s.vars), maps.Clone(s.functions)
	return &c
}

func (s *starter) script(line, shell string) ending {
	if s.depth++; s.depth > maxNested || len(line) > maxLine || !shellName(shell) || strings.ContainsAny(line, "\r\x00") {
		return unsure
	}
	variant := syntax.LangPOSIX
	s.zsh = shell == "zsh"
	if s.bash = shell == "bash" || shell == "zsh" || shell == "ksh"; s.bash {
		variant = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(line), "")
	if err != nil {
		return unsure
	}
	return s.statements(file.Stmts)
}

func (s *starter) statements(list []*syntax.Stmt) ending {
	for i, stmt := range list {
		switch end := s.statement(stmt); {
		case end == passes, end == goesOn && !s.errexit:
		case i == len(list)-1, end == breaks && s.errexit:
			return end
		default:
			return unsure
		}
	}
	return passes
}

func (s *starter) statement(stmt *syntax.Stmt) ending {
	for _, r := range stmt.Redirs {
		if words, ok := s.words([]*syntax.Word{r.Word}); r.Op == syntax.RdrIn && ok && len(words) == 1 {
			if failed := s.inspect(s.path(words[0]), true); failed != nil {
				return s.fails(failed)
			}
		}
	}
	end := s.command(stmt.Cmd)
	if (end == passes || end == goesOn) && len(stmt.Redirs) > 0 {
		return unsure // it writes a file, or moves what the others write
	}
	switch {
	case stmt.Background || stmt.Coprocess || stmt.Disown:
		if end == breaks || end == turned {
			return turned
		}
		return unsure
	case stmt.Negated && end == breaks:
		return turned
	case stmt.Negated && end == turned:
		return breaks
	case stmt.Negated:
		return unsure
	}
	return end
}

func (s *starter) command(cmd syntax.Command) ending {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return s.call(c)
	case *syntax.BinaryCmd:
		return s.list(c)
	case *syntax.Subshell:
		return s.subshell().statements(c.Stmts)
	case *syntax.Block:
		return s.statements(c.Stmts)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return s.statement(c.Stmt)
		}
	case *syntax.FuncDecl:
		s.functions[c.Name.Value] = true
		return passes
	case *syntax.DeclClause:
		return s.assign(c.Args)
	case *syntax.IfClause:
		switch end := s.condition(c.Cond); {
		case end == passes:
			return s.statements(c.Then)
		case end == breaks && c.Else == nil:
			return turned
		}
	case *syntax.WhileClause:
		if end := s.condition(c.Cond); end == breaks && !c.Until || end == turned && c.Until {
			return turned
		}
	}
	return unsure
}

// condition is a list whose failure ends no shell.
func (s *starter) condition(list []*syntax.Stmt) ending {
	errexit := s.errexit
	s.errexit = false
	end := s.statements(list)
	s.errexit = errexit || s.errexit
	return end
}

func (s *starter) list(c *syntax.BinaryCmd) ending {
	switch c.Op {
	case syntax.AndStmt:
		switch end := s.statement(c.X); end {
		case passes:
			return s.statement(c.Y)
		case breaks:
			return breaks
		}
	case syntax.OrStmt:
		if end := s.statement(c.X); end == passes || end == turned {
			return end
		}
	case syntax.Pipe, syntax.PipeAll:
		x, y := s.subshell().statement(c.X), s.subshell().statement(c.Y)
		xBroken := x == breaks || x == turned
		switch {
		case y == breaks && (xBroken || s.harmless(c.X)):
			return breaks
		case xBroken && (y == turned || s.harmless(c.Y)):
			return turned
		}
	}
	return unsure
}

// harmless reports whether a part of a pipeline is a filter, which does nothing
// without what it reads or without whoever reads it.
func (s *starter) harmless(stmt *syntax.Stmt) bool {
	c, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	name := c.Args[0].Lit()
	return slices.Contains(inert, name) && name != "tee" && name != "logger" && name != "notify-send" && name != "touch" && !strings.HasPrefix(name, "rm") && name != "mkdir" ||
		name == "echo" || name == "printf"
}

func (s *starter) call(c *syntax.CallExpr) ending {
	argv, all := s.words(c.Args) // before the assignments, as a shell does
	end := s.assign(c.Assigns)
	switch {
	case end == unsure || len(c.Args) == 0:
		return end
	case len(argv) == 0, s.functions[argv[0]]:
		return unsure
	case argv[0] == "time": // a keyword, a program, or neither
		if rest := behind("time", argv[1:]); len(rest) > 0 {
			return s.program(rest)
		}
		return unsure
	}
	for _, a := range c.Assigns {
		s.vars[a.Name.Value] = nil // some builtins keep them
	}
	if slices.Contains(builtins, argv[0]) {
		return s.builtin(argv, all)
	}
	return s.program(argv)
}

// assign notes variables. One that decides how programs are found makes all that
// follows unsure.
func (s *starter) assign(list []*syntax.Assign) ending {
	end := passes
	for _, a := range list {
		if a.Name == nil || slices.Contains([]string{"PATH", "CDPATH", "IFS"}, a.Name.Value) {
			return unsure
		}
		s.vars[a.Name.Value] = nil
		if a.Value == nil {
			continue
		}
		if value, ok := PlainWord(a.Value, s.get); ok && !a.Append && a.Index == nil {
			s.vars[a.Name.Value] = &value
		} else {
			end = goesOn
		}
	}
	return end
}

// get returns a variable, "" for one that is not known.
func (s *starter) get(name string) string {
	if value, set := s.vars[name]; set {
		if value == nil {
			return ""
		}
		return *value
	}
	switch {
	case name == "IFS":
		return " \t\n"
	case name == "PWD":
		return s.dir
	case slices.Contains(shellVariables, name):
		return ""
	}
	return s.env.Get(name)
}

// words returns what words come to, up to the first that is not certain.
func (s *starter) words(list []*syntax.Word) (argv []string, all bool) {
	config := &expand.Config{Env: expand.FuncEnviron(s.get), NoUnset: true}
	for _, w := range list {
		if w == nil {
			return argv, false
		}
		fields, err := expand.Fields(config, w)
		if err != nil || s.zsh && len(fields) != 1 || slices.ContainsFunc(fields, func(f string) bool { return strings.ContainsAny(f, "*?[{") }) {
			return argv, false
		}
		argv = append(argv, fields...)
	}
	return argv, true
}

func (s *starter) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// builtin follows the commands of a shell that are known to start nothing, and
// those that run their arguments.
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

// sourced follows a text that the shell reads from a file: one that is not there.
func (s *starter) sourced(name string) ending {
	if !isPath(name) {
		if _, found := s.onPath(name); found || s.env.relativePath() || s.env.Get("PATH") == "" {
			return unsure
		}
		if _, err := os.Stat(s.path(name)); err == nil {
			return unsure // bash looks there as well
		}
	}
	if failed := s.inspect(s.path(name), true); failed != nil {
		return s.fails(failed)
	}
	return unsure
}

// onPath finds a file on PATH that need not be executable.
func (s *starter) onPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(s.env.Get("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
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
	name, args := filepath.Base(argv[0]), argv[1:]
	lang := languageOf(name)
	if lang == nil {
		if end, err := filepath.EvalSymlinks(path); err == nil {
			lang = languageOf(filepath.Base(end))
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
			if _, found := s.onPath(arg); found || s.env.relativePath() {
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
		Hint: fmt.Sprintf("install it, or write ./%s if it lies in the hook's folder", name)}
}
