package match

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// slow is far above what one match may take, on a machine with other work.
const slow = time.Minute

func FuzzMatcher(f *testing.F) {
	for _, seed := range []struct{ pattern, name string }{
		{"", "Bash"}, {"*", ""}, {"Write|Read", "Read"}, {"^(?!Bash).*$", "Read"}, {"(?i)bash", "Bash"}, {"(a+)+$", "aaaa!"},
		{"mcp__.*__write.*", "mcp__memory__write"}, {"[z-a]", "a"}, {"a{2,1}", "a"}, {`\k<n>(?<n>a)`, "a"}, {"[\\d-z]", "-"},
		{"(?=(a+)+$)", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}, {"B?sh*", "Bash"}, {"\xff", "\xff"}, {"Task", "Agent"},
	} {
		for opts := range uint8(6) {
			f.Add(seed.pattern, seed.name, opts)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, name string, o uint8) {
		opts := MatcherOptions{Syntax: Syntax(o % 3), Narrow: o >= 3}
		start := time.Now()
		m := Compile(pattern, opts)
		ok, err := m.Match(name)
		if took := time.Since(start); took > slow {
			t.Errorf("took %v", took)
		}
		if ok && err != nil {
			t.Errorf("selected and failed: %v", err)
		}
		if ok && m.Valid() != nil {
			t.Errorf("an invalid pattern selects: %v", m.Valid())
		}
		for _, n := range m.Names() {
			if ok, _ := m.Match(n); !ok {
				t.Errorf("does not select %q, which it names", n)
			}
		}
		if m.Kind() == KindExact || m.Kind() == KindList {
			if ok && !strings.Contains(strings.Join(m.Names(), "\x00"), name) {
				t.Errorf("selects %q, which is not in %q", name, m.Names())
			}
		}
	})
}

func FuzzIfRule(f *testing.F) {
	var o observation
	load(f, "if-bash.json", &o)
	for i, rule := range o.Rules {
		f.Add(rule, o.Commands[i%len(o.Commands)])
	}
	for _, command := range o.Commands {
		f.Add("Bash(git push *)", command)
	}
	for _, command := range []string{strings.Repeat("$((", 50), strings.Repeat("find -exec ", 20) + "x", `eval "eval 'sudo x'"`, "a\\\nb", "=x", "{a,b}"} {
		f.Add("Bash:~x", command)
	}
	f.Add("Read(src/**/[a-c]{x}.go)", "src/a/b.go")
	f.Add("a.b=c,d,e=*", "c")
	f.Add("WebFetch(domain:*.x.org)", "https://a.x.org")
	f.Fuzz(func(t *testing.T, text, input string) {
		if !utf8.ValidString(input) {
			t.Skip() // JSON has none
		}
		raw, err := json.Marshal(map[string]string{"command": input, "file_path": input, "url": input})
		if err != nil {
			t.Fatal(err)
		}
		rule, _ := ParseRule(text, RuleOptions{})
		strict, _ := ParseRule(text, RuleOptions{StrictCompat: true})
		start := time.Now()
		for _, name := range []string{"Bash", "Read", "WebFetch"} {
			c := &Call{ToolName: name, ToolInput: raw, Cwd: "/w", Workspace: "/w", Home: "/h"}
			d := rule.Match(c)
			if strict.Match(c).Run && !d.Run {
				t.Errorf("%s: strict runs, the default does not: %s", name, d.By)
			}
			if d.By == "" || strings.ContainsAny(d.By, "\n\x1b") {
				t.Errorf("%s: by %q", name, d.By)
			}
		}
		if took := time.Since(start); took > slow {
			t.Errorf("took %v", took)
		}
	})
}

// FuzzWork judges a text again and again in one line.
func FuzzWork(f *testing.F) {
	for _, seed := range []struct{ before, text, after string }{
		{"a=(", "b ", `);rm "${a[@]}"`}, {"", "a=b;$a ", ""}, {"rm ", "{a,b}? ", ""}, {"", "a+=b\n", ""}, {"python3 -c ", "${a:-b} ", ""},
		{"", "echo 'a b'|", "sh"}, {"bash <<E\n", "a $b\n", "\nE"}, {"", "f(){ g;};", ""}, {"cat ", "~/.ssh/* ", ""}, {"a='", "b ", `';$a`},
		{"", "$(a `b`)", ""}, {"sudo ", "-u a ", "rm -rf /"}, {"x ", "http://a/?b=c&", ""}, {"", "alias a='b;c';a;", ""},
	} {
		f.Add(seed.before, seed.text, seed.after)
	}
	f.Fuzz(func(t *testing.T, before, text, after string) {
		line := before + text + after
		if text == "" || len(line) > hostileSize/2 || !utf8.ValidString(line) {
			t.Skip()
		}
		line = before + strings.Repeat(text, (hostileSize-len(before)-len(after))/len(text)) + after
		checkWork(t, "the line", line)
	})
}
