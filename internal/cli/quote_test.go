package cli

import "testing"

func TestAWordIsQuotedAsProgramsOnWindowsReadIt(t *testing.T) {
	for word, want := range map[string]string{
		`a b`: `"a b"`, `{"command":"ls"}`: `"{\"command\":\"ls\"}"`, `C:\my dir\`: `"C:\my dir\\"`, `a\"b`: `"a\\\"b"`, ``: `""`,
	} {
		if got := cmdQuote(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}
