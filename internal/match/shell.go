package match

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker reads the commands off a syntax tree. It stops at the first construct
// that it is blind for, since every rule matches then.
type walker struct {
	src string
	out *reading // what the text runs
}

func (w *walker) blind(why string) {
	if w.out.blind == "" {
		w.out.blind = why
	}
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// stmt reads one statement. The words stand before its first command: time and
// coproc are part of the shell's grammar, yet the client takes them for the
// names of commands.
func (w *walker) stmt(s *syntax.Stmt, prefix ...word) {
	if s == nil || w.out.blind != "" {
		return
	}
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	switch c := s.Cmd.(type) {
	case nil:
		if len(prefix) > 0 {
			w.call(prefix)
		}
	case *syntax.CallExpr:
		w.simple(c, prefix)
	case *syntax.BinaryCmd:
		w.stmt(c.X, prefix...)
		w.stmt(c.Y)
	case *syntax.TimeClause:
		prefix = append(prefix, word{text: "time"})
		if c.PosixFormat {
			prefix = append(prefix, word{text: "-p"})
		}
		w.stmt(c.Stmt, prefix...)
	case *syntax.CoprocClause:
		w.stmt(c.Stmt, append(prefix, word{text: "coproc"})...)
	case *syntax.DeclClause:
		w.declare(c, prefix)
	default:
		if len(prefix) > 0 {
			w.blind("has time or coproc before a compound command")
			return
		}
		w.compound(s.Cmd)
	}
}

// compound reads the commands inside a compound one. The compounds that are not listed
// here are the ones for which the client runs every hook.
func (w *walker) compound(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.Subshell:
		w.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.stmts(c.Then)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond)
		w.stmts(c.Do)
	case *syntax.ForClause:
		loop, ok := c.Loop.(*syntax.WordIter)
		if !ok || c.Select {
			w.blind("has a loop that cannot be judged")
			return
		}
		for _, item := range loop.Items {
			w.expands(w.word(item))
		}
		w.stmts(c.Do)
	case *syntax.TestClause:
		syntax.Walk(c.X, func(n syntax.Node) bool {
			if n, ok := n.(*syntax.Word); ok {
				w.expands(w.word(n))
				return false
			}
			return true
		})
	case *syntax.Block:
		w.blind("has a group { … }")
	case *syntax.FuncDecl:
		w.blind("declares a function")
	case *syntax.CaseClause:
		w.blind("has a case statement")
	case *syntax.ArithmCmd, *syntax.LetClause:
		w.blind("has arithmetic")
	default:
		w.blind("has a construct that cannot be judged")
	}
}

// redirect looks for what a redirection may run. Its target is no argument.
func (w *walker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		w.blind("has a here-document")
	default:
		if w.word(r.Word).expansion != "" {
			w.blind("redirects to a file whose name is not known")
		}
	}
}

// simple reads one simple command. Assignments before it are dropped. An assignment that
// stands alone may run a command, yet makes no argument unknown.
func (w *walker) simple(c *syntax.CallExpr, prefix []word) {
	for _, a := range c.Assigns {
		if a.Array != nil || a.Index != nil {
			w.blind("assigns an array")
			return
		}
		if a.Value == nil {
			continue
		}
		if v := w.word(a.Value); len(c.Args) > 0 || v.variable {
			w.expands(v)
		}
	}
	words := append(make([]word, 0, len(prefix)+len(c.Args)), prefix...)
	for _, arg := range c.Args {
		words = append(words, w.word(arg))
	}
	if len(words) > 0 {
		w.call(words)
	}
}

// declare reads export, declare, local and their like as the commands they are.
func (w *walker) declare(c *syntax.DeclClause, prefix []word) {
	words := append(prefix, word{text: c.Variant.Value})
	for _, a := range c.Args {
		if a.Array != nil || a.Index != nil {
			w.blind("assigns an array")
			return
		}
		var v word
		if a.Value != nil {
			v = w.word(a.Value)
		}
		switch {
		case a.Name != nil && !a.Naked:
			v.text = a.Name.Value + "=" + v.text
		case a.Name != nil:
			v.text = a.Name.Value
		}
		words = append(words, v)
	}
	w.call(words)
}

// call takes one command down.
func (w *walker) call(words []word) {
	for _, v := range words {
		w.expands(v)
	}
	if w.out.blind != "" {
		return
	}
	name := words[0]
	if name.expansion != "" || strings.HasPrefix(name.text, "=") {
		w.blind("has a command whose name is not known")
		return
	}
	w.out.calls = append(w.out.calls, call{join(words), ""})
	if name.text == "xargs" && len(words) > 1 {
		w.out.calls = append(w.out.calls, call{join(words[1:]), "run by xargs"})
	}
}

// expands notes a word that may become anything.
func (w *walker) expands(v word) {
	if w.out.expansion == "" {
		w.out.expansion = v.expansion
	}
}
