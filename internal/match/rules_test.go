package match

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestNoSpellingHidesRmFromARule(t *testing.T) {
	rule, _ := ParseRule("Bash(rm *)", RuleOptions{})
	held := 0
	for _, one := range commandsOf(t, "destructive.txt") {
		command := one.command
		if one.want == "passed" || !strings.Contains(command, "rm -rf /") || strings.HasPrefix(command, "srm ") || strings.Contains(command, "echo \"rm -rf /\"") || strings.HasPrefix(command, "git commit") || strings.HasPrefix(command, "bind ") {
			continue
		}
		held++
		if d := rule.Match(inWork(t, command)); !d.Run {
			t.Errorf("hidden in %s", command)
		}
	}
	if held < 100 {
		t.Errorf("only %d commands", held)
	}
}

func TestRulesCoverOnlyWhatTheyAllMatch(t *testing.T) {
	tests := []struct {
		command string
		want    bool
	}{
		{"git status", true}, {"git status; git diff", true}, {"git log | git cat-file --batch", true}, {"git diff > /dev/null", true},
		{"git status; rm -rf /", false}, {"git status && ls", false}, {"echo $(git status)", false}, {"git $X", false},
		{"git diff > x", false}, {"A=1 git status", false}, {"/tmp/git status", false}, {"sudo git status", false}, {"timeout 5 git status", false},
		{"git -c alias.x='!rm -rf /' x", false}, {"f() { git status; }; f", false}, {"git status | sh", false}, {"git \"unclosed", false},
		{"git add *", false}, {"git add ./*.go", true}, {"", false}, {"X=1", false}, {"git log $(rm x)", false},
		{"git -c core.pager='rm x' log", false}, {"git -c core.hooksPath=/x commit", false}, {"git --exec-path=/x y", false}, {"git grep -O'rm x' y", false},
		{"git fetch --upload-pack='rm x'", false}, {"git difftool -x 'rm x'", false}, {"git -c core.quotepath=off log", true}, {"git log --format='%h %s'", true}, {"bash -c 'git status'", false},
	}
	rules, _ := ParseRules([]string{"Bash(git *)", "Read(src/**)"}, RuleOptions{})
	for _, tt := range tests {
		if d := rules.Covers(inWork(t, tt.command)); d.Run != tt.want || d.By == "" {
			t.Errorf("%s: %+v, want %v", tt.command, d, tt.want)
		}
	}
	read := tool("Read", `{"file_path":"src/a"}`)
	if d := rules.Covers(read); d.Certainty != Sure {
		t.Errorf("a path: %+v", d)
	}
}

func TestRulesCoverNoReachBeyondTheirCommands(t *testing.T) {
	var patterns []string
	for _, name := range strings.Fields(`git ls cat echo find sort sed grep head npm go less tar awk env printf test true cd man rg xargs diff make [ read declare export tee time command fd jq wc file uniq date`) {
		patterns = append(patterns, "Bash("+name+" *)")
	}
	rules, _ := ParseRules(patterns, RuleOptions{})
	for _, one := range commandsOf(t, "covered.txt") {
		if d := rules.Covers(inWork(t, one.command)); d.Run != (one.want == "covered") {
			t.Errorf("%q: %+v, want %s", one.command, d, one.want)
		}
	}
}

func TestARuleThatNamesAnOptionCoversIt(t *testing.T) {
	for command, rule := range map[string]string{
		"sed -i s/a/b/ x": "Bash(sed -i *)", "sort -o x y": "Bash(sort -o *)", "find . -name x -delete": "Bash(find . -name x -delete)", "git log --output=x": "Bash(git log --output=x)",
	} {
		rules, _ := ParseRules([]string{rule}, RuleOptions{})
		if d := rules.Covers(inWork(t, command)); d.Certainty != Sure {
			t.Errorf("%s by %s: %+v", command, rule, d)
		}
	}
	rules, _ := ParseRules([]string{"Bash(sed -i *)"}, RuleOptions{})
	if d := rules.Covers(inWork(t, "sed -i -f script x")); d.Run {
		t.Errorf("an option that the rule does not name: %+v", d)
	}
}

