package resolve

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxNested is how many shells deep a text is read.
const maxNested = 4

// shellName reports whether a program is a shell that reads as POSIX has it.
func shellName(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, programName(name))
}

// script reads a shell's text.
func (l *locator) script(line, shell string, depth int) {
	if depth > maxNested || len(line) > maxLine || strings.ContainsAny(line, "\r\x00") || strings.Contains(line, "\\\n") {
		l.unbound("its shell text is not read: too long, too deep, or lines that are continued")
		return
	}
	variant := syntax.LangBash
	if shell == "" || shell == "sh" || shell == "dash" || shell == "ash" {
		variant = syntax.LangPOSIX
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(line), "")
	if err != nil {
		l.unbound("its shell text cannot be read")
		return
	}
	l.statements(file.Stmts, depth)
}

func (l *locator) statements(list []*syntax.Stmt, depth int) {
	for _, s := range list {
		l.statement(s, depth)
	}
}

func (l *locator) statement(s *syntax.Stmt, depth int) {
	if s.Background || s.Coprocess || s.Disown {
		l.unbound("a part of it runs on in the background")
	}
	for _, r := range s.Redirs {
		l.redirect(r)
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		l.call(c, depth)
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && c.Op != syntax.Pipe {
			l.unbound(show(c.Op.String()) + " is not read")
		}
		l.statement(c.X, depth)
		l.statement(c.Y, depth)
	case *syntax.Subshell:
		l.statements(c.Stmts, depth)
	case *syntax.Block:
		l.statements(c.Stmts, depth)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			l.statements(c.Cond, depth)
			l.statements(c.Then, depth)
		}
	default:
		l.unbound("it holds more than simple commands")
	}
}

// call reads a simple command: assignments, a program, its arguments.
func (l *locator) call(c *syntax.CallExpr, depth int) {
	for _, a := range c.Assigns {
		value, ok := "", a.Value == nil
		if !ok {
			value, ok = PlainWord(a.Value, l.env.Get)
		}
		if !ok || a.Name == nil || a.Append || a.Naked || a.Index != nil || a.Array != nil {
			l.unbound("a value is put together while it runs")
			continue
		}
		if len(c.Args) == 0 {
			l.unbound("the variable " + show(a.Name.Value) + " changes what its words mean")
		}
		l.variable(a.Name.Value, value)
	}
	var argv []string
	for _, w := range c.Args {
		word, ok := PlainWord(w, l.env.Get)
		if !ok {
			l.unbound("a word is put together while it runs")
			return
		}
		argv = append(argv, word)
	}
	if len(argv) > 0 {
		l.command(argv, true, depth)
	}
}

// redirect reads where a command's input comes from and its output goes.
func (l *locator) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		l.unbound("a redirection sets a variable")
	}
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		if !literal(r.Word) || r.Hdoc != nil && !literal(r.Hdoc) {
			l.unbound("a here-document is put together while it runs")
		}
		return
	}
	word, ok := PlainWord(r.Word, l.env.Get)
	switch {
	case !ok:
		l.unbound("a redirection is put together while it runs")
	case r.Op == syntax.RdrIn:
		l.argument(word, reads)
	case r.Op == syntax.RdrOut, r.Op == syntax.AppOut, r.Op == syntax.RdrClob:
		l.output(word)
	case (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && (word == "-" || word != "" && strings.Trim(word, "0123456789") == ""):
	default:
		l.unbound("the redirection " + show(r.Op.String()) + " is not read")
	}
}

// literal reports whether a word has nothing in it that a shell expands.
func literal(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.Lit:
			return false
		case *syntax.SglQuoted:
			return p.Dollar
		case *syntax.DblQuoted:
			return p.Dollar || !literal(&syntax.Word{Parts: p.Parts})
		}
		return true
	})
}

// expandsAgain reports whether a builtin could take a word for an expression,
// which shells expand once more: test -v 'a[$(…)]'.
func expandsAgain(word string) bool {
	return word != "[" && word != "]" && strings.ContainsAny(word, "[`$")
}

var setOptions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-+][efuxnvC]+|[-+][efux]*o|errexit|nounset|pipefail|noglob|xtrace|noclobber)$`)
})
