package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tomlText writes TOML that is correct and as awkward as it may be, and notes
// the line of each key.
type tomlText struct {
	strings.Builder
	keys   []keyLine
	prefix string
}

func (w *tomlText) line() int { return 1 + strings.Count(w.String(), "\n") }

// statement adds a comment, a header or a key with its value, number n.
func (w *tomlText) statement(t *rapid.T, n int) {
	bare := fmt.Sprintf("key-%d", n)
	switch rapid.IntRange(0, 9).Draw(t, "statement") {
	case 0:
		w.WriteString("# +++ [x = '''\n")
	case 1:
		w.WriteString(" \t\n")
	case 2:
		w.prefix = bare
		w.keys = append(w.keys, keyLine{bare, w.line()})
		fmt.Fprintf(w, "  [ %s ] # a table\n", bare)
	default:
		key, path := bare, bare
		switch rapid.IntRange(0, 3).Draw(t, "key") {
		case 0:
			key = `"` + bare + `"`
		case 1:
			key, path = bare+" . 'b c'.d", bare+".b c.d"
		}
		if w.prefix != "" {
			path = w.prefix + "." + path
		}
		w.keys = append(w.keys, keyLine{path, w.line()})
		fmt.Fprintf(w, "%s = %s%s\n", key, value(t, 0), rapid.SampledFrom([]string{"", " # ]'\"", "\t"}).Draw(t, "behind"))
	}
}

func value(t *rapid.T, depth int) string {
	const awkward = "+++ [ { # , . = x"
	switch kind := rapid.IntRange(0, 8).Draw(t, "value"); {
	case kind == 0:
		return `"` + awkward + ` \" \\ '"`
	case kind == 1:
		return `'` + awkward + ` " \'`
	case kind == 2:
		return "\"\"\"\n+++\n" + awkward + ` \""" "" \\` + "\n +++ \\\n \"\"\"\"\""
	case kind == 3:
		return "'''\n+++\r\n" + awkward + " \\ \"\"\" ''\n[x]\n'''"
	case kind == 4:
		return `""`
	case kind == 5 && depth < 3:
		return "[\n  # ]\n" + value(t, depth+1) + ",\n\n" + value(t, depth+1) + "]"
	case kind == 6 && depth < 3:
		return "{a.b = " + value(t, depth+1) + `, "c.d" = 1.5}`
	}
	return "1_000"
}

func TestScanKnowsTheEndAndTheLineOfEachKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w tomlText
		for n := range rapid.IntRange(0, 8).Draw(t, "statements") {
			w.statement(t, n)
		}
		text := w.String()
		rest := text + " +++ \nbody '''\n+++\n"
		doc, bad := readTOML(block{rest: rest, fence: "+++", taken: len(rest)})
		if bad != nil {
			t.Fatalf("not TOML: %+v\n%s", bad, text)
		}
		if diff := cmp.Diff(w.keys, doc.keys, cmp.AllowUnexported(keyLine{})); diff != "" && len(w.keys)+len(doc.keys) > 0 {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}

func TestScanStopsBeforeTheParserCannot(t *testing.T) {
	for text, want := range map[string]string{
		"a = " + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth): "",
		"a = " + strings.Repeat("[", maxDepth+1):                               "too_deep",
		"a = " + strings.Repeat("{a=", maxDepth+1):                             "too_deep",
		"a = [\n" + strings.Repeat("[\n", maxDepth):                            "too_deep",
		strings.Repeat("a.", maxParts-1) + "a = 1":                             "",
		strings.Repeat("a.", maxParts) + "a = 1":                               "too_deep",
		"[" + strings.Repeat("a . ", maxParts) + "a]":                          "too_deep",
		"x = {" + strings.Repeat(`"a".`, maxParts) + "a = 1}":                  "too_deep",
		"a = '" + strings.Repeat("[.", 1000) + "'":                             "",
		"a = '''\n" + strings.Repeat("[.\n", 1000) + "'''":                     "",
		"# " + strings.Repeat("[.", 1000):                                      "",
		"a = [" + strings.Repeat("1,", maxValues+1) + "]":                      "too_many",
	} {
		code := ""
		if bad := scanTOML(text, "").bad; bad != nil {
			code = bad.code
		}
		if code != want {
			t.Errorf("%.40q…: %q, want %q", text, code, want)
		}
	}
}

func TestLineFallsBackToTheTableAround(t *testing.T) {
	doc := &document{keys: []keyLine{{"requires", 3}, {"requires.bins", 4}}}
	for path, want := range map[string]int{"requires.bins": 4, "requires.os": 3, "requires.os.x": 3, "env": 0, "": 0} {
		if got := doc.line(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
