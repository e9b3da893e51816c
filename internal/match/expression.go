package match

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLinearRepeat is the highest count of {n,m} that is left to Go's engine,
// which unrolls it.
const maxLinearRepeat = 100

// An expression is a regular expression after one pass over its syntax.
type expression struct {
	// err says why it is not an expression of JavaScript.
	err error
	// linear is the same expression for Go's regexp package, or "" if it uses
	// something which that lacks, or understands differently.
	linear string
}

// readExpression checks a pattern against ECMA-262, Annex B included, without
// the u flag, as `new RegExp(pattern)` does. The check does not compile
// anything, so thousands of matchers load at once, and it refuses what the
// engine would take although JavaScript has no such thing, like (?i).
func readExpression(pattern string) expression {
	r := reader{src: pattern, linear: true}
	if err := r.read(); err != nil {
		return expression{err: err}
	}
	if !r.linear {
		return expression{}
	}
	return expression{linear: r.out.String()}
}

var (
	errNothingToRepeat = errors.New("nothing to repeat before a quantifier")
	errUnclosedGroup   = errors.New("a group is not closed")
	errUnopenedGroup   = errors.New("a ) closes no group")
	errUnclosedClass   = errors.New("a character class is not closed")
	errTrailingEscape  = errors.New(`a \ at the end escapes nothing`)
	errInlineFlags     = errors.New("JavaScript has no inline flags")
	errGroup           = errors.New("unknown kind of group after (?")
	errGroupName       = errors.New("invalid group name")
	errReference       = errors.New("reference to a group that does not exist")
	errRange           = errors.New("character range out of order")
	errCount           = errors.New("numbers out of order in {} quantifier")
)

// reader walks over an expression and writes its translation for Go's engine.
// The translation is meaningless once linear is false.
type reader struct {
	src    string
	pos    int
	out    strings.Builder
	linear bool

	open  []term   // what each open group is, once it is closed
	names []string // of named groups
	refs  []string // of \k, "" for one without a name
}

// What the last thing read was, for a quantifier behind it.
type term uint8

const (
	termNone   term = iota // start of an alternative, or a quantifier
	termAtom               // may be repeated
	termAssert             // may not
)

func (r *reader) read() error {
	last := termNone
	for r.pos < len(r.src) {
		var err error
		switch c := r.src[r.pos]; c {
		case '|':
			r.emit("|", 1)
			last = termNone
		case '^':
			r.emit("^", 1)
			last = termAssert
		case '$':
			r.emit(`\z`, 1)
			last = termAssert
		case '(':
			last, err = termNone, r.openGroup()
		case ')':
			last, err = r.closeGroup()
		case '[':
			last, err = termAtom, r.class()
		case '\\':
			last, err = r.escape()
		case '.':
			r.emit(`[^\n\r\x{2028}\x{2029}]`, 1)
			last = termAtom
		case '*', '+', '?', '{':
			last, err = r.quantifier(last)
		default:
			r.char(utf8.DecodeRuneInString(r.src[r.pos:]))
			last = termAtom
		}
		if err != nil {
			return fmt.Errorf("%w, at byte %d", err, r.pos)
		}
	}
	if len(r.open) > 0 {
		return errUnclosedGroup
	}
	return r.checkReferences()
}

// emit writes the translation of the next n bytes and steps over them.
func (r *reader) emit(s string, n int) {
	r.out.WriteString(s)
	r.pos += n
}

// char writes a character that stands for itself and steps over n bytes.
func (r *reader) char(c rune, n int) {
	r.writeChar(&r.out, c)
	r.pos += n
}

func (r *reader) writeChar(b *strings.Builder, c rune) {
	if c == utf8.RuneError || c > 0xFFFF {
		r.linear = false // JavaScript sees two units, or what replaced a bad one
	}
	if c < utf8.RuneSelf && isWordByte(byte(c)) {
		b.WriteByte(byte(c))
		return
	}
	fmt.Fprintf(b, `\x{%x}`, c)
}

// quantifier reads * + ? {n} {n,} {n,m}, lazy or not. A brace that begins none
// of them is a character.
func (r *reader) quantifier(last term) (term, error) {
	n, lo, hi := 1, 0, 0
	if r.src[r.pos] == '{' {
		if n, lo, hi = repeatCount(r.src[r.pos:]); n == 0 {
			r.char('{', 1)
			return termAtom, nil
		}
	}
	switch {
	case last != termAtom:
		return 0, errNothingToRepeat
	case hi >= 0 && lo > hi:
		return 0, errCount
	}
	if lo > maxLinearRepeat || hi > maxLinearRepeat {
		r.linear = false
	}
	r.emit(r.src[r.pos:r.pos+n], n)
	if r.pos < len(r.src) && r.src[r.pos] == '?' {
		r.emit("?", 1)
	}
	return termNone, nil
}

