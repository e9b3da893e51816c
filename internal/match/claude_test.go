package match

import (
	"testing"

	"pgregory.net/rapid"
)

var subjects = []string{"", "Bash", "Ba", "xBash", "Bash2", "bash", "Task", "Agent", "Edit", "MultiEdit", "a.b", "aXb", "a-b", "a b", "a,b",
	"mcp__x__y", "mcp__fs__read", "Bash\nEdit", "*", "?", "é", "aéb", `a\b`, "a|b", "Write|Edit"}

func selects(t *rapid.T, m *Matcher, name string) bool {
	ok, err := m.Match(name)
	if err != nil {
		t.Fatalf("%q on %q: %v", m, name, err)
	}
	return ok
}

func TestPatternOfAnySyntaxBecomesOneOfClaudeThatSelectsTheSame(t *testing.T) {
	piece := rapid.SampledFrom([]string{"Bash", "Ba", "Task", "Edit", "a", "b", ".", "*", "?", "|", "-", ",", " ", "^", "$", `\*`, `\\`, "mcp__", ".*", "é", "(x)?", "["})
	rapid.Check(t, func(t *rapid.T) {
		pattern := ""
		for _, p := range rapid.SliceOfN(piece, 0, 5).Draw(t, "pieces") {
			pattern += p
		}
		for _, o := range []MatcherOptions{{}, {Syntax: SyntaxRegexp}, {Syntax: SyntaxGlob}, {Narrow: true}, {Syntax: SyntaxRegexp, Narrow: true}, {Syntax: SyntaxGlob, Narrow: true}} {
			was := Compile(pattern, o)
			now := Compile(AsClaude(pattern, o), MatcherOptions{Narrow: o.Narrow})
			if (was.Valid() == nil) != (now.Valid() == nil) {
				t.Fatalf("%q (%+v) became %q: %v, %v", pattern, o, now, was.Valid(), now.Valid())
			}
			if was.Valid() != nil {
				continue
			}
			for _, name := range subjects {
				if a, b := selects(t, was, name), selects(t, now, name); a != b {
					t.Fatalf("%q (%+v) became %q: on %q %v, want %v", pattern, o, now, name, b, a)
				}
			}
		}
	})
}

func TestUnionSelectsWhatAnyOfItsPatternsSelects(t *testing.T) {
	pattern := rapid.SampledFrom([]string{"", "*", "Bash", "Edit|Write", "Task", "Ba", "^Ba", "a.b", "mcp__.*", "(a)(b)", `(.)\1`, "[", "a-b", "Agent, Edit", "|", "B(?=a)", "^x|h$"})
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfN(pattern, 1, 3).Draw(t, "patterns")
		narrow := rapid.Bool().Draw(t, "narrow")
		union, ok := Union(patterns, narrow)
		if !ok {
			return
		}
		all := Compile(union, MatcherOptions{Narrow: narrow})
		for _, name := range subjects {
			want := false
			for _, p := range patterns {
				want = want || selects(t, Compile(p, MatcherOptions{Narrow: narrow}), name)
			}
			if got := selects(t, all, name); got != want {
				t.Fatalf("%q is the union of %q: on %q %v, want %v", union, patterns, name, got, want)
			}
		}
		for _, name := range subjects {
			a, b := patterns[0], patterns[len(patterns)-1]
			if Apart(a, b, narrow) && selects(t, Compile(a, MatcherOptions{Narrow: narrow}), name) && selects(t, Compile(b, MatcherOptions{Narrow: narrow}), name) {
				t.Fatalf("%q and %q are not apart: %q", a, b, name)
			}
		}
	})
	for _, patterns := range [][]string{{"(a)", `(b)\1`}, {"[", "a"}} {
		if union, ok := Union(patterns, false); ok {
			t.Errorf("the union of %q is %q", patterns, union)
		}
	}
	if union, ok := Union([]string{"Edit", "^mcp__"}, false); !ok || union != "(?:^mcp__)|^(?:Edit)$" {
		t.Error(union, ok)
	}
}

func TestListsOfOtherNamesAreApart(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Edit", "Write", true}, {"Edit|Bash", "Write, Read", true}, {"Edit", "Edit", false}, {"Edit|Bash", "Bash|Read", false},
		{"Task", "Agent", false}, {"*", "Edit", false}, {"", "Edit", false}, {"Edit", "W.*", false}, {"W.*", "Edit", false},
	} {
		if got := Apart(tt.a, tt.b, false); got != tt.want {
			t.Errorf("%q and %q are apart: %v", tt.a, tt.b, got)
		}
	}
	for _, pattern := range []string{`a\1`, `a\9`, `\k`, "(?<n>a)"} {
		if union, ok := Union([]string{pattern, "Edit"}, false); ok {
			t.Errorf("the union with %q, which refers to groups, is %q", pattern, union)
		}
	}
	if union, ok := Union([]string{"(?<=a)b", "|"}, false); !ok || union != "(?:(?<=a)b)" {
		t.Error(union, ok)
	}
}
