package match

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const hostileSize = 64 << 10

// hostile are lines of 64 KiB that cost much to read.
var hostile = map[string]string{
	"words":             strings.Repeat("a ", hostileSize/2),
	"unknown programs":  strings.Repeat("a b c;", hostileSize/6),
	"commands":          strings.Repeat("git status;", hostileSize/11),
	"quoted texts":      "tool " + strings.Repeat(`"a b; c" `, hostileSize/9),
	"one text":          "tool '" + strings.Repeat("a b; ", hostileSize/5) + "'",
	"text in text":      "tool '" + strings.Repeat(`x "a b" `, hostileSize/8) + "'",
	"carriers":          strings.Repeat("sudo ", hostileSize/5),
	"options":           "sudo " + strings.Repeat("-a b ", hostileSize/5),
	"mixed carriers":    strings.Repeat("env nice -n 5 xargs ", hostileSize/20),
	"shells":            strings.Repeat("bash -c 'a b';", hostileSize/14),
	"braces":            "rm " + strings.Repeat("{a,b}", hostileSize/5),
	"brace words":       "rm " + strings.Repeat("{a,b}{c,d} ", hostileSize/11),
	"globs":             "rm " + strings.Repeat("a*b? ", hostileSize/5),
	"one glob":          "cat " + strings.Repeat("*a", hostileSize/2),
	"variables":         strings.Repeat("a=$b;b=$a;", hostileSize/10),
	"unknown words":     "cat " + strings.Repeat("$a ", hostileSize/3),
	"one unknown word":  "cat " + strings.Repeat("$a", hostileSize/2),
	"quoted variables":  "cat " + strings.Repeat(`"$a" `, hostileSize/5),
	"substitutions":     strings.Repeat("$(a);", hostileSize/5),
	"nested":            strings.Repeat("$(", 400) + strings.Repeat(")", 400),
	"brackets":          strings.Repeat("(", hostileSize),
	"pipes":             strings.Repeat("a|", hostileSize/2) + "a",
	"redirections":      "a" + strings.Repeat(" >b", hostileSize/3),
	"paths":             "cat " + strings.Repeat("/a/b/../c ", hostileSize/10),
	"one path":          "cat /" + strings.Repeat("../a/", hostileSize/5),
	"colons":            "tool " + strings.Repeat("a:b=c@d,", hostileSize/8),
	"document":          "bash <<E\n" + strings.Repeat("a b;\n", hostileSize/5) + "E\n",
	"functions":         strings.Repeat("f(){ f;};", hostileSize/9),
	"loops":             strings.Repeat("for i in a b;do a $i;done;", hostileSize/26),
	"aliases":           strings.Repeat("alias a='b c';a;", hostileSize/16),
	"echo":              "echo " + strings.Repeat("'a b;c' ", hostileSize/8),
	"awk":               "awk '" + strings.Repeat("{print $1|x}", hostileSize/12) + "'",
	"arithmetic":        strings.Repeat("((a+1));", hostileSize/8),
	"cd":                strings.Repeat("cd a;", hostileSize/5),
	"git options":       "git " + strings.Repeat("-c a.b=c ", hostileSize/9) + "push",
	"python":            "python3 -c '" + strings.Repeat("a(b);", hostileSize/5) + "'",
	"backslashes":       "a " + strings.Repeat(`\`+"a", hostileSize/2),
	"escapes":           "a $'" + strings.Repeat(`\x41`, hostileSize/4) + "'",
	"cannot be parsed":  strings.Repeat("a b 'c ", hostileSize/7),
	"sets and defaults": strings.Repeat("${a:-b} ", hostileSize/8),
}

// judgeAll asks every condition about a line, as a catalogue of guards does.
func judgeAll(tb testing.TB, command string, rules *Rules, paths *Touches) {
	c := inWork(tb, command)
	rules.Match(c)
	Destructive(c)
	Network(c)
	paths.Match(c, Read)
	paths.Match(c, Write)
}

// A bound for a machine that stalls; the benchmark says what it takes.
func TestHostileLinesAreJudgedSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("long: judges very long lines")
	}
	rules, _ := ParseRules([]string{"Bash(git push *)", "Bash(rm *)"}, RuleOptions{})
	paths, _ := ParseTouches(secretFiles, TouchOptions{})
	for name, command := range hostile {
		var times []time.Duration
		for range 3 {
			start := time.Now()
			judgeAll(t, command, rules, paths)
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		t.Logf("%-18s %6.1f ms", name, times[1].Seconds()*1000)
		if times[0] > 15*time.Second {
			t.Errorf("%s: took %s", name, times[0])
		}
	}
}

func BenchmarkHostileLines(b *testing.B) {
	rules, _ := ParseRules([]string{"Bash(git push *)", "Bash(rm *)"}, RuleOptions{})
	paths, _ := ParseTouches(secretFiles, TouchOptions{})
	for name, command := range hostile {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				judgeAll(b, command, rules, paths)
			}
		})
	}
}

// A shell runs what stands before a mistake, and sees other mistakes than the
// parser.
func TestALineWithAMistakeIsNoHarmlessLine(t *testing.T) {
	for command, want := range map[string]Certainty{
		"ls; git push )":               Suspected,
		"((echo a); (rm -rf /))":       Suspected,
		"echo \"x\nrm -rf /":           Suspected,
		"rm -rf /\necho \"x":           Sure,
		"git status\nif x; then\ny":    Suspected,
		"echo ok && ; rm -rf /":        Suspected,
		"for x in a; do rm -rf /; end": Suspected,
	} {
		if d := Destructive(inWork(t, command)); d.Certainty < want {
			t.Errorf("%q: %+v, want %d", command, d, want)
		}
		rule, _ := ParseRule("Bash(npm publish *)", RuleOptions{})
		if d := rule.Match(inWork(t, command)); d.Certainty < Suspected {
			t.Errorf("%q: a rule: %+v", command, d)
		}
	}
}
