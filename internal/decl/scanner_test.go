package decl

import (
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

var few = limits{Depth: 4, Parts: 3, Commas: 10}

// seen is a key as the scan found it.
type seen struct {
	Line int
	Key  string
	Kind lineKind
}

func walk(s *scanner) []seen {
	var all []seen
	for ; s.More(); s.Next() {
		if parts, kind := s.Key(); kind != other {
			all = append(all, seen{s.Line(), strings.Join(parts, "|"), kind})
		}
	}
	return all
}

func TestEachKeyHasItsLine(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []seen
	}{
		"nothing":                {"", nil},
		"blanks and comments":    {"\n \t\n# a = 1\n", nil},
		"kinds":                  {"a = 1\n[b]\n[[c]]\n", []seen{{1, "a", keyValue}, {2, "b", header}, {3, "c", appendHeader}}},
		"parts":                  {"a . 'b c'.\"d\" = 1\n[ x.y ]", []seen{{1, "a|b c|d", keyValue}, {2, "x|y", header}}},
		"a list of lines":        {"a = [\n1,\nb,\n]\nc = 1", []seen{{1, "a", keyValue}, {5, "c", keyValue}}},
		"a string of lines":      {"a = '''\nb = 1\n\"\"\"'''\nc = 1", []seen{{1, "a", keyValue}, {4, "c", keyValue}}},
		"escaped quotes":         {"a = \"\\\"\"\nb = \"\"\"\\\"\"\"\n\"\"\"\"\nc = 1", []seen{{1, "a", keyValue}, {2, "b", keyValue}, {4, "c", keyValue}}},
		"a quote in a comment":   {"a = 1 # it's\nb = 2", []seen{{1, "a", keyValue}, {2, "b", keyValue}}},
		"a string without end":   {"a = 'x\nb = 2", []seen{{1, "a", keyValue}, {2, "b", keyValue}}},
		"brackets in a string":   {"a = '[{'\nb = 2", []seen{{1, "a", keyValue}, {2, "b", keyValue}}},
		"more closed than open":  {"a = ]]\nb = 2", []seen{{1, "a", keyValue}, {2, "b", keyValue}}},
		"a key without an end":   {"'a\nb = 2", []seen{{2, "b", keyValue}}},
		"no more parts than one": {"a.b.c.d.e.f = 1", []seen{{1, "a|b|c|d", keyValue}}},
	} {
		if diff := cmp.Diff(test.want, walk(newScanner(test.text, few))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestScanStopsAtALimit(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want excess
		line int
	}{
		"depth, the last allowed":  {"a = [[[[]]]]", within, 1},
		"depth":                    {"\na = [[[[[", tooNested, 2},
		"depth, of tables":         {"a = {a={a={a={a={", tooNested, 1},
		"depth, over lines":        {"a = [\n[\n[\n[\n[\n", tooNested, 5},
		"parts, the last allowed":  {"a.a.a = 1.0", within, 1},
		"parts":                    {"a.a.a.a = 1", tooParted, 1},
		"parts, in an inner table": {"a = {a.a = 1, a.a.a.a = 1}", tooParted, 1},
		"commas, the last allowed": {"a = [" + strings.Repeat("1,", 10) + "]", within, 1},
		"commas":                   {"a = [" + strings.Repeat("1,\n", 11) + "]", tooMany, 11},
		"in a string":              {"a = '[[[[[....,,,,,,,,,,,,'", within, 1},
		"in a comment":             {"# [[[[[....,,,,,,,,,,,,", within, 1},
	} {
		s := newScanner(test.text, few)
		walk(s)
		if s.Excess() != test.want || s.Line() != test.line {
			t.Errorf("%s: %v on line %d, want %v on %d", name, s.Excess(), s.Line(), test.want, test.line)
		}
	}
}

func TestStringThatSwallowsTheRestIsOpen(t *testing.T) {
	for text, want := range map[string]bool{"a = '''\n": true, "a = \"\"\"x\"\"": true, "a = 'x": false, "a = ''''''": false, "a = ''": false} {
		s := newScanner(text, few)
		if walk(s); s.open != want {
			t.Errorf("%q: open %v", text, s.open)
		}
	}
}

// What the parser takes has the keys that the scan saw, so the scan takes no
// text within a value for a key.
func FuzzScan(f *testing.F) {
	for _, text := range []string{"a = 1\n[b.c]\nd = [1,\n2]\n[[e]]\nf = '''\ng = 1\n'''\n", "a = \"\"\"\"\"\"\"\"\n", "'a.b'.\"c\" = {d.e = 1}", "a = [[[[[", "\r\n[ x ]\r\ny = '\\'\r\n", "a.b.c.d.e = 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newScanner(text, limits{Depth: 16, Parts: 8, Commas: 100})
		type found struct {
			key  []string
			kind lineKind
		}
		var keys []found
		for s.More() {
			before := s.pos
			if want := 1 + strings.Count(text[:before], "\n"); s.Line() != want {
				t.Fatalf("byte %d is on line %d, not %d", before, want, s.Line())
			}
			parts, kind := s.Key()
			if (kind == other) != (len(parts) == 0) || len(parts) > 9 {
				t.Fatalf("kind %v of the key %q", kind, parts)
			}
			if kind != other {
				keys = append(keys, found{slices.Clone(parts), kind})
			}
			if s.Next(); s.pos <= before {
				t.Fatalf("it stays at byte %d", before)
			}
		}
		if s.Excess() != within {
			return
		}
		var root map[string]any
		meta, err := toml.Decode(text, &root)
		if err != nil {
			return
		}
		if s.open || s.pos != len(text) {
			t.Fatalf("open %v, at byte %d of %d", s.open, s.pos, len(text))
		}
		known := make(map[string]bool)
		for _, key := range meta.Keys() {
			known[strings.Join(key, "\x00")] = true
		}
		var table []string
		for _, k := range keys {
			path := k.key
			if k.kind == keyValue {
				path = append(slices.Clone(table), path...)
			} else {
				table = path
			}
			if joined := strings.Join(path, "\x00"); !known[joined] && !strings.Contains(joined, "\\") {
				t.Errorf("%q is no key", path)
			}
		}
	})
}