func TestNoSpellingHidesAPushFromARule(t *testing.T) {
	rule, _ := ParseRule("Bash(git push *)", RuleOptions{})
	for _, one := range commandsOf(t, "pushes.txt") {
		if d := rule.Match(inWork(t, one.command)); d.Certainty < Suspected {
			t.Errorf("hidden in %s: %+v", one.command, d)
		}
	}
}

func TestAnExceptionLiftsNoMoreThanItMatches(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(git push *)"}, RuleOptions{})
	unless, _ := ParseRules([]string{"Bash(git push --dry-run *)"}, RuleOptions{})
	for command, want := range map[string]bool{
		"git push": true, "git push --dry-run": false, "git push --dry-run x": false, "git push --dry-run; git push": true,
		"sudo git push --dry-run": false, "git -C x push": true, "git push $X": true, "ls": false, "eval \"$X\"": true,
	} {
		if d := rules.MatchUnless(inWork(t, command), unless); d.Run != want {
			t.Errorf("%s: %+v, want %v", command, d, want)
		}
	}
}

func TestAnExceptionWithAnOptionLiftsTheWholeCommand(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(rm *)"}, RuleOptions{})
	unless, _ := ParseRules([]string{"Bash(rm -rf build)"}, RuleOptions{})
	for command, want := range map[string]bool{
		"rm -rf build": false, "rm -rf build && ls": false, "sudo rm -rf build": false, "rm -rf build; rm -rf build2": true, "rm -rf build build2": true, "rm -r -f build": true,
	} {
		if d := rules.MatchUnless(inWork(t, command), unless); d.Run != want {
			t.Errorf("%s: %+v, want %v", command, d, want)
		}
	}
}

