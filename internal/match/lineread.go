package match

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts reads statements and returns what they write.
func (r *lineReader) stmts(list []*syntax.Stmt, in stream) stream {
	if len(list) == 1 {
		return r.stmt(list[0], in)
	}
	known, text := true, strings.Builder{}
	for _, s := range list {
		one := r.stmt(s, in)
		known = known && one.known && text.Len()+len(one.text) <= maxLine
		if text.Len()+len(one.text) <= maxLine {
			text.WriteString(one.text)
		}
	}
	return stream{present: true, known: known, text: text.String()}
}

func (r *lineReader) stmt(s *syntax.Stmt, in stream) stream {
	nowhere, first := false, len(r.line.files)
	for _, redir := range s.Redirs {
		from, to := r.redirect(redir)
		if from.present {
			in = from
		}
		nowhere = nowhere || to
	}
	targets := r.line.files[first:len(r.line.files):len(r.line.files)]
	if s.Cmd == nil {
		return stream{present: true, known: len(s.Redirs) == 0}
	}
	var out stream
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		out = r.simple(call, in)
	} else {
		out = r.compoundLine(s.Cmd, in)
	}
	if nowhere {
		for _, f := range targets {
			if f.write {
				r.writeTo(f.path, out.text)
			}
		}
		return stream{present: true}
	}
	return out
}

// redirect takes down the file of a redirection; from is what is read instead
// of stdin, if it is, and elsewhere says that stdout goes to a file.
func (r *lineReader) redirect(redir *syntax.Redirect) (from stream, elsewhere bool) {
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		texts := r.document(redir)
		if redir.Op == syntax.DashHdoc {
			for i, text := range texts {
				texts[i] = leadingTabs.Replace("\n" + text)[1:]
			}
		}
		return oneOf(texts, ""), false
	case syntax.WordHdoc:
		return oneOf(r.one(redir.Word), "\n"), false
	case syntax.DplIn, syntax.DplOut:
		for _, target := range r.one(redir.Word) {
			if strings.Trim(strings.TrimSuffix(target, "-"), "0123456789") != "" {
				r.line.files = append(r.line.files, file{target, true, r.how})
				elsewhere = true
			} else if redir.Op == syntax.DplIn && target != "0" && target != "-" { // what was opened before
				from.present = true
			}
		}
		return from, elsewhere
	}
	writes := redir.Op != syntax.RdrIn
	for _, target := range r.one(redir.Word) {
		r.line.files = append(r.line.files, file{target, writes, r.how})
	}
	if !writes || redir.Op == syntax.RdrInOut {
		if n := len(r.substituted); n > 0 && redir.Word != nil {
			return r.substituted[n-1], false
		}
		for _, target := range r.one(redir.Word) {
			if text, ok := r.writtenTo(target); ok {
				return stream{present: true, known: true, text: text}, false
			}
		}
		return stream{present: true}, false
	}
	return stream{}, redir.N == nil || redir.N.Value == "1"
}

// oneOf is the stream of one of these texts, which is known if there is no other.
func oneOf(texts []string, end string) stream {
	text := strings.Join(texts, "\n") + end
	return stream{present: true, known: len(texts) == 1 && isPlain(text), text: text}
}

// document returns what the text of a here-document may be. The shell looks for no files in it,
// and where its end is quoted expands nothing.
func (r *lineReader) document(redir *syntax.Redirect) []string {
	quoted := slices.ContainsFunc(redir.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	switch {
	case redir.Hdoc == nil:
		return []string{""}
	case quoted:
		return []string{redir.Hdoc.Lit()}
	}
	return r.one(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: redir.Hdoc.Parts}}})
}

var leadingTabs = strings.NewReplacer("\n\t\t\t", "\n", "\n\t\t", "\n", "\n\t", "\n")