// repeatCount reads {n}, {n,} (hi -1) or {n,m} at the start of s, and returns its
// length, 0 if there is none. Numbers too large to count are the same number.
func repeatCount(s string) (n, lo, hi int) {
	inner, _, ok := strings.Cut(s[1:], "}")
	if !ok {
		return
	}
	first, second, comma := strings.Cut(inner, ",")
	if !isDigits(first) || second != "" && !isDigits(second) {
		return
	}
	lo, _ = strconv.Atoi(first) // the highest int, if it overflows
	switch {
	case !comma:
		hi = lo
	case second == "":
		hi = -1
	default:
		hi, _ = strconv.Atoi(second)
	}
	return len(inner) + len("{}"), lo, hi
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// openGroup reads the head of a group.
func (r *reader) openGroup() error {
	rest := r.src[r.pos:]
	closed := termAtom
	switch {
	case strings.HasPrefix(rest, "(?:"):
		r.emit("(?:", 3)
	case !strings.HasPrefix(rest, "(?"):
		r.emit("(?:", 1)
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"):
		r.linear = false
		r.pos += 3
	case strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		r.linear, closed = false, termAssert
		r.pos += 4
	case strings.HasPrefix(rest, "(?<"):
		name, ok := identifier(rest[3:])
		if !ok {
			return errGroupName
		}
		if slices.Contains(r.names, name) {
			r.linear = false // allowed in some places: the engine knows them
		}
		r.names = append(r.names, name)
		r.emit("(?:", 4+len(name))
	default:
		n := modifiers(rest[2:])
		if n == 0 {
			if flags, _, ok := strings.Cut(rest[2:], ")"); ok && strings.Trim(flags, "ims-") == "" {
				return errInlineFlags
			}
			return errGroup
		}
		r.linear = false
		r.pos += 2 + n
	}
	r.open = append(r.open, closed)
	return nil
}

// closeGroup ends a group, which may then be repeated, unless it looks behind.
func (r *reader) closeGroup() (term, error) {
	if len(r.open) == 0 {
		return 0, errUnopenedGroup
	}
	last := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.emit(")", 1)
	return last, nil
}

// identifier reads a group's name up to >.
func identifier(s string) (string, bool) {
	name, _, ok := strings.Cut(s, ">")
	if !ok || name == "" {
		return "", false
	}
	for i, c := range strings.ReplaceAll(name, `\u`, "u") {
		if c != '$' && c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) && c != '{' && c != '}' {
			return "", false
		}
	}
	return name, true
}

// modifiers reads the ims-ims: of a group with flags of its own (ECMAScript
// 2025), and returns its length, 0 if it is something else.
func modifiers(s string) int {
	flags, _, ok := strings.Cut(s, ":")
	if !ok || strings.Trim(flags, "ims-") != "" || strings.Trim(flags, "-") == "" || strings.Count(flags, "-") > 1 {
		return 0
	}
	for _, f := range "ims" {
		if strings.Count(flags, string(f)) > 1 {
			return 0
		}
	}
	return len(flags) + 1
}

// escape reads an escape outside a class.
func (r *reader) escape() (term, error) {
	if r.pos+1 == len(r.src) {
		return 0, errTrailingEscape
	}
	switch c := r.src[r.pos+1]; {
	case c == 'b' || c == 'B':
		r.emit(r.src[r.pos:r.pos+2], 2)
		return termAssert, nil
	case strings.IndexByte("dDwW", c) >= 0:
		r.emit(r.src[r.pos:r.pos+2], 2)
	case c == 'k':
		r.linear = false
		r.pos += 2
		name := ""
		if rest, ok := strings.CutPrefix(r.src[r.pos:], "<"); ok {
			name, _ = identifier(rest)
		}
		r.refs = append(r.refs, name)
	case c < utf8.RuneSelf && !isWordByte(c):
		r.char(rune(c), 2)
	default:
		// Annex B gives every other escape some meaning.
		r.linear = false
		_, n := utf8.DecodeRuneInString(r.src[r.pos+1:])
		r.pos += 1 + n
	}
	return termAtom, nil
}

// checkReferences resolves \k<name>, once all names are known. Without any
// named group \k is a k.
func (r *reader) checkReferences() error {
	if len(r.names) == 0 {
		return nil
	}
	for _, ref := range r.refs {
		if !slices.Contains(r.names, ref) {
			return errReference
		}
	}
	return nil
}
