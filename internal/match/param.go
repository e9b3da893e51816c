package match

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown is the value of what is not known.
func unknown(quoted bool) []value {
	if quoted {
		return []value{{fields: []string{wildWordText}}}
	}
	return []value{{fields: []string{wildWordsText}}}
}

// param returns what a $X or ${X…} may be.
func (r *lineReader) param(p *syntax.ParamExp, quoted bool) []value {
	vals, known := r.lookup(p.Param.Value, p.Index)
	if p.Index != nil {
		r.substitutions(p.Index)
	}
	if !known {
		vals = unknown(quoted)
	}
	switch {
	case p.Excl:
		r.substitutions(p)
		if len(vals) == 1 && len(vals[0].fields) == 1 {
			if named, ok := r.lookup(vals[0].fields[0], nil); ok {
				return named
			}
		}
		return unknown(quoted)
	case p.Length:
		return unknown(true)
	case p.Exp != nil:
		return r.operator(p, vals, known, quoted)
	case p.Slice != nil || p.Repl != nil || p.Names != 0:
		r.substitutions(p)
		return r.evaluate(p, quoted)
	}
	return vals
}

// operator reads ${X:-word} and its like.
func (r *lineReader) operator(p *syntax.ParamExp, vals []value, known, quoted bool) []value {
	var other []value
	for _, text := range r.one(p.Exp.Word) {
		other = append(other, value{fields: []string{text}})
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !known {
			r.forget(p.Param.Value) // the environment may have it
		}
		for _, v := range other {
			r.give(p.Param.Value, v)
		}
		fallthrough
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		return append(vals[:len(vals):len(vals)], other...)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return append(other, value{fields: []string{""}})
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return vals
	}
	if !known {
		return unknown(quoted)
	}
	return r.evaluate(p, quoted)
}

// evaluate computes an expansion all of whose variables have one known value.
func (r *lineReader) evaluate(p *syntax.ParamExp, quoted bool) (vals []value) {
	defer func() {
		if recover() != nil { // a construct that the library cannot expand
			vals = unknown(quoted)
		}
	}()
	guessed := false
	env := expand.FuncEnviron(func(name string) string {
		found, ok := r.lookup(name, nil)
		if !ok && name == "PATH" && p.Slice != nil {
			return "/usr/local/bin:/usr/bin:/bin" // for a slash: ${PATH:0:1}
		}
		if len(found) != 1 || found[0].array || !isPlain(found[0].fields[0]) {
			guessed = true
			return ""
		}
		return found[0].fields[0]
	})
	text, err := expand.Literal(&expand.Config{Env: env}, &syntax.Word{Parts: []syntax.WordPart{p}})
	if err != nil || guessed {
		return unknown(quoted)
	}
	return []value{{fields: []string{text}}}
}

// lookup returns what a variable may be; known is false if the line does not
// say.
func (r *lineReader) lookup(name string, index syntax.ArithmExpr) (vals []value, known bool) {
	if name == "*" {
		name = "@"
	}
	found, set := r.vars[name]
	if !set {
		switch name {
		case "HOME":
			return []value{{fields: []string{r.home}}}, true
		case "PWD":
			return []value{{fields: []string{r.cwd}}}, true
		case "IFS":
			return []value{{fields: []string{" "}}}, true
		case "SHELL", "BASH":
			return []value{{fields: []string{"/bin/sh"}}}, true
		}
		if r.asked == nil {
			r.asked = map[string]bool{}
		}
		r.asked[name] = true
		return nil, false
	}
	if name == "@" {
		return found, true
	}
	for _, v := range found {
		vals = append(vals, v.at(index)...)
	}
	return vals, true
}

// at returns what an index takes from a value.
func (v value) at(index syntax.ArithmExpr) []value {
	if !v.array {
		return []value{v}
	}
	word, ok := index.(*syntax.Word)
	switch text := ""; {
	case index == nil:
		return v.member(0)
	case ok:
		if text = word.Lit(); text == "@" || text == "*" {
			return []value{v}
		}
		if i, err := strconv.Atoi(text); err == nil && i >= 0 {
			return v.member(i)
		}
	}
	var each []value
	for i := range v.fields {
		each = append(each, v.member(i)...)
	}
	return each
}

func (v value) member(i int) []value {
	if i >= len(v.fields) {
		return []value{{fields: []string{""}}}
	}
	return []value{{fields: v.fields[i : i+1]}}
}

// assign takes down what an assignment gives to a variable.
func (r *lineReader) assign(a *syntax.Assign) (texts []string) {
	r.line.sets = true
	if a.Index != nil {
		r.substitutions(a.Index)
	}
	switch {
	case a.Name == nil:
		return nil
	case a.Array != nil:
		lists := [][]string{nil}
		for _, elem := range a.Array.Elems {
			if elem.Index != nil {
				r.substitutions(elem.Index)
			}
			if elem.Value != nil {
				lists = multiply(lists, r.fields(elem.Value))
			}
		}
		for _, fields := range lists {
			r.give(a.Name.Value, value{fields: fields, array: true})
			texts = append(texts, fields...)
		}
		return texts
	case a.Index != nil: // one more member, at a place that is not followed
		for _, text := range r.one(a.Value) {
			r.give(a.Name.Value, value{fields: []string{text}, array: true})
		}
		return nil
	}
	for _, text := range r.one(a.Value) {
		r.set(a.Name.Value, text, a.Append)
		texts = append(texts, text)
	}
	return texts
}

// set gives a variable one more value.
func (r *lineReader) set(name, text string, appends bool) {
	if appends {
		for _, v := range r.vars[name] {
			if r.budget.work -= len(text); !v.array {
				r.budget.work -= len(v.fields[0])
				r.give(name, value{fields: []string{v.fields[0] + text}})
			}
		}
	}
	r.give(name, value{fields: []string{text}})
}

// forget gives a variable a value that is not known: read X.
func (r *lineReader) forget(name string) {
	if isName(name) {
		r.give(name, value{fields: []string{wildWordsText}})
	}
}

// separators are the characters at which values are split.
func (r *lineReader) separators() string {
	all := " \t\n"
	for _, v := range r.vars["IFS"] {
		all += strings.Join(v.fields, "")
	}
	return all
}
