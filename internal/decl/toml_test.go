package decl

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// keyLine says on which line of a text a key stands, from 1.
type keyLine struct {
	path string // with dots between the tables
	line int
}

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
		end, ok := TOMLEnd(rest, "+++")
		if !ok || end != len(text) {
			t.Fatalf("the text ends at %d, not at %d\n%s", end, len(text), text)
		}
		doc := Parse(TOML, rest[:end], Options{Line: 3})
		if doc.Bad != nil {
			t.Fatalf("not TOML: %+v\n%s", doc.Bad, text)
		}
		for _, want := range w.keys {
			if n := lineOf(doc.Root, want.path); n != want.line+2 {
				t.Fatalf("%s is on line %d, not on %d\n%s", want.path, want.line, n, text)
			}
		}
	})
}

// lineOf is the line of a key, by its path.
func lineOf(n *Node, path string) int {
	for _, p := range n.Pairs() {
		if p.Key == path {
			return p.Line
		} else if rest, ok := strings.CutPrefix(path, p.Key+"."); ok {
			return lineOf(p.Node, rest)
		}
	}
	return 0
}

func TestParserGetsNothingThatNestsTooDeep(t *testing.T) {
	deep := func(open, close string) string {
		return strings.Repeat(open, maxDepth+1) + strings.Repeat(close, maxDepth+1)
	}
	for lang, texts := range map[Language][]string{
		TOML: {"a = " + deep("[", "]"), "a = " + deep("{a=", "}"), strings.Repeat("a.", maxParts) + "a = 1", "[" + strings.Repeat("a . ", maxParts) + "a]"},
		JSON: {deep("[", "]"), deep(`{"a":`, "}"), "// [\n" + deep("[", "]")},
		YAML: {"a: " + deep("[", "]"), "a: " + deep("{a: ", "}")},
	} {
		for _, text := range texts {
			if doc := Parse(lang, text, Options{}); doc.Bad == nil || doc.Bad.Code != "too_deep" || doc.Root != nil {
				t.Errorf("%.40q…: %v", text, doc.Bad)
			}
		}
	}
	many := strings.Repeat("[.", 1000)
	for lang, text := range map[Language]string{
		TOML: "a = '" + many + "'\nb = '''\n" + many + "''' # " + many,
		JSON: `{"a": "` + many + `\""} // ` + many + "\n/*" + strings.Repeat("{", 1000) + "*/",
	} {
		if doc := Parse(lang, text, Options{}); doc.Bad != nil {
			t.Errorf("%.40q…: %v", text, doc.Bad)
		}
	}
}

// What says the same in each language is the same tree.
func TestEachLanguageIsOneTree(t *testing.T) {
	for lang, text := range map[Language]string{
		TOML: "a = 1\nb = [true, \"x\"]\n[c]\nd = 1.5\n",
		YAML: "a: 1\nb: [true, x]\nc:\n  d: 1.5\n",
		JSON: "{\"a\": 1, // one\n\"b\": [true, \"x\"],\n\"c\": {\n\"d\": 1.5}}",
	} {
		doc := Parse(lang, text, Options{Line: 10})
		if doc.Bad != nil {
			t.Fatal(doc.Bad)
		}
		raw, _ := doc.Root.JSON()
		if string(raw) != `{"a":1,"b":[true,"x"],"c":{"d":1.5}}` || lineOf(doc.Root, "b") != 11 || lineOf(doc.Root, "c.d") != 13 {
			t.Errorf("%d: %s, %d, %d", lang, raw, lineOf(doc.Root, "b"), lineOf(doc.Root, "c.d"))
		}
	}
}
