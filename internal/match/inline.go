package match

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions reads the commands that stand anywhere in a node: arithmetic, a
// test, a subscript. Text that arithmetic would evaluate is read, too: each value, and
// what the values come to side by side, since a subscript may be in two parts.
func (r *lineReader) substitutions(n syntax.Node) {
	lists := [][]string{nil}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, stream{})
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, stream{})
			return false
		case *syntax.SglQuoted:
			r.subscript(n.Value)
			lists = r.beside(lists, n.Value)
		case *syntax.Lit:
			if strings.ContainsAny(n.Value, "[$(`") { // not the name of a variable
				lists = r.beside(lists, strings.ReplaceAll(n.Value, `\`, ""))
			}
		case *syntax.ParamExp:
			vals, _ := r.lookup(n.Param.Value, nil)
			var fields []string
			for _, v := range vals {
				r.subscript(v.fields...)
				fields = append(fields, v.fields...)
			}
			if len(fields) > 0 {
				lists = r.beside(lists, fields...)
			}
		case *syntax.Word:
			if text, ok := plainWord(n); ok {
				for _, v := range r.vars[text] {
					r.subscript(v.fields...)
				}
			}
		}
		return true
	})
	for _, parts := range lists {
		if len(parts) > 1 {
			r.subscript(strings.Join(parts, ""), strings.Join(parts, " "))
		}
	}
}

// beside adds to each list one of the choices.
func (r *lineReader) beside(lists [][]string, choices ...string) [][]string {
	more := make([][]string, len(choices))
	for i, c := range choices {
		more[i] = []string{c}
	}
	for range lists {
		if !r.charge(choices) {
			return lists
		}
	}
	return multiply(lists, more)
}

// subscript reads the commands in text like a[$(rm x)], which test -v, printf
// -v and arithmetic run although it is quoted.
func (r *lineReader) subscript(texts ...string) {
	for _, text := range texts {
		open := strings.IndexByte(text, '[')
		if open < 0 || !strings.Contains(text[open:], "$(") && !strings.Contains(text[open:], "`") {
			continue
		}
		r.line.evaluates = true
		inner := text[open+1:]
		if end := strings.LastIndexByte(inner, ']'); end >= 0 {
			inner = inner[:end]
		}
		r.text(`: "`+strings.ReplaceAll(inner, `"`, ``)+`"`, may, "in a subscript")
	}
}

// declaration reads export, declare, local and their like.
func (r *lineReader) declaration(c *syntax.DeclClause) {
	words := []string{c.Variant.Value}
	refers := c.Variant.Value == "nameref" || slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool {
		return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "n")
	})
	for _, a := range c.Args {
		if refers && a.Name != nil { // declare -n a=b: what a is, b says
			r.forget(a.Name.Value)
		}
		switch {
		case a.Name == nil:
			words = append(words, r.one(a.Value)[0])
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			texts := r.assign(a)
			for _, text := range texts {
				r.subscript(text)
				r.environment(a.Name.Value, text, true)
			}
			words = append(words, a.Name.Value+"="+strings.Join(texts, " "))
		}
	}
	r.line.add(newStarted(words, r.how, r.via))
	r.subscript(words...)
}

// environment reads a variable that programs take a command from.
func (r *lineReader) environment(name, text string, handed bool) {
	r.gitVariable(name, text)
	if (name == "BASH_ENV" || name == "ENV") && text != "" { // a shell reads it first
		shell := r.sub(may, "in "+plain(name))
		shell.substituted = r.substituted
		shell.script([]string{text}, stream{}, shell.via)
	}
	if runsVariable(name) || handed && endsRun(strings.ToLower(name)) || handed && strings.ContainsAny(text, " \t\n;|&$`") {
		r.text(text, may, "in "+plain(name))
	}
	if handed && text != "" && holdsOptions(name) { // GOFLAGS=-toolexec=x
		r.text("options "+text, may, "in "+plain(name))
		r.texts([]string{text}, may, "in "+plain(name))
	}
}

// runsVariable knows variables whose value is run.
func runsVariable(name string) bool {
	if slices.Contains([]string{"BASH_ENV", "ENV", "LESSOPEN", "LESSCLOSE", "MAKEFLAGS", "LD_PRELOAD", "FCEDIT", "PYTHONBREAKPOINT", "CC", "CXX", "LD"}, name) {
		return true
	}
	for _, end := range []string{"SSH", "BROWSER", "EXTERNAL_DIFF", "PS0", "PS1", "PS2", "PS3", "PS4"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == strings.ToUpper(name) && endsRun(strings.ToLower(name))
}

// holdsOptions knows variables that hold options of a program.
func holdsOptions(name string) bool {
	return strings.HasSuffix(name, "FLAGS") || strings.HasSuffix(name, "OPTIONS") || strings.HasSuffix(name, "OPTS") || strings.HasSuffix(name, "_ARGS")
}
