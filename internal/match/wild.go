package match

import "strings"

// The words of a line may hold parts that only the shell knows. They stand in
// the text as these bytes, which no text that is read otherwise holds.
const (
	wildStar  = '\x01' // a * that the shell expands: any text without a slash
	wildChar  = '\x02' // a ? or […]: one character but a slash
	wildWord  = '\x03' // a part of one word that is not known
	wildWords = '\x04' // an unquoted part that is not known: perhaps several words
)

const wilds = "\x01\x02\x03\x04"

// isPlain reports whether all of the text is known.
func isPlain(s string) bool { return !strings.ContainsAny(s, wilds) }

// isUnknown reports whether nothing of the text is known.
func isUnknown(s string) bool {
	return s != "" && strings.Trim(s, "\x03\x04") == ""
}

// shown makes a text with wild parts readable.
func shown(s string) string {
	if isPlain(s) {
		return s
	}
	return showWilds.Replace(s)
}

var showWilds = strings.NewReplacer("\x01", "*", "\x02", "?", "\x03", "$…", "\x04", "$…")

// More wildcards of a glob, for paths.
const (
	anyInPart  int16 = -3 // any text without a slash
	oneInPart  int16 = -4 // one character but a slash
	anyDirs    int16 = -5 // nothing, or text that ends with a slash: two codes,
	anyDirsEnd int16 = -6 // this one behind it
)

// maxProduct bounds the work of one meets.
const maxProduct = 1 << 17

// meets reports whether the pattern and the text, wild parts and all, may stand
// for the same text. dots says that a * of the shell takes a leading dot too.
// What would take too long counts as a yes.
func (g glob) meets(s string, dots bool) bool {
	if isPlain(s) && g.simple() {
		return g.match(s)
	}
	if (len(g)+1)*(len(s)+1) > maxProduct {
		return true
	}
	p := product{glob: g, text: s, dots: dots, seen: make([]bool, (len(g)+1)*(len(s)+1))}
	p.reach(0, 0)
	for len(p.todo) > 0 {
		at := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		if at[0] == len(g) && at[1] == len(s) || at[0] == len(g)-1 && g[at[0]] == anyText {
			return true
		}
		p.step(at[0], at[1])
	}
	return false
}

func (g glob) simple() bool {
	for _, c := range g {
		if c <= anyInPart {
			return false
		}
	}
	return true
}

// product walks the pairs of places in a pattern and a text that stand for the
// same text so far.
type product struct {
	glob glob
	text string
	dots bool
	seen []bool
	todo [][2]int
}

func (p *product) reach(gi, si int) {
	if at := gi*(len(p.text)+1) + si; !p.seen[at] {
		p.seen[at] = true
		p.todo = append(p.todo, [2]int{gi, si})
	}
}

func (p *product) step(gi, si int) {
	if gi < len(p.glob) {
		switch p.glob[gi] {
		case anyText, anyInPart:
			p.reach(gi+1, si)
		case anyDirs:
			p.reach(gi+2, si)
			p.reach(gi+1, si)
			return
		}
	}
	if si == len(p.text) {
		return
	}
	switch c := p.text[si]; c {
	case wildStar, wildWord, wildWords:
		p.reach(gi, si+1)
		p.takeWild(gi, si, si)
	case wildChar:
		p.takeWild(gi, si, si+1)
	default:
		p.takeByte(gi, si, c)
	}
}

// takeByte lets the pattern take one known byte.
func (p *product) takeByte(gi, si int, c byte) {
	if gi == len(p.glob) {
		return
	}
	switch g := p.glob[gi]; g {
	case anyText:
		p.reach(gi, si+1)
	case anyChar:
		p.reach(gi+1, si+1)
	case anyInPart:
		if c != '/' {
			p.reach(gi, si+1)
		}
	case oneInPart:
		if c != '/' {
			p.reach(gi+1, si+1)
		}
	case anyDirsEnd:
		p.reach(gi, si+1)
		if c == '/' {
			p.reach(gi+1, si+1)
		}
	default:
		if g == int16(c) {
			p.reach(gi+1, si+1)
		}
	}
}

// takeWild lets the pattern take one byte of a wild part, after which the text
// is at next.
func (p *product) takeWild(gi, si, next int) {
	if gi == len(p.glob) {
		return
	}
	switch g := p.glob[gi]; g {
	case anyText, anyInPart:
		p.reach(gi, next)
	case anyChar, oneInPart:
		p.reach(gi+1, next)
	case anyDirsEnd:
		p.reach(gi, next)
		if p.text[si] >= wildWord {
			p.reach(gi+1, next)
		}
	default:
		if p.may(gi, si, byte(g)) {
			p.reach(gi+1, next)
		}
	}
}

// may reports whether a wild part at si may be the byte c, which the pattern
// wants at gi.
func (p *product) may(gi, si int, c byte) bool {
	switch wild := p.text[si]; {
	case wild == wildWords:
		return true
	case wild == wildWord:
		return c != ' '
	case c == '/' || c == ' ': // one name, and none with a space in it
		return false
	case c != '.' || p.dots || si > 0 && p.text[si-1] != '/' && p.text[si-1] != ' ':
		return true
	case gi == 0:
		return false
	default: // a leading dot is for itself alone
		before := p.glob[gi-1]
		return before != '/' && before != anyDirsEnd && before != ' '
	}
}
