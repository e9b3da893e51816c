package match

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// A glob is the regular expression that one would write for it.
func TestGlobsAgreeWithRegularExpressions(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune(`ab é*?\`)), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, s := text.Draw(t, "pattern"), text.Draw(t, "text")
		question := rapid.Bool().Draw(t, "question")
		var expr strings.Builder
		for i, runes := 0, []rune(pattern); i < len(runes); i++ {
			switch c := runes[i]; {
			case c == '\\' && i+1 < len(runes) && (runes[i+1] == '*' || runes[i+1] == '\\' || question && runes[i+1] == '?'):
				i++
				expr.WriteString(regexp.QuoteMeta(string(runes[i])))
			case c == '*':
				expr.WriteString(".*")
			case c == '?' && question:
				expr.WriteString(".")
			default:
				expr.WriteString(regexp.QuoteMeta(string(c)))
			}
		}
		want := regexp.MustCompile(`(?s)\A` + expr.String() + `\z`).MatchString(s)
		if got := compileGlob(pattern, question).match(s); got != want {
			t.Fatalf("%q on %q: glob %v, regexp %v", pattern, s, got, want)
		}
	})
}

// However a command is quoted, combined and wrapped, a rule for it runs.
func TestNoDisguiseHidesACommand(t *testing.T) {
	quote := func(t *rapid.T, words ...string) string {
		quoted := make([]string, len(words))
		for i, w := range words {
			switch q, err := syntax.Quote(w, syntax.LangBash); {
			case err != nil:
				t.Fatal(err)
			case rapid.Bool().Draw(t, "quote"):
				quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			default:
				quoted[i] = q
			}
		}
		return strings.Join(quoted, rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "space"))
	}
	disguises := []func(*rapid.T, string) string{
		func(_ *rapid.T, s string) string { return "A=1 true && " + s },
		func(_ *rapid.T, s string) string { return "ls\n" + s + " # done" },
		func(_ *rapid.T, s string) string { return "ls | " + s + " >out 2>&1" },
		func(_ *rapid.T, s string) string { return "(" + s + ") &" },
		func(_ *rapid.T, s string) string { return "echo $(" + s + ")" },
		func(_ *rapid.T, s string) string { return "if true; then " + s + "; fi" },
		func(_ *rapid.T, s string) string { return "while " + s + "; do :; done" },
		func(_ *rapid.T, s string) string { return "{ " + s + "; }" },
		func(_ *rapid.T, s string) string { return "f() (" + s + ")" },
		func(t *rapid.T, s string) string { return "sudo -u x " + quote(t, "bash", "-c", s) },
		func(t *rapid.T, s string) string { return quote(t, "eval", s) },
		func(t *rapid.T, s string) string { return quote(t, "timeout", "-k", "1", "5", "sh", "-ec", s) },
		func(t *rapid.T, s string) string { return quote(t, "trap", s, "EXIT") },
		func(t *rapid.T, s string) string { return "find . -exec " + quote(t, "sh", "-c", s) + ` \;` },
	}
	rule, _ := ParseRule("Bash(git push *)", RuleOptions{})
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune(`ab'"$\ ;&|(){}*é-`)), 1, 6, -1), 0, 3).Draw(t, "args")
		command := quote(t, append([]string{"git", "push"}, args...)...)
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			command = rapid.SampledFrom(disguises).Draw(t, "disguise")(t, command)
		}
		if d := rule.Match(bash(&testing.T{}, command)); !d.Run {
			t.Fatalf("%q is not seen in %s: %s", rule, command, d.By)
		}
	})
}
