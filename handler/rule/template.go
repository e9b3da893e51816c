package rule

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// placeholder begins an expression within a text; "$${" stands for itself.
const placeholder = "${"

// template is a text with expressions in it.
type template []part

// part is a piece of text, or with a program the value of an expression.
type part struct {
	text string
	from Program
}

// template reads a text. An expression in it that does not compile breaks the
// rule.
func (r *Rule) template(key, text string) template {
	var parts template
	for {
		before, rest, found := strings.Cut(text, placeholder)
		if !found {
			return append(parts, part{text: text})
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			parts = append(parts, part{text: escaped + placeholder})
			text = rest
			continue
		}
		end := closing(rest)
		if end < 0 {
			return append(parts, part{text: text})
		}
		parts = append(parts, part{text: before}, part{text: placeholder + rest[:end+1], from: r.program(key, rest[:end], false)})
		text = rest[end+1:]
	}
}

// closing is where the brace stands that ends an expression, -1 = nowhere.
// Braces within its strings and maps do not count.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// fill puts the values in. An expression without a value stays as it is written:
// no decision fails for its wording.
func (t template) fill(f *Facts) string {
	if len(t) == 1 {
		return t[0].text
	}
	var b strings.Builder
	for _, p := range t {
		if p.from == nil {
			b.WriteString(p.text)
			continue
		}
		value, err := p.from.Eval(f)
		if err != nil {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(shown(value))
	}
	return b.String()
}

// shown writes a value into a text: short, and without control characters.
func shown(value any) string {
	const most = 1000
	text, ok := value.(string)
	if !ok {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		text = string(raw)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
