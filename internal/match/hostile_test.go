package match

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

const hostileSize = 64 << 10

// hostile are lines of 64 KiB that cost much to read.
var hostile = map[string]string{
	"Windows switches":  "takeown " + strings.Repeat("/F ", hostileSize/3),
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

	"other words":         numbered("rm ", "a%d ", ""),
	"other programs":      numbered("", "a%d b c;", ""),
	"other system files":  numbered("rm ", "/etc/a%d ", ""),
	"other globs":         numbered("rm ", "a%d*/b? ", ""),
	"other wild paths":    numbered("cat ", "*/a%d/*/?/x ", ""),
	"other braces":        numbered("cat ", "{a,b}%d ", ""),
	"other variables":     numbered("cat ", `"$a%d" `, ""),
	"other assignments":   numbered("", "a%d=b ", "c"),
	"assignments":         numbered("", "a%d=b;", "echo $a1"),
	"assigned commands":   numbered("", "A%d='rm -rf /x' ", "c"),
	"other redirections":  numbered("a", " >b%d", ""),
	"other documents":     numbered("", "cat <<<a%d;", ""),
	"other aliases":       numbered("", "alias a%d='b c';a%d;", ""),
	"aliases of aliases":  numbered("alias a0=b;", "alias a%d='a%d;a%d';", "a1"),
	"other functions":     numbered("", "f%d(){ f1 x; };f%d;", ""),
	"other directories":   numbered("", "cd a%d;rm b;", ""),
	"awk programs":        numbered("", "awk '{print $%d|\"x\"}' f;", ""),
	"pythons":             numbered("", "python3 -c 'a(%d)';", ""),
	"subshells":           strings.Repeat("(", 200) + strings.Repeat("rm a;", hostileSize/5) + strings.Repeat(")", 200),
	"nested quotes":       nested(8, "rm -rf a"),
	"nested evals":        strings.Repeat("eval ", 2000) + "rm a",
	"nested shells":       strings.Repeat("bash -c \"", 12) + strings.Repeat("rm a;", 8000) + strings.Repeat("\"", 12),
	"finds":               numbered("", "find a%d -name b -exec rm {} +;", ""),
	"find with tests":     "find " + strings.Repeat("-name a -o ", hostileSize/11) + "-delete",
	"xargs":               numbered("", "ls|xargs -I{} rm {}%d;", ""),
	"pushes":              numbered("git push -f origin ", "a%d ", ""),
	"case":                "case a in " + numbered("", "a%d) rm b;;", "") + " esac",
	"links":               numbered("cat ", "/proc/self/root/a%d ", ""),
	"dots":                numbered("cat ", "a%d/../../b ", ""),
	"indirections":        numbered("", "a%d=a1; $a%d x;", ""),
	"arrays":              "a=(" + strings.Repeat("b ", hostileSize/2-10) + `);rm "${a[@]}"`,
	"long variable":       "a=" + strings.Repeat("b", 4000) + ";" + strings.Repeat("rm $a;", 8000),
	"many long variables": "a=" + strings.Repeat("b ", 2000) + ";" + strings.Repeat("rm $a$a$a;", 5000),
	"long patterns":       "cat " + strings.Repeat(strings.Repeat("*?", 400)+" ", hostileSize/801),
	"urls":                numbered("tool ", "http://a%d/b?c=d ", ""),
	"statements":          numbered("psql -c ", "'delete from a%d' ", ""),
	"defaults":            repeated("${a:-b}a:b=c@d, "),
	"appends":             repeated("a+=b\n"),
	"patterns as names":   repeated("? \n"),
	"sequences":           repeated("{1..9};"),
	"sequences in a list": "curl " + repeated("{1..9} \n"),
	"here-strings":        "a " + repeated("<<<a * "),
	"removed ends":        repeated("${a%b}x "),
	"written scripts":     "echo 'rm a' >x;" + strings.Repeat("sh x;", hostileSize/5),
	"growing scripts":     strings.Repeat("echo 'sh x' >>x;sh x;", hostileSize/20),
	"named programs":      numbered("tool ", "--shell=a%d ", ""),
	"references":          numbered("tool ", "a/b:%d ", ""),
	"typed lines":         "tool " + strings.Repeat(`'a\nb' `, hostileSize/7),
	"typed keys":          "tmux send-keys " + strings.Repeat("a Enter ", hostileSize/8),
	"items":               "tool " + strings.Repeat("{} ", hostileSize/3-20) + "<<< 'a b c d e f'",
	"equal signs":         numbered("dd ", "of=/a%d ", ""),
}

// repeated repeats a text until it is as long as a hostile line.
func repeated(text string) string { return strings.Repeat(text, hostileSize/len(text)) }

// numbered repeats a text with a number in it until it is as long as a hostile
// line.
func numbered(before, each, after string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := 1; b.Len()+len(each)+len(after)+12 < hostileSize; i++ {
		b.WriteString(strings.ReplaceAll(each, "%d", strconv.Itoa(i)))
	}
	return b.String() + after
}

// nested quotes a command again and again.
func nested(times int, command string) string {
	for range times {
		command = "bash -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	}
	return command
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

// These bound the work for one line of 64 KiB: memory is what hostile lines cost
// most, and can be counted on a busy machine.
const (
	maxAllocs = 600_000
	maxBytes  = 100 << 20
)

// checkWork judges a line and counts what that takes.
func checkWork(t *testing.T, name, command string) {
	t.Helper()
	rules, _ := ParseRules([]string{"Bash(git push *)", "Bash(rm *)"}, RuleOptions{})
	paths, _ := ParseTouches(secretFiles(t), TouchOptions{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	judgeAll(t, command, rules, paths)
	runtime.ReadMemStats(&after)
	allocs, bytes := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	if allocs > maxAllocs || bytes > maxBytes {
		t.Errorf("%s: %d allocations, %d KiB; want at most %d and %d", name, allocs, bytes>>10, maxAllocs, maxBytes>>10)
	}
}

func TestTheWorkForALineIsBounded(t *testing.T) {
	built.NotUnderWine(t, "its tests are built without optimization, and allocate more")
	if testing.Short() {
		t.Skip("long: judges very long lines")
	}
	for name, command := range hostile {
		checkWork(t, name, command)
	}
}

// A line that takes too much work to be judged counts as one that does all that
// is asked about.
func TestALineThatIsTooMuchWorkCounts(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(npm publish *)"}, RuleOptions{})
	paths, _ := ParseTouches([]string{"~/.nothing/**"}, TouchOptions{})
	for _, name := range []string{"unknown programs", "carriers", "other programs", "defaults", "aliases", "pipes", "nested shells"} {
		c := inWork(t, hostile[name])
		for condition, d := range map[string]Decision{"if": rules.Match(c), "destructive": Destructive(c), "network": Network(c), "touches": paths.Match(c, Touch)} {
			if d.Certainty < Suspected {
				t.Errorf("%s: %s: %+v", name, condition, d)
			}
		}
	}
}

func BenchmarkHostileLines(b *testing.B) {
	rules, _ := ParseRules([]string{"Bash(git push *)", "Bash(rm *)"}, RuleOptions{})
	paths, _ := ParseTouches(secretFiles(b), TouchOptions{})
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
