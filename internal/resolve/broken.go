package resolve

import (
	"maps"
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
		end = s.script(h.Command.Line, programName(p.Path))
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
// without what it reads or without a reader.
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

// assign notes variables. A variable that decides how programs are found makes all that
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

// get returns a variable, "" for an unknown one.
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
