package webhook

import "github.com/tenterhook/tenterhook/internal/phrase"

// fault is what is wrong with something that was declared, and what to do
// about it. It never holds the value of a variable.
type fault struct{ reason, hint string }

// clip shortens what was declared for a message.
func clip(s string) string { return phrase.Bytes(s, 120) }
