// Package phrase makes parts of messages: quoted words, clipped texts, single
// lines and lists. It imports nothing of this project.
//
//	fmt.Printf("expected %s, got %s", phrase.Either("on", "off"), phrase.Quote(got))
package phrase

import (
	"strconv"
	"strings"
	"unicode"
)

// Quote returns a word in quotes: one line, with control characters escaped,
// and clipped to 80 characters.
func Quote(word string) string { return strconv.Quote(Clip(word, 80)) }

// Clip returns a text, shortened to at most that many characters and an ellipsis.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for at := range text {
		if most--; most < 0 {
			return text[:at] + "…"
		}
	}
	return text
}

// Line returns a text as one line of at most that many characters and an ellipsis:
// each run of white space and control characters becomes a blank, and what is
// not UTF-8 becomes U+FFFD.
func Line(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	return Clip(text, most)
}

// Either lists words, quoted, as alternatives: "a", "b" or "c".
func Either[T ~string](words ...T) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = Quote(string(w))
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Count returns a number with its noun: 1 hook, 2 hooks.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
