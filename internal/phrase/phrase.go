// Package phrase makes parts of messages: quoted words, clipped texts, single
// lines and lists. It imports nothing of this project.
//
//	fmt.Printf("expected %s, got %s", phrase.Either("on", "off"), phrase.Quote(got))
package phrase

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Bytes returns a text as valid UTF-8, shortened to at most that many bytes and an
// ellipsis.
func Bytes(text string, most int) string {
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Line returns a text as one line of at most that many characters and an
// ellipsis: each run of what is no printable character becomes a blank.
func Line(text string, most int) string {
	unprintable := func(c rune) bool { return c == utf8.RuneError || unicode.IsSpace(c) || !unicode.IsPrint(c) }
	return Clip(strings.Join(strings.FieldsFunc(text, unprintable), " "), most)
}

// First returns the first line of a text that is not blank, without what could
// move a cursor or turn the reading direction, of at most that many characters and
// an ellipsis.
func First(text string, most int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Map(func(c rune) rune {
			switch {
			case unicode.IsControl(c):
				return ' '
			case unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp):
				return -1
			}
			return c
		}, strings.ToValidUTF8(line, "\uFFFD")))
		if line != "" {
			return Clip(line, most)
		}
	}
	return ""
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
