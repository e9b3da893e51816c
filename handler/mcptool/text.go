package mcptool

import (
	"strconv"
	"strings"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

const (
	stderrLines = 3   // of a server's stderr in a reason
	lineLength  = 200 // runes of each
)

// lastLines are the last lines of a server's stderr, for a reason: "" or
// ` (its stderr ends: "…", "…")`.
func lastLines(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = phrase.First(line, lineLength); line != "" {
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

// redact takes secret values out of a text. A server may well
// print its key when that is refused.
func redact(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	return s
}
