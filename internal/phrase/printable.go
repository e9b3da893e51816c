package phrase

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable makes text from files, hooks and tools safe to show: control
// characters (ESC and CR among them) and characters that reorder or hide text are
// escaped. Newlines and tabs stay.
func Printable(s string) string {
	if strings.IndexFunc(s, Hostile) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !Hostile(r) {
			b.WriteRune(r)
		} else if r < 0x100 {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// PrintableJSON escapes in JSON what [Printable] escapes in text. It means the same
// as before: outside of its strings JSON has none of that.
func PrintableJSON(data []byte) []byte {
	if bytes.IndexFunc(data, Hostile) < 0 {
		return data
	}
	var safe []byte
	for _, r := range string(data) {
		switch {
		case !Hostile(r):
			safe = utf8.AppendRune(safe, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		default:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		}
	}
	return safe
}

// Hostile reports whether a character controls a terminal, or reorders or hides text.
func Hostile(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
