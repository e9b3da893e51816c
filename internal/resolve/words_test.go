package resolve

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestALineOfPlainWordsIsSplitAsTheParserSplitsIt(t *testing.T) {
	word := rapid.StringMatching(`[=a-z0-9_./:,@%+-]{1,6}|if|function|ls|é|#|~|\$X|"a"`)
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), rapid.SampledFrom([]string{" ", " ", "  "}).Draw(t, "between"))
		plain, ok := plainWords(line)
		if !ok {
			return
		}
		parsed, ok := parsedWords(line, func(string) string { return "" })
		if ok && !slices.Equal(plain, parsed) || !ok && !slices.Contains(builtins, plain[0]) {
			t.Fatalf("%q: %q, the parser says %q, %v", line, plain, parsed, ok)
		}
	})
	for _, line := range []string{"", " ls", "A=b ls", "ls =x", "ls ~", "ls $X", "ls  -l", "ls\t-l", "ls #x"} {
		if argv, ok := plainWords(line); ok {
			t.Errorf("%q counts as plain: %q", line, argv)
		}
	}
}

func TestALineThatWasReadBeforeHasTheVariablesOfItsOwnRun(t *testing.T) {
	const line = `"$HOOK_DIR/run.sh" 'a b'`
	for _, dir := range []string{"/one", "/two", "/one"} {
		argv, ok := words(line, func(string) string { return dir })
		if want := []string{dir + "/run.sh", "a b"}; !ok || !slices.Equal(argv, want) {
			t.Errorf("%q, %v, want %q", argv, ok, want)
		}
	}
	for range 2 {
		if argv, ok := words("true; exit 0", func(string) string { return "" }); ok {
			t.Errorf("a line for a shell counts as a command: %q", argv)
		}
	}
}
