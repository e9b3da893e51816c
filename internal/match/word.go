package match

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one argument.
type word struct {
	// text is the word without its quotes. Expansions stand in it as they were
	// written, so that text handed to another shell can be parsed again.
	text string
	// expansion is the first part whose value is not known, "" if all are.
	expansion string
	// variable says that one of these parts is a variable.
	variable bool
	// pattern says that the shell looks for files that the word names.
	pattern bool
}

func join(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// word reads a word and the commands that its substitutions run.
func (w *walker) word(sw *syntax.Word) word {
	var v word
	var b strings.Builder
	var braces braces
	for _, part := range sw.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			braces.scan(p.Value)
			v.pattern = v.pattern || strings.ContainsAny(p.Value, "*?") || strings.Contains(p.Value, "[") && strings.Contains(p.Value, "]")
			if len(sw.Parts) == 1 && strings.IndexByte(p.Value, '\\') < 0 {
				v.text = p.Value
			} else {
				unescape(&b, p.Value, false)
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				w.blind("has a string with escapes, $'…'")
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			w.quoted(p, &v, &b)
		default:
			w.part(part, &v, &b)
		}
	}
	if braces.expand {
		w.blind("has a brace expansion")
	}
	if v.text == "" {
		v.text = b.String()
	}
	return v
}

// quoted reads a part between double quotes.
func (w *walker) quoted(p *syntax.DblQuoted, v *word, b *strings.Builder) {
	if p.Dollar {
		w.blind(`has a translated string, $"…"`)
	}
	for _, inner := range p.Parts {
		if lit, ok := inner.(*syntax.Lit); ok {
			unescape(b, lit.Value, true)
		} else {
			w.part(inner, v, b)
		}
	}
}

// part reads a part of a word that is not literal.
func (w *walker) part(p syntax.WordPart, v *word, b *strings.Builder) {
	src := w.source(p)
	b.WriteString(src)
	switch p := p.(type) {
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			w.blind("has a substitution that cannot be judged")
			return
		}
		w.stmts(p.Stmts)
	case *syntax.ParamExp:
		if !p.Short {
			w.blind("has an expansion ${…}")
			return
		}
		if p.Param != nil && p.Param.Value == "HOME" {
			return // its value is known, and the client does not mind it
		}
		v.variable = true
	case *syntax.ProcSubst:
		w.blind("has a process substitution")
	case *syntax.ArithmExp:
		w.blind("has arithmetic")
	default:
		w.blind("has a construct that cannot be judged")
	}
	if v.expansion == "" {
		v.expansion = src
	}
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.src) {
		return ""
	}
	return w.src[from:to]
}

// unescape removes backslashes as bash does: between double quotes only those
// that quote something there.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\\\"$`", s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
}

// braces finds an unquoted {a,b} or {1..3} in the literal parts of a word.
type braces struct{ open, separated, expand bool }

func (b *braces) scan(s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			b.open = true
		case ',':
			b.separated = b.open
		case '.':
			b.separated = b.separated || b.open && i > 0 && s[i-1] == '.'
		case '}':
			b.expand = b.separated
		}
	}
}
