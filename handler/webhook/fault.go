package webhook

import (
	"strings"
	"unicode/utf8"
)

// fault is what is wrong with something that was declared, and what to do
// about it. It never holds the value of a variable.
type fault struct{ reason, hint string }

// clip shortens what was declared for a message.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}
