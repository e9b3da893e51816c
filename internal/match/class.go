package match

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// class reads a character class. [] matches nothing and [^] everything, an
// inner [ is a character: all three differ from Go.
func (r *reader) class() error {
	r.pos++
	r.out.WriteByte('[')
	if r.pos < len(r.src) && r.src[r.pos] == '^' {
		r.emit("^", 1)
	}
	if r.pos < len(r.src) && r.src[r.pos] == ']' {
		r.linear = false
	}
	for r.pos < len(r.src) && r.src[r.pos] != ']' {
		lo, err := r.classAtom()
		if err != nil {
			return err
		}
		r.out.WriteString(lo.text)
		// A - is a character at the end, and beside \d and its like.
		if rest := r.src[r.pos:]; len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			continue
		}
		r.pos++
		hi, err := r.classAtom()
		switch {
		case err != nil:
			return err
		case lo.set || hi.set:
			r.linear = false
		case lo.char > hi.char:
			return errRange
		}
		r.out.WriteString("-" + hi.text)
	}
	if r.pos == len(r.src) {
		return errUnclosedClass
	}
	r.emit("]", 1)
	return nil
}

// classAtom is one member of a class.
type classAtom struct {
	char rune
	set  bool   // \d and its like: no single character
	text string // in Go's notation
}

func (r *reader) classAtom() (classAtom, error) {
	rest := r.src[r.pos:]
	c, n := utf8.DecodeRuneInString(rest)
	if c != '\\' {
		r.pos += n
		return r.classChar(c), nil
	}
	if len(rest) == 1 {
		return classAtom{}, errTrailingEscape
	}
	c, n = utf8.DecodeRuneInString(rest[1:])
	switch {
	case strings.ContainsRune("dDwWsS", c):
		r.linear = r.linear && c != 's' && c != 'S' // Go's are ASCII only
		r.pos += 2
		return classAtom{set: true, text: rest[:2]}, nil
	case c >= utf8.RuneSelf || isWordByte(byte(c)):
		r.linear = false
		if c == 'k' {
			r.refs = append(r.refs, "")
		}
		c, n = classEscape(rest[1:], c, n)
	}
	r.pos += 1 + n
	return r.classChar(c), nil
}

func (r *reader) classChar(c rune) classAtom {
	var b strings.Builder
	r.writeChar(&b, c)
	return classAtom{char: c, text: b.String()}
}

// classEscape gives the character of an escape with a letter or a digit, whose
// value the order of a range depends on, and the escape's length without \.
func classEscape(s string, c rune, n int) (rune, int) {
	if i := strings.IndexRune("btnvfr", c); i >= 0 {
		return rune("\b\t\n\v\f\r"[i]), 1
	}
	digits := 0
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'c':
		if len(s) > 1 && isWordByte(s[1]) {
			return rune(s[1] & 0x1f), 2
		}
		return '\\', 0 // then a c
	}
	if len(s) > digits { // of no digits is no number
		if v, err := strconv.ParseUint(s[1:1+digits], 16, 32); err == nil {
			return rune(v), 1 + digits
		}
	}
	if '0' <= c && c <= '7' {
		end := 1
		for end < len(s) && end < 3 && '0' <= s[end] && s[end] <= '7' && (end < 2 || c <= '3') {
			end++
		}
		v, _ := strconv.ParseUint(s[:end], 8, 32) // octal digits only
		return rune(v), end
	}
	return c, n
}
