package match

import "strings"

// rough reads text that is no shell text, code in another language most likely:
// each string in it is tried as shell text, and each run of its words as a
// command.
func (r *lineReader) rough(text string) {
	s := r.sub(may, r.via)
	s.depth++
	if s.depth > maxNested {
		r.line.cannotRead("runs too much text inside other text")
		return
	}
	if s.budget.bytes -= len(text); s.budget.bytes < 0 {
		r.line.cannotRead("is too long to be read")
		return
	}
	for _, quoted := range quotedParts(text) {
		if strings.ContainsAny(quoted, " \t\n;|&$`") {
			s.read(quoted, stream{})
		}
	}
	for statement := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ';' || c == '\n' }) { // run("git", {args: ["push"]})
		if words := quotedParts(statement); len(words) > 1 && s.charge(words) {
			at := s.line.add(newStarted(words, s.how, s.via))
			s.suffixes(words, at, may, s.via)
		}
	}
	for segment := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(";|&\n{}", c) }) {
		words := strings.FieldsFunc(segment, func(c rune) bool { return strings.ContainsRune(" \t\"'`,()[]!", c) })
		if len(words) > 0 && s.charge(words) {
			at := s.line.add(newStarted(words, s.how, s.via))
			s.suffixes(words, at, may, s.via)
		}
	}
}

var unquoteText = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`)

// quotedParts returns what stands between quotes, and what the quotes inside
// hold.
func quotedParts(text string) []string {
	var parts []string
	for i := 0; i < len(text); i++ {
		q := text[i]
		if q != '"' && q != '\'' && q != '`' {
			if q == '\\' {
				i++
			}
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != q {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			continue // no closing quote: what follows may still have pairs
		}
		if len(parts) < maxFields {
			parts = append(parts, unquoteText.Replace(text[i+1:end]))
		}
		i = end
	}
	return parts
}