// compoundLine reads the commands inside a compound one.
func (r *lineReader) compoundLine(c syntax.Command, in stream) stream {
	nothing := stream{present: true}
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		if r.budget.joints--; r.budget.joints < 0 {
			if r.how > mentioned {
				r.line.cannotRead("has too many pipes and lists")
			}
			return nothing
		}
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.stmt(c.Y, r.stmt(c.X, in))
		}
		return r.stmts([]*syntax.Stmt{c.X, c.Y}, in)
	case *syntax.Subshell:
		return r.stmts(c.Stmts, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond, in)
			r.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond, in)
		r.stmts(c.Do, in)
	case *syntax.ForClause:
		r.loop(c, in)
	case *syntax.CaseClause:
		r.one(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				r.substitutions(p)
			}
			r.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		r.line.defines = true
		if c.Name != nil {
			if r.functions == nil {
				r.functions = map[string]bool{}
			}
			r.functions[c.Name.Value] = true
			r.forkBomb(c)
		}
		r.stmt(c.Body, stream{})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.sub(does, "run by time").stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		r.declaration(c)
	case *syntax.TestClause:
		r.substitutions(c)
	case *syntax.ArithmCmd, *syntax.LetClause:
		r.substitutions(c)
	default:
		r.line.cannotRead("has a construct that cannot be judged")
	}
	return nothing
}

func (r *lineReader) loop(c *syntax.ForClause, in stream) {
	if words, ok := c.Loop.(*syntax.WordIter); ok {
		r.line.sets = r.line.sets || strings.ToLower(words.Name.Value) != words.Name.Value
		if !words.InPos.IsValid() {
			r.forget(words.Name.Value)
		}
		for _, item := range words.Items {
			for _, fields := range r.fields(item) {
				for _, f := range fields {
					r.give(words.Name.Value, value{fields: []string{f}})
				}
			}
		}
	} else {
		r.substitutions(c.Loop)
	}
	r.stmts(c.Do, in)
}

// simple reads one simple command.
func (r *lineReader) simple(c *syntax.CallExpr, in stream) stream {
	r.substituted = nil
	var late []string // words like if=x that the parser takes for assignments
	for _, a := range c.Assigns {
		for _, text := range r.assign(a) {
			if len(c.Args) > 0 && a.Pos().After(c.Args[0].Pos()) {
				late = append(late, a.Name.Value+"="+text)
			}
			r.subscript(text)
			r.environment(a.Name.Value, text, len(c.Args) > 0)
		}
	}
	if len(c.Args) == 0 {
		return stream{present: true, known: true}
	}
	lists := [][]string{nil}
	if words, ok := plainWords(c.Args); ok {
		lists[0] = words
	} else {
		for _, arg := range c.Args {
			lists = multiply(lists, r.fields(arg))
		}
	}
	for i := range lists {
		lists[i] = append(lists[i], late...)
	}
	reader := r
	if len(lists) > 1 {
		reader = r.sub(may, r.via)
		reader.substituted = r.substituted
	}
	out := stream{present: true}
	for _, words := range lists {
		if len(words) > 0 {
			out = reader.command(words, in)
		}
	}
	if len(lists) > 1 {
		return stream{present: true}
	}
	return out
}

// plainWords reads words without expansions.
func plainWords(args []*syntax.Word) ([]string, bool) {
	words := make([]string, len(args))
	for i, arg := range args {
		var ok bool
		if words[i], ok = plainWord(arg); !ok {
			return nil, false
		}
	}
	return words, true
}

// forkBomb notes a function that starts itself twice.
func (r *lineReader) forkBomb(c *syntax.FuncDecl) {
	calls, behind := 0, false
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok && callsName(s, c.Name.Value) {
			calls, behind = calls+1, behind || s.Background
			if calls == 2 && behind {
				r.line.add(newStarted([]string{forkBombName, c.Name.Value}, r.how, r.via))
			}
		}
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			if callsName(b.X, c.Name.Value) && callsName(b.Y, c.Name.Value) {
				r.line.add(newStarted([]string{forkBombName, c.Name.Value}, r.how, r.via))
			}
		}
		return true
	})
}

// forkBombName stands for a program that no file can have as its name.
const forkBombName = "fork bomb/"

func callsName(s *syntax.Stmt, name string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == name
}
