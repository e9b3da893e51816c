package dialect

import (
	"fmt"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

const (
	// maxText is how many characters a text for a model or a person may have.
	maxText = 10_000
	// maxPreview is how many characters stay of a longer text.
	maxPreview = 2_000
)

// capped returns a field's string within the limit.
func (x *reading) capped(id fieldID) string { return x.limit(fieldTable[id].key, x.text(id)) }

// limit keeps a text within the limit: what is over goes into a file, and its
// path and the beginning of the text take its place.
func (x *reading) limit(name, text string) string {
	if len(text) <= maxText {
		return text
	}
	size := utf8.RuneCountInString(text)
	if size <= maxText {
		return text
	}
	kept := "the rest was dropped"
	if x.Spill != nil {
		path, err := x.Spill(name, text)
		if err == nil {
			kept = "all of it is in " + path
		} else {
			x.call.Warn("spill_failed", fmt.Sprintf("%s: the whole text could not be kept: %v", name, err), "")
		}
	}
	x.call.Warn("too_long", fmt.Sprintf("%s has %d characters, at most %d are taken; %s", name, size, maxText, kept),
		"print less, or a path to read")
	return phrase.Clip(text, maxPreview) + fmt.Sprintf("\n[%d characters; %s]", size, kept)
}

// shortReason keeps a reason within the limit. It is never kept in a file:
// no refusal needs such length.
func shortReason(reason string) string { return phrase.Clip(reason, maxText) }
