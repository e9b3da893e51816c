package phrase_test

import (
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

func TestPartsOfMessagesAreShortSafeLines(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{phrase.Clip("äöü", 3), "äöü"}, {phrase.Clip("äöü", 2), "äö…"}, {phrase.Clip("", 0), ""}, {phrase.Clip("a", 0), "…"},
		{phrase.Bytes("äö", 4), "äö"}, {phrase.Bytes("äö", 3), "ä…"}, {phrase.Bytes("a\xffb", 9), "a\uFFFDb"}, {phrase.Bytes("a\xff", 2), "a…"},
		{phrase.Quote("a\n\x1b[2J"), `"a\n\x1b[2J"`}, {phrase.Quote(strings.Repeat("é", 81)), `"` + strings.Repeat("é", 80) + `…"`},
		{phrase.Line(" a\n\tb\x00\x1b[0mc\u202e \xff ", 20), "a b [0mc"}, {phrase.Line("a b c", 3), "a b…"},
		{phrase.First(" \n\x07\n a\u202eb\x1b[2J\u2028c\xff\nd", 20), "ab [2Jc\uFFFD"}, {phrase.First("abc\nd", 2), "ab…"}, {phrase.First("\n \n", 5), ""},
		{phrase.Either("a"), `"a"`}, {phrase.Either("a", "b", "c"), `"a", "b" or "c"`}, {phrase.Either[string](), ""},
		{phrase.Count(1, "hook"), "1 hook"}, {phrase.Count(0, "hook"), "0 hooks"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
