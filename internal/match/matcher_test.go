package match

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCompileTellsKindsApart(t *testing.T) {
	narrow := MatcherOptions{Narrow: true}
	glob := MatcherOptions{Syntax: SyntaxGlob}
	regex := MatcherOptions{Syntax: SyntaxRegexp}
	tests := []struct {
		pattern string
		opts    MatcherOptions
		kind    Kind
		names   []string
	}{
		{"", MatcherOptions{}, KindEvery, nil},
		{"*", MatcherOptions{}, KindEvery, nil},
		{"*", regex, KindEvery, nil},
		{"*", glob, KindEvery, nil},
		{"Bash", MatcherOptions{}, KindExact, []string{"Bash"}},
		{"Task", MatcherOptions{}, KindExact, []string{"Task", "Agent"}},
		{"Agent|Task", MatcherOptions{}, KindList, []string{"Agent", "Task"}},
		{" Read , Write||", MatcherOptions{}, KindList, []string{"Read", "Write"}},
		{"|", MatcherOptions{}, KindList, []string{}},
		{"a-b", MatcherOptions{}, KindExact, []string{"a-b"}},
		{"a-b", narrow, KindRegexp, nil},
		{"a,b", narrow, KindRegexp, nil},
		{"a b", narrow, KindRegexp, nil},
		{"rate_limit|Task", narrow, KindList, []string{"rate_limit", "Task"}},
		{".env", narrow, KindRegexp, nil},
		{"Bash.*", MatcherOptions{}, KindRegexp, nil},
		{"Bash", regex, KindRegexp, nil},
		{"Bash", glob, KindExact, []string{"Bash"}},
		{"Web*", glob, KindPattern, nil},
		{"Bas?", glob, KindPattern, nil},
		{"B.sh", glob, KindExact, []string{"B.sh"}},
	}
	for _, tt := range tests {
		m := Compile(tt.pattern, tt.opts)
		if m.Kind() != tt.kind {
			t.Errorf("Compile(%q, %+v) is of kind %d, want %d", tt.pattern, tt.opts, m.Kind(), tt.kind)
		}
		if diff := cmp.Diff(tt.names, m.Names()); diff != "" {
			t.Errorf("Compile(%q, %+v).Names() (-want +got):\n%s", tt.pattern, tt.opts, diff)
		}
		for _, n := range tt.names {
			if ok, err := m.Match(n); !ok || err != nil {
				t.Errorf("Compile(%q, %+v).Match(%q) = %v, %v", tt.pattern, tt.opts, n, ok, err)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern string
		opts    MatcherOptions
		name    string
		want    bool
	}{
		{"Agent", MatcherOptions{}, "Task", true},
		{"^Task$", MatcherOptions{}, "Agent", true},
		{"^Agent$", MatcherOptions{}, "Task", true},
		{"^Tas.$", MatcherOptions{Narrow: true}, "Agent", false},
		{"Bash", MatcherOptions{Syntax: SyntaxRegexp}, "BashOutput", true},
		{"Bash", MatcherOptions{Syntax: SyntaxGlob}, "BashOutput", false},
		{"Bash*", MatcherOptions{Syntax: SyntaxGlob}, "BashOutput", true},
		{"*Output", MatcherOptions{Syntax: SyntaxGlob}, "BashOutput", true},
		{"B??h", MatcherOptions{Syntax: SyntaxGlob}, "Bash", true},
		{"B?h", MatcherOptions{Syntax: SyntaxGlob}, "Bash", false},
		{"?", MatcherOptions{Syntax: SyntaxGlob}, "é", true},
		{"README.md", MatcherOptions{Narrow: true}, "README.md", true},
		{"read-me", MatcherOptions{Narrow: true}, "not-read-me", true},
		{"(?i:bash)", MatcherOptions{}, "BASH", true},
		{"[B-D]ash", MatcherOptions{}, "Cash", true},
		{`a{2,3}$`, MatcherOptions{}, "baa", true},
		{`(?<=mcp__)\w+`, MatcherOptions{}, "mcp__x", true},
		{`(?<=mcp__)\w+`, MatcherOptions{}, "mcp_x", false},
		{`^(.)\1`, MatcherOptions{}, "aab", true},
		{`^.$`, MatcherOptions{}, "\u2028", false},
		{strings.Join([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, "|"), MatcherOptions{}, "i", true},
		{strings.Join([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, "|"), MatcherOptions{}, "j", false},
	}
	for _, tt := range tests {
		m := Compile(tt.pattern, tt.opts)
		if err := m.Valid(); err != nil {
			t.Errorf("Compile(%q).Valid() = %v", tt.pattern, err)
		}
		if got, err := m.Match(tt.name); got != tt.want || err != nil {
			t.Errorf("Compile(%q, %+v).Match(%q) = %v, %v, want %v", tt.pattern, tt.opts, tt.name, got, err, tt.want)
		}
	}
}

// The file holds random patterns, and what a JavaScript engine made of them.
func TestExpressionsAreJavaScripts(t *testing.T) {
	var o struct {
		Names []string
		Cases []struct {
			Pattern string
			Valid   bool
			Matches string
		}
	}
	load(t, "expressions.json", &o)
	for _, c := range o.Cases {
		m := Compile(c.Pattern, MatcherOptions{Syntax: SyntaxRegexp})
		if err := m.Valid(); (err == nil) != c.Valid {
			t.Errorf("%q: valid is %v in JavaScript, ours %v", c.Pattern, c.Valid, err)
		}
		for i, name := range o.Names {
			want := c.Valid && c.Matches[i] == '1'
			if got, err := m.matchExpression(name); got != want || err != nil {
				t.Errorf("%q on %q: JavaScript %v, ours %v, %v", c.Pattern, name, want, got, err)
			}
		}
	}
}

func TestM3CatastrophicExpressionsAreBounded(t *testing.T) {
	long := strings.Repeat("a", 4000) + "!"
	tests := []struct {
		name, pattern, on string
		wantErr           bool
	}{
		{"linear", `(a+)+$`, long, false},
		{"backtracking", `(?=(a+)+$)`, long, true},
		{"back-reference", `^(a+)+\1$`, long, true},
		{"long name", `(?=a)b`, strings.Repeat("a", maxBacktrack+1), true},
		{"long pattern", strings.Repeat("(?=", maxBacktrack) + "a" + strings.Repeat(")", maxBacktrack), "a", true},
		{"huge counts", `(?:(?:a{100}){100}){100}`, long, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Compile(tt.pattern, MatcherOptions{})
			start := time.Now()
			ok, err := m.Match(tt.on)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if ok || (err != nil) != tt.wantErr {
				t.Errorf("Match = %v, %v; want false, error %v", ok, err, tt.wantErr)
			}
		})
	}
}

func TestProblemsSayWhatWasMeant(t *testing.T) {
	tests := []struct {
		pattern string
		code    string
		hint    string
	}{
		{"mcp__memory", ProblemMatcherMCPServer, "write mcp__memory__.* for"},
		{"Bash|mcp__fs-x", ProblemMatcherMCPServer, "write mcp__fs-x__.* for"},
		{"mcp__memory__", ProblemMatcherMCPServer, "write mcp__memory__.* for"},
		{"mcp__memory__search", "", ""},
		{"mcp__memory__(write|search)", "", ""},
		{"Bash(Output)", "", ""},
		{"Bash(ls:*)", ProblemMatcherRule, `write matcher "Bash"`},
		{"mcp__x__y(q:*)", ProblemMatcherRule, `write matcher "mcp__x__y"`},
		{"bash", ProblemMatcherCase, "write Bash"},
		{"Read Write", ProblemMatcherNothing, "separate names"},
		{"|", ProblemMatcherNothing, "leave it out"},
		{"[", ProblemMatcherInvalid, "quote"},
		{"*Bash*", ProblemMatcherInvalid, "write .*"},
		{"(?i)bash", ProblemMatcherInvalid, "[Bb]ash"},
		{`tool == "Bash"`, ProblemMatcherSyntax, "a list like"},
		{"/bash/i", ProblemMatcherSyntax, "a list like"},
		{"Write|Read", "", ""},
		{"^(?!Bash).*$", "", ""},
	}
	for _, tt := range tests {
		ps := Compile(tt.pattern, MatcherOptions{}).Problems()
		if tt.code == "" {
			if len(ps) != 0 {
				t.Errorf("%q: unexpected problems %v", tt.pattern, ps)
			}
			continue
		}
		if len(ps) != 1 || ps[0].Code != tt.code || !strings.Contains(ps[0].Hint, tt.hint) || !strings.Contains(ps[0].String(), fmt.Sprintf("%q", tt.pattern)) {
			t.Errorf("%q: got %+v, want one %s with hint %q", tt.pattern, ps, tt.code, tt.hint)
		}
	}
}

func TestInvalidMatchersSelectNothingAndSayWhy(t *testing.T) {
	for _, p := range []string{"(", "a**", "[z-a]", "x{2,1}", `a\`, "(?<n>a)\\k<m>", "(?P<n>a)", "(?>a)", "^*", ")"} {
		m := Compile(p, MatcherOptions{})
		if ok, err := m.Match("Bash"); ok || err != nil {
			t.Errorf("Compile(%q).Match = %v, %v", p, ok, err)
		}
		err := m.Valid()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("matcher %q: ", p)) {
			t.Errorf("Compile(%q).Valid() = %v", p, err)
		}
	}
}

func TestMatcherIsSafeForConcurrentUse(t *testing.T) {
	m := Compile("^(?!Bash)", MatcherOptions{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if ok, err := m.Match("Read"); !ok || err != nil {
					t.Errorf("Match = %v, %v", ok, err)
				}
			}
		})
	}
	wg.Wait()
}
