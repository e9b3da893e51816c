package match

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// value is what a variable may hold: fields of an array, or one text.
type value struct {
	fields []string
	array  bool
}

// variables are the values that a line gives to variables, in any order: each
// use may see each of them. "@" holds the positional parameters.
type variables map[string][]value

// maxValue bounds the text that a variable is known to hold.
const maxValue = 4096

// give takes down that a variable may have a value.
func (k *known) give(name string, val value) {
	k.budget.work -= 8 * len(k.vars[name]) // it is compared with them
	if k.vars == nil {
		k.vars = variables{}
	}
	k.vars.add(name, val)
}

func (v variables) add(name string, val value) {
	have := v[name]
	if slices.ContainsFunc(val.fields, func(f string) bool { return len(f) > maxValue }) {
		val = value{fields: []string{wildWordsText}}
	}
	switch len(have) {
	case maxChoices:
		return // one of them is any text
	case maxChoices - 1:
		val = value{fields: []string{wildWordsText}}
	}
	for _, h := range have {
		if h.array == val.array && slices.Equal(h.fields, val.fields) {
			return
		}
	}
	v[name] = append(have, val)
}

// choice is one thing that a word may become: fields, of which the last may
// still grow.
type choice struct {
	fields []string
	cur    []byte
	open   bool
}

func (c *choice) text(s string) {
	if len(s) == 1 && isUnknown(s) && len(c.cur) > 0 && c.cur[len(c.cur)-1] == s[0] {
		return // two unknown parts are one
	}
	c.cur = append(c.cur, s...)
	c.open = true
}

func (c *choice) cut() {
	if c.open {
		c.fields = append(c.fields, string(c.cur))
		c.cur, c.open = c.cur[:0], false
	}
}

// value adds what a variable or a substitution is.
func (c *choice) value(v value, quoted bool, ifs string) {
	for i, f := range v.fields {
		if i > 0 {
			c.cut()
		}
		if quoted {
			c.text(f)
		} else {
			c.split(f, ifs)
		}
	}
}

// split adds a value that the shell splits at white space, or at what IFS is.
func (c *choice) split(s, ifs string) {
	for len(s) > 0 {
		end := strings.IndexAny(s, ifs)
		switch {
		case end < 0:
			c.text(globBytes.Replace(s))
			return
		case end > 0:
			c.text(globBytes.Replace(s[:end]))
		}
		c.cut()
		s = s[end+1:]
	}
}

var globBytes = strings.NewReplacer("*", "\x01", "?", "\x02")

// expansion reads what one word may become.
type expansion struct {
	r       *lineReader
	choices []choice
}

// fields returns the lists of fields that a word may become, at least one.
func (r *lineReader) fields(w *syntax.Word) [][]string {
	if s, ok := plainWord(w); ok {
		return [][]string{{s}}
	}
	words, ok := bracesOf(w)
	if !ok {
		return [][]string{{wildWordsText}}
	}
	lists := [][]string{nil}
	for _, one := range words {
		if len(words) > 1 {
			r.budget.work -= 256 // taking braces apart costs as much as a long word
		}
		if !r.charge(nil) {
			break
		}
		e := expansion{r: r, choices: []choice{{}}}
		e.parts(one.Parts, false, true)
		lists = multiply(lists, e.done())
	}
	return lists
}

// one returns a word as one field: the target of a redirection, the value of an
// assignment.
func (r *lineReader) one(w *syntax.Word) []string {
	if w == nil {
		return []string{""}
	}
	if s, ok := plainWord(w); ok {
		return []string{s}
	}
	e := expansion{r: r, choices: []choice{{}}}
	e.parts(w.Parts, false, false)
	texts := make([]string, len(e.choices))
	for i, c := range e.choices {
		texts[i] = strings.Join(append(c.fields, string(c.cur)), " ")
	}
	return texts
}

// plainWord reads the commonest words without more ado.
func plainWord(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		if !strings.ContainsAny(p.Value, "\\*?[~{\x00\x01\x02\x03\x04") {
			return p.Value, true
		}
	case *syntax.SglQuoted:
		if !p.Dollar {
			return p.Value, true
		}
	}
	return "", false
}

// multiply appends each of the choices to each of the lists.
func multiply(lists, more [][]string) [][]string {
	if len(lists)*len(more) > maxChoices {
		for i := range lists {
			lists[i] = append(lists[i], wildWordsText)
		}
		return lists
	}
	if len(more) == 1 {
		for i := range lists {
			lists[i] = append(lists[i], more[0]...)
		}
		return lists
	}
	product := make([][]string, 0, len(lists)*len(more))
	for _, l := range lists {
		for _, m := range more {
			product = append(product, append(l[:len(l):len(l)], m...))
		}
	}
	return product
}

func (e *expansion) done() [][]string {
	lists := make([][]string, len(e.choices))
	for i := range e.choices {
		e.choices[i].cut()
		lists[i] = e.choices[i].fields
	}
	return lists
}

