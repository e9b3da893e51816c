package match

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// parsed reads a text by the parser alone.
func parsed(text string) *command {
	c := &command{text: text}
	c.file, c.err = ParseShell(text)
	c.line = newLineReader(text, "/src/project", "/home/alice").readLine(c.file, c.err)
	return c
}

// samePlain reports what differs between a text read without the parser and by
// it.
func samePlain(t interface{ Fatalf(string, ...any) }, text string) (plain bool) {
	got, want := newCommand(text, "/src/project", "/home/alice"), parsed(text)
	if !got.plain {
		return false
	}
	if !reflect.DeepEqual(got.line, want.line) {
		t.Fatalf("%q\nplain:  %+v\nparsed: %+v", text, got.line, want.line)
	}
	if !reflect.DeepEqual(got.see(), want.see()) {
		t.Fatalf("%q: Claude Code sees\nplain:  %+v\nparsed: %+v", text, got.see(), want.see())
	}
	for _, source := range []string{"Bash(git push *)", "Bash(git push)", "Bash(*)", "Bash(rm:*)", "Bash(*push*)", "Bash:~push", "Read(x)"} {
		rule, _ := ParseRule(source, RuleOptions{})
		shell, ok := rule.arg.(*shellRule)
		if !ok {
			continue
		}
		if g, w := shell.matchCommand(got, nil), shell.matchCommand(want, nil); g != w {
			t.Fatalf("%s on %q\nplain:  %+v\nparsed: %+v", source, text, g, w)
		}
	}
	return true
}

// A line of plain words is read without the parser, and says the same.
func TestPlainLinesAreReadAsTheParserReadsThem(t *testing.T) {
	piece := rapid.SampledFrom([]string{"git", "push", "rm", "-rf", "/", "xargs", "sudo", "env", "A=b", "--a=b", "-C", "a", "..", "b/c", "if", "time", "export",
		"'", `"`, " ", " ", " ", "  ", "\t", "\n", ";", "&&", "|", "(", ")", "{", "}", "$x", "*", "?", "~", "#", "!", "\\", "`", "=", ",", "%", "@", "+", ":", "[", "]", "<", ">", "\x01",
		"é", "bash", "-c", "'git push'", `"rm -rf /"`, "eval", "cd", "echo", "find", "-exec", "1", "2>", "&", "2>&1", " && ", " | ", "; ", "|| ", "^", "''", `""`, "-", "--", "in", "let"})
	plains := 0
	rapid.Check(t, func(t *rapid.T) {
		if samePlain(t, strings.Join(rapid.SliceOfN(piece, 1, 9).Draw(t, "pieces"), "")) {
			plains++
		}
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abcr/.:,@%+-_=19")), 1, 8, -1)
		quoted := rapid.Map(rapid.StringOfN(rapid.SampledFrom([]rune("ab ;|&(){}[]<>*?~#!=-/,rm.")), 0, 9, -1), func(s string) string { return "'" + s + `'"` + s + `"` })
		words := rapid.SliceOfN(rapid.OneOf(word, quoted, piece), 1, 6).Draw(t, "words")
		if samePlain(t, strings.Join(words, " ")) {
			plains++
		}
	})
	if plains == 0 {
		t.Error("no line was plain")
	}
}

func TestOrdinaryLinesArePlain(t *testing.T) {
	for _, line := range []string{"git status", "rm -rf /", "git push origin main", "go test ./... -run='TestX' -count=1", `git commit -m "Fix: it works (now)!"`, "ls", "  ls  -la ",
		"docker run --rm -v=/a:/b image", `printf '%s\n' a` + "", "/usr/bin/env", "''", "cd x && make 2>&1 | tail -5; ls||true", "a|b&&c;d", "echo 'rm -rf /' | sh", "echo x | xargs git push", "cat ~/.ssh/x; ls ~", "~/bin/x ~"} {
		if !samePlain(t, line) && !strings.Contains(line, `\`) {
			t.Errorf("%q is not plain", line)
		}
	}
	for _, line := range []string{"", " ", "a;", ";a", "a;;b", "a && | b", "a & b", "a |& b", "a 2>&1b", "2>&1 a", "a && b=c", "a | if", "a\n", "a=b", "a a=b", "if", "time a", "$a", "a*", "~x", "~+", "~&", "~/'a b'", "a~/\\b", "a#b", "'a", `"$a"`, "[ a ]", "{ a", "a > b", "a\tb", "a\\b", "é", "'a\tb'",
		strings.Repeat("a ", maxPlain)} {
		if newCommand(line, "", "").plain {
			t.Errorf("%q is plain", line)
		}
	}
}

// The lists of commands as people write them, too.
func TestListedCommandsAreReadAsTheParserReadsThem(t *testing.T) {
	for _, name := range []string{"destructive.txt", "harmless.txt", "network.txt", "secrets.txt"} {
		for _, one := range commandsOf(t, name) {
			samePlain(t, one.command)
		}
	}
}

func FuzzPlainLine(f *testing.F) {
	for _, seed := range []string{"git push", "rm -rf '/'", `a "b c"d --e=f`, "if a", "a=b", "''", "xargs git push", "sudo -u x git push"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			samePlain(t, text)
		}
	})
}
