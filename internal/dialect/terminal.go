package dialect

import (
	"strings"
	"unicode"
)

// terminalSequence returns the field if it can only notify or name the window.
// Anything else could move the cursor, fill the clipboard or fake a prompt: it
// is void as a whole.
func (x *reading) terminalSequence() string {
	s := x.text(fTerminalSequence)
	if !isHarmless(s) {
		x.call.Warn("terminal_sequence", "terminalSequence is void: only OSC 0, 1, 2, 9, 99, 777 and BEL are taken",
			"end each OSC with BEL or ESC \\")
		return ""
	}
	return s
}

// isHarmless reports whether s is a row of allowed sequences: BEL, or ESC ]
// number ; text ended by BEL or ESC \.
func isHarmless(s string) bool {
	for s != "" {
		if s[0] == '\a' {
			s = s[1:]
			continue
		}
		body, ok := strings.CutPrefix(s, "\x1b]")
		if !ok {
			return false
		}
		number, body, _ := strings.Cut(body, ";")
		switch number {
		case "0", "1", "2", "9", "99", "777":
		default:
			return false
		}
		end := strings.IndexFunc(body, unicode.IsControl)
		if end < 0 {
			return false
		}
		switch body = body[end:]; {
		case strings.HasPrefix(body, "\a"):
			s = body[1:]
		case strings.HasPrefix(body, "\x1b\\"):
			s = body[2:]
		default:
			return false
		}
	}
	return true
}