func (e *expansion) parts(parts []syntax.WordPart, quoted, splits bool) {
	for i, part := range parts {
		if e.r.budget.work -= 8 * len(e.choices); !e.r.charge(nil) {
			return
		}
		switch p := part.(type) {
		case *syntax.Lit:
			e.literal(p.Value, quoted, i == 0)
		case *syntax.SglQuoted:
			s := p.Value
			if p.Dollar {
				s = ansiC(s)
			}
			e.each(func(c *choice) { c.text(s) })
		case *syntax.DblQuoted:
			e.each(func(c *choice) { c.text("") })
			e.parts(p.Parts, true, false)
		case *syntax.ParamExp:
			e.values(e.r.param(p, !splits), !splits)
		case *syntax.CmdSubst:
			e.values(e.r.stmts(p.Stmts, stream{}).values(!splits), !splits)
		case *syntax.ProcSubst:
			e.r.line.substitutes = true
			e.r.substituted = append(e.r.substituted, e.r.stmts(p.Stmts, stream{}))
			e.each(func(c *choice) { c.text(processFile) })
		case *syntax.ArithmExp:
			e.r.substitutions(p)
			e.each(func(c *choice) { c.text(wildWordText) })
		case *syntax.ExtGlob:
			e.each(func(c *choice) { c.text("\x01") })
		default:
			e.each(func(c *choice) { c.text(wildWordsText) })
		}
	}
}

func (e *expansion) each(f func(*choice)) {
	for i := range e.choices {
		f(&e.choices[i])
	}
}

// values adds what a variable or a substitution may be.
func (e *expansion) values(vals []value, quoted bool) {
	if len(vals)*len(e.choices) > maxChoices {
		e.choices = []choice{{cur: []byte(wildWordsText), open: true}}
		return
	}
	ifs := e.r.separators()
	for _, v := range vals {
		for range e.choices {
			e.r.charge(v.fields)
		}
	}
	if len(vals) == 1 {
		e.each(func(c *choice) { c.value(vals[0], quoted, ifs) })
		return
	}
	grown := make([]choice, 0, len(vals)*len(e.choices))
	for _, c := range e.choices {
		for _, v := range vals {
			e.r.budget.work -= len(c.cur) + len(c.fields)
			one := choice{fields: slices.Clip(c.fields), cur: slices.Clone(c.cur), open: c.open}
			one.value(v, quoted, ifs)
			grown = append(grown, one)
		}
	}
	e.choices = grown
}

// literal adds unquoted text, or text between double quotes.
func (e *expansion) literal(s string, quoted, first bool) {
	if quoted {
		var b strings.Builder
		unescape(&b, s, true)
		e.each(func(c *choice) { c.text(b.String()) })
		return
	}
	if first && strings.HasPrefix(s, "~") {
		s = e.r.tilde(s)
	}
	if strings.ContainsAny(s, "\\*?[") {
		s = shellPattern(s)
	}
	e.each(func(c *choice) { c.text(s) })
}

// tilde replaces ~, ~user, ~+ and ~-.
func (r *lineReader) tilde(s string) string {
	user, rest, slash := strings.Cut(s[1:], "/")
	if slash {
		rest = "/" + rest
	}
	switch {
	case user == "":
		return r.home + rest
	case user == "+":
		return r.cwd + rest
	case user == "-":
		return wildWordText + rest
	case user == "root":
		return "/root" + rest
	case isName(strings.ReplaceAll(user, ".", "")):
		return "/home/" + user + rest
	}
	return s
}

// shellPattern removes backslashes and marks what stands for files.
func shellPattern(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*':
			b.WriteByte(wildStar)
		case '?':
			b.WriteByte(wildChar)
		case '[':
			n := bracketEnd(s[i:])
			if n == 0 || strings.HasPrefix(s[i:], "[::1]") { // a host, in all likelihood
				b.WriteByte('[')
				continue
			}
			if inner := s[i+1 : i+n-1]; len(inner) == 1 {
				b.WriteString(inner)
			} else {
				b.WriteByte(wildChar)
			}
			i += n - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// bracketEnd returns the length of the […] that s begins with, 0 if none.
func bracketEnd(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case ']':
			return i + 1
		case '/':
			return 0
		}
	}
	return 0
}

// ansiC reads the escapes of $'…'.
func ansiC(s string) string {
	text, _, err := expand.Format(nil, strings.ReplaceAll(s, "%", "%%"), nil)
	if err != nil || strings.IndexByte(text, 0) >= 0 {
		return wildWordText
	}
	return text
}

// bracesOf expands {a,b} and {1..3}; ok is false if there are too many words.
func bracesOf(w *syntax.Word) (words []*syntax.Word, ok bool) {
	if !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.IndexByte(lit.Value, '{') >= 0
	}) {
		return []*syntax.Word{w}, true
	}
	split := &syntax.Word{Parts: w.Parts}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, true
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(words) == maxFields {
			return nil, false
		}
		words = append(words, one)
	}
	return words, true
}