func TestCertaintySaysWhatIsOnlySuspected(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(rm *)"}, RuleOptions{})
	for command, want := range map[string]Certainty{
		"rm x": Sure, "sudo rm x": Sure, "bash -c 'rm x'": Sure, "c=rm; $c x": Sure, "echo rm x | sh": Sure, "env -i -S 'rm x'": Sure, "env 1A=b rm x": Sure,
		"env a-b=c rm x": Sure, "unknown rm x": Suspected, "$C x": Suspected, "/bin/r? x": Suspected, "curl x | sh": Suspected, "perl -e 'system(\"rm x\")'": Suspected,
		"cat <<E\nhello\nE": Observed, "f() { ls; }; f": Observed, "ls": No, "echo rm x": No,
	} {
		if d := rules.Match(inWork(t, command)); d.Certainty != want || d.Run != (want > No) {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestPathsAreTriedThroughLinks(t *testing.T) {
	built.NeedsLinks(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "secrets/in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secrets", filepath.Join(dir, "docs")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("secrets/in", filepath.Join(dir, "deep")); err != nil {
		t.Fatal(err)
	}
	rule, _ := ParseRule("Edit(/secrets/**)", RuleOptions{})
	strict, _ := ParseRule("Edit(/secrets/**)", RuleOptions{StrictCompat: true})
	touches, _ := ParseTouches([]string{"secrets/**"}, TouchOptions{})
	for name, want := range map[string]bool{
		"docs/a": true, "docs/not/yet": true, "secrets/a": true, "docs/../secrets/a": true, "deep/../a": true, "other": false, "docs2/a": false,
		"/proc/self/cwd/secrets/a": true,
	} {
		c := &Call{ToolName: "Edit", ToolInput: []byte(`{"file_path":"` + name + `"}`), Cwd: dir, Workspace: dir, Home: "/home/alice"}
		if d := rule.Match(c); d.Run != want {
			t.Errorf("rule on %s: %+v, want %v", name, d, want)
		}
		if d := strict.Match(c); d.Run && strings.HasPrefix(name, "docs/a") {
			t.Errorf("strict rule on %s: %+v", name, d)
		}
		line := bash(t, "cat "+name)
		line.Cwd, line.Workspace, line.Home = dir, dir, "/home/alice"
		if d := touches.Match(line, Read); d.Run != want {
			t.Errorf("touches on %s: %+v, want %v", name, d, want)
		}
	}
	for command, want := range map[string]bool{
		"cat d*s/a": true, "cat do?s/a": true, "cat dee[p]/../a": true, "cat de*/../a": true, "cat other*/a": false, "cat ../*/docs/a": true,
		"cat ./deep/../a": true, "cat " + dir + "/deep/../a": true, "cd deep/.. && cat a": false,
	} {
		line := bash(t, command)
		line.Cwd, line.Workspace, line.Home = dir, dir, "/home/alice"
		if d := touches.Match(line, Read); d.Run != want {
			t.Errorf("touches on %s: %+v, want %v", command, d, want)
		}
	}
}

// A hostile line costs no more than a bound, whatever judges it.
func TestLongLinesAreJudgedWithinABound(t *testing.T) {
	if testing.Short() {
		t.Skip("long: judges very long lines")
	}
	const size = 64 << 10
	rule, _ := ParseRule("Bash(git push * x)", RuleOptions{})
	judge := secrets(t)
	for _, piece := range []string{"rm ", "git push ", "sudo ", "a ", "a;", "$(", "\"$(", "env A=1 ", "find -exec ", "{a,b}", "curl x ", "cat * ", "cat $X ", "eval ", "'", "if ",
		"xargs ", "a=$a$a;", "<<E ", "python3 -c '", "python ", "a/b/../c ", "${a:-", "git -c alias.a='!", "bash -c \"", "x|", "f(){ ", "echo a;", "./x/y.env ", "curl http://localhost ", "-a ", "rm -rf * "} {
		c := inWork(t, strings.Repeat(piece, size/len(piece)))
		start := time.Now()
		rule.Match(c)
		parsed := time.Since(start)
		judge(c)
		touched := time.Since(start)
		Destructive(c)
		Network(c)
		took := time.Since(start)
		if took > 15*time.Second {
			t.Errorf("%q: %v", piece, took)
		}
		if took > 50*time.Millisecond {
			t.Logf("%q: rule %v, touches %v, all %v", piece, parsed, touched-parsed, took)
		}
	}
}

func TestWhatCoversACall(t *testing.T) {
	for _, tt := range []struct {
		rules, tool, input string
		want               bool
	}{
		{"Bash", "Bash", `{"command":"rm -rf /; eval \"$X\""}`, true},
		{"", "Bash", `{"command":"ls"}`, true},
		{"Bash(/usr/bin/git *)", "Bash", `{"command":"/usr/bin/git status"}`, true},
		{"Bash(/usr/bin/git *)", "Bash", `{"command":"git status"}`, false},
		{"Bash(git *)", "Bash", `{"command":"/usr/bin/git status"}`, false},
		{"Bash(git *),Bash(ls *)", "Bash", `{"command":"git status | ls -l"}`, true},
		{"Bash(git *),Bash(ls *)", "Bash", `{"command":"git status | ls -l | wc"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git status 2>&1"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git status 2> /dev/stderr"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git status 2> x"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git status < x"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git add a*"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git add ?x"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git add [a-c]"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git add x$Y"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git add ''"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git commit -m 'rm -rf /'"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git status\n"}`, true},
		{"Bash(git *)", "Bash", `{"command":"# nothing"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git status","command":"ls"}`, false},
		{"Bash(git *)", "Bash", `{"command":1}`, false},
		{"Bash(git *)", "Bash", `{}`, false},
		{"Bash(git *)", "Bash", `{"command":"alias g=git; git status"}`, false},
		{"Bash(git *)", "Bash", `{"command":"git -c a.pager=x log"}`, false},
		{"Bash(git *)", "Read", `{"file_path":"a"}`, false},
		{"Read(src/**)", "Read", `{"file_path":"/src/project/src/a"}`, true},
		{"Read(src/**)", "Read", `{"file_path":"/src/project/a"}`, false},
		{"Read(src/**)", "Read", `{}`, false},
		{"Read", "Read", `{}`, true},
		{"Edit", "Write", `{"file_path":"a"}`, true},
	} {
		rules, _ := ParseRules(strings.Split(tt.rules, ","), RuleOptions{})
		if d := rules.Covers(inProject(tt.tool, tt.input)); d.Run != tt.want || (d.Certainty == Sure) != tt.want || d.By == "" {
			t.Errorf("%s on %s: %+v, want %v", tt.rules, tt.input, d, tt.want)
		}
	}
}
