package mcptool

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine is the first line of a text that is not blank, without what could
// move a cursor or turn the reading direction, cut to a number of runes.
func oneLine(s string, most int) string {
	for line := range strings.Lines(s) {
		line = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsControl(r):
				return ' '
			case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, "\uFFFD"))
		if line = strings.TrimSpace(line); line != "" {
			return shorten(line, most)
		}
	}
	return ""
}

func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

const (
	stderrLines = 3   // of a server's stderr in a reason
	lineLength  = 200 // runes of each
)

// lastLines are the last lines of a server's stderr, for a reason: "" or
// ` (its stderr ends: "…", "…")`.
func lastLines(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = oneLine(line, lineLength); line != "" {
			lines = append(lines, strconv.Quote(line))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return " (its stderr ends: " + strings.Join(lines[max(0, len(lines)-stderrLines):], ", ") + ")"
}

// shortestSecret is how long a value must be to be told from a word.
const shortestSecret = 6

// redact takes values that nobody may see out of a text. A server may well
// print its key when that is refused.
func redact(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	return s
}
