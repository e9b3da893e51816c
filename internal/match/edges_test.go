package match

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestALongCommandIsReadToItsLastWord(t *testing.T) {
	many := strings.Repeat("a ", 2*maxMentioned)
	for command, want := range map[string]Certainty{"tool " + many + "rm -rf /": Suspected, "sudo " + many + "rm -rf /": Suspected, "tool " + many: No} {
		if d := Destructive(inWork(t, command)); d.Certainty != want {
			t.Errorf("%.20s… of %d words: %+v, want %d", command, 2*maxMentioned, d, want)
		}
	}
}

func TestTheWorkspaceIsGuardedFromWhereverTheSessionIs(t *testing.T) {
	for _, tt := range []struct {
		cwd, command string
		want         Certainty
	}{
		{"/tmp/x", "rm -rf /src/project", Sure},
		{"/tmp/x", "rm -rf /src/project/*", Sure},
		{"/tmp/x", "rm -rf /src/project/sub", No},
		{"/src/project/sub", "rm -rf /src/project", Sure},
		{"/src/project/sub", "rm -rf ..", Sure},
		{"/src/project/sub", "rm -rf ../other", No},
		{"", "rm -rf /src/project", Sure},
	} {
		c := inWork(t, tt.command)
		c.Cwd = tt.cwd
		if d := Destructive(c); d.Certainty != tt.want {
			t.Errorf("%s in %q: %+v, want %d", tt.command, tt.cwd, d, tt.want)
		}
	}
}

func TestAListOfWordsCountsAtAnyDepth(t *testing.T) {
	for _, input := range []string{
		`{"a":{"argv":["rm","-rf","/"]}}`, `{"a":{"b":{"c":["rm","-rf","/"]}}}`, `{"a":[[["rm","-rf","/"]]]}`, `{"a":[{"b":["rm","-rf","/"]}]}`,
		`{"a":[1,["rm","-rf","/"]]}`, `{"n":12,"a":["rm","-rf","/"]}`, `{"n":null,"b":true,"a":["rm","-rf","/"]}`,
	} {
		if d := Destructive(inProject("mcp__sh__run", input)); d.Certainty != Sure {
			t.Errorf("%s: %+v", input, d)
		}
	}
}

func TestAToolsPatternNamesItsToolsAlone(t *testing.T) {
	for _, tt := range []struct {
		rule, tool string
		strict     bool
		want       bool
	}{
		{"mcp__fs__*", "mcp__fs__read", false, true},
		{"mcp__fs__*", "mcp__FS__read", false, false},
		{"mcp__fs__*", "mcp__net__read", false, false},
		{"mcp__fs", "mcp__fs__read", false, true},
		{"mcp__fs", "mcp__FS__read", false, false},
		{"mcp__fs__", "mcp__fs__read", false, true},
		{"mcp__fs__.*", "mcp__fs__read", false, true},
		{"mcp__fs", "mcp__fs__read", true, false},
		{"Edit", "Write", false, true},
		{"Edit", "MultiEdit", false, true},
		{"Edit", "NotebookEdit", false, true},
		{"Edit", "Read", false, false},
		{"Edit", "Write", true, false},
		{"Edit", "Edit", true, true},
		{"Write", "Edit", false, false},
		{"NotebookEdit(src/**)", "NotebookEdit", false, true},
		{"NotebookEdit(doc/**)", "NotebookEdit", false, false},
		{"NotebookRead(src/**)", "NotebookRead", false, true},
		{"NotebookRead(doc/**)", "NotebookRead", false, false},
		{"MultiEdit(doc/**)", "MultiEdit", false, false},
		{"MultiEdit(src/**)", "MultiEdit", true, true},
		{"LS(doc/**)", "LS", false, false},
	} {
		rule, _ := ParseRule(tt.rule, RuleOptions{StrictCompat: tt.strict})
		if d := rule.Match(tool(tt.tool, `{"file_path":"src/a"}`)); d.Run != tt.want {
			t.Errorf("%s (strict %v) on %s: %+v, want %v", tt.rule, tt.strict, tt.tool, d, tt.want)
		}
	}
}

func TestARuleThatNamesNoToolIsAProblem(t *testing.T) {
	for _, text := range []string{"*", "*sh", "a b", "(x)", "Bash(x", "Bash x)", "nothing at all"} {
		rules, problems := ParseRules([]string{"Bash", text}, RuleOptions{StrictCompat: true})
		if len(problems) != 1 || rules.rules[1].Valid() || problems[0].Hint == "" {
			t.Errorf("%q: %+v", text, problems)
		}
	}
	for text, code := range map[string]string{
		"Bash(git *)": "", "Bash(f() x)": "", `Bash(a\) b)`: "", `Bash(\(a)`: "", "Bash(a) or Read(b)": ProblemRuleSeveral, "Bash(a) b (c)": ProblemRuleSeveral, "Bash( a)": ProblemRuleSpace,
	} {
		_, problems := ParseRule(text, RuleOptions{})
		if code == "" && len(problems) > 0 || code != "" && (len(problems) != 1 || problems[0].Code != code) {
			t.Errorf("%q: %+v, want %q", text, problems, code)
		}
	}
}

func TestEachCommandOfACallCountsByItself(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(git push *)"}, RuleOptions{})
	unless, _ := ParseRules([]string{"Bash(git push --dry-run *)"}, RuleOptions{})
	for input, want := range map[string]bool{
		`{"command":"git push","command":"ls"}`:                 true,
		`{"command":"ls","command":"git push"}`:                 true,
		`{"command":"git push --dry-run","command":"ls"}`:       false,
		`{"command":"git push --dry-run","command":"git push"}`: true,
	} {
		if d := rules.MatchUnless(inProject("Bash", input), unless); d.Run != want || d.By == "" {
			t.Errorf("%s: %+v, want %v", input, d, want)
		}
	}
}

func TestPatternsUniteUnlessOneRefersToItsGroups(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		want     bool
	}{
		{[]string{"Bash"}, true},
		{[]string{"Bash", "Edit|Write", "Bash"}, true},
		{[]string{"Bash", "^mcp__"}, true},
		{[]string{"^mcp__", "^mcp__", "k$"}, true},
		{[]string{"a.b", "Bash"}, true},
		{[]string{"Bash", ""}, true},
		{[]string{"|"}, true},
		{[]string{"Bash", "("}, false},
		{[]string{"Bash", `(a)\1`}, false},
		{[]string{"Bash", "(?<n>a)"}, false},
	} {
		union, ok := Union(tt.patterns, false)
		if ok != tt.want {
			t.Errorf("%q: %q, %v", tt.patterns, union, ok)
		}
		if strings.Contains(union, "^mcp__)|(?:^mcp__") || strings.Contains(union, "Bash|Bash") {
			t.Errorf("%q: %q has one of them twice", tt.patterns, union)
		}
	}
}

func TestAPathIsReadAsToolsExpandIt(t *testing.T) {
	for _, tt := range []struct {
		rule, path   string
		want, strict bool
	}{
		{"Read(~/.ssh/**)", "~/.ssh/x", true, true},
		{"Read(~/.ssh/**)", "$HOME/.ssh/x", true, false},
		{"Read(~/.ssh/**)", "${HOME}/.ssh/x", true, false},
		{"Read(~/.ssh/**)", " ~/.ssh/x", true, false},
		{"Read(~/.ssh/**)", "~alice/.ssh/x", true, false},
		{"Read(~/.ssh/**)", "~bob/.ssh/x", false, false},
		{"Read(//home/bob/**)", "~bob/.ssh/x", true, false},
		{"Read(//root/**)", "~root/x", true, false},
		{"Read(//root/**)", "~alice/x", false, false},
		{"Read(a)", "~+/a", true, true},
		{"Read(//etc/a)", "file:///etc/a", true, false},
		{"Read(//etc/a)", "file://localhost/etc/a", true, false},
		{"Read(//etc/a)", "file:///etc/%61", true, false},
		{"Read(//etc/a)", "/proc/self/root/etc/a", true, false},
		{"Read(//etc/a)", "/etc/b", false, false},
		{"Read(/src/a)", "src/a", true, true},
		{"Read(/src/a)", "other/src/a", false, false},
		{"Read(**/a)", "/elsewhere/x/a", true, true},
		{"Read(*.key)", "/elsewhere/x/a.key", true, true},
		{"Read(*.key/a)", "/elsewhere/x/a.key", false, false},
		{"Read:~Secret", "/x/my-SECRET-file", true, false},
		{"Read:~Secret", "/x/other", false, false},
		{"Read:/x/*.Key", "/x/A.key", true, false},
		{"Read:/x/?.key", "/x/ab.key", false, false},
	} {
		rule, problems := ParseRule(tt.rule, RuleOptions{StrictCompat: false, Caliban: true})
		if len(problems) > 0 {
			t.Error(problems)
		}
		c := inProject("Read", `{"file_path":"`+tt.path+`"}`)
		if d := rule.Match(c); d.Run != tt.want {
			t.Errorf("%s on %q: %+v, want %v", tt.rule, tt.path, d, tt.want)
		}
		if strings.Contains(tt.rule, ":") {
			continue
		}
		rule, _ = ParseRule(tt.rule, RuleOptions{StrictCompat: true})
		if d := rule.Match(c); d.Run != tt.strict {
			t.Errorf("strict: %s on %q: %+v, want %v", tt.rule, tt.path, d, tt.strict)
		}
	}
}

func TestAHostIsReadOffWhatAToolTakesForAURL(t *testing.T) {
	rule, _ := ParseRule("WebFetch(domain:example.com)", RuleOptions{})
	for text, want := range map[string]bool{
		"https://example.com": true, "https://EXAMPLE.com./x": true, "example.com": true, "example.com/x": true, "example.com:80": true, " https://example.com ": true,
		"https://example.org": false, "https://example.com@evil.example": false, "evil.example/example.com": false, "https://sub.example.com": false, "": true,
	} {
		if d := rule.Match(inProject("WebFetch", `{"url":"`+text+`"}`)); d.Run != want || d.By == "" {
			t.Errorf("%q: %+v, want %v", text, d, want)
		}
	}
}

func TestAQuestionMarkOfADomainIsItself(t *testing.T) {
	rule, _ := ParseRule("WebFetch(domain:exampl?.com)", RuleOptions{})
	if d := rule.Match(inProject("WebFetch", `{"url":"https://example.com"}`)); d.Run {
		t.Errorf("%+v", d)
	}
}

func TestAHomeDirectoryIsGuardedWhereverItLies(t *testing.T) {
	for command, want := range map[string]Certainty{
		"rm -rf ~": Sure, "rm -rf /data/alice": Sure, "rm -rf /data/alice/*": Sure, "rm -rf ~/.ssh": Suspected, "rm -rf /data/alice/.ssh": Suspected,
		"rm -rf ~/x": No, "rm -rf /data/alice/x": No, "rm -rf /data/bob": No,
	} {
		c := inWork(t, command)
		c.Home = "/data/alice"
		if d := Destructive(c); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestAStrictRuleRunsOnTextThatClaudeCodeCannotRead(t *testing.T) {
	rule, _ := ParseRule("Bash(git *)", RuleOptions{StrictCompat: true})
	for command, want := range map[string]bool{
		"export A=1": false, "export A=(1)": true, "declare a[1]=2": true, "a[1]=2": true, "a=(1)": true, "a=1": false,
		"a" + strings.Repeat(" a", 4999) + "a": false, "a" + strings.Repeat(" a", 5000): true, // 10000 and 10001 bytes
		"ls \\\nx": true, "ls \\\rx": true, "ls \\ x": true, "ls \\\tx": true, "ls \\x": false, "ls x\\": false, "ls \x01": true, "ls \x7f": true, "ls\tx": false, "ls\nx": false, "ls \r": true,
		"ls é": false, "ls\u00a0x": true, "ls\u200bx": true, "ls\ufeffx": true,
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if d := rule.Match(inProject("Bash", string(input))); d.Run != want || d.By == "" {
			t.Errorf("%.40q: %+v, want %v", command, d, want)
		}
	}
	for _, bracket := range []string{"(", "[", "{"} {
		command := "a '" + strings.Repeat(bracket, maxBrackets+1) + "'"
		if d := rule.Match(inProject("Bash", `{"command":"`+command+`"}`)); !d.Run || !strings.Contains(d.By, "nested too deeply") {
			t.Errorf("%s: %+v", bracket, d)
		}
	}
}

func TestADecisionNamesWhatRunsACommand(t *testing.T) {
	for command, want := range map[string]string{
		"git remote-ext origin 'rm -rf /'": "run by git remote-ext",
		"git submodule foreach rm -rf /":   "run by git submodule",
		"git bisect run rm -rf /":          "run by git bisect",
		"git rebase -x 'rm -rf /'":         "run by git rebase",
		"git rebase '-xrm -rf /'":          "run by git rebase",
		"git difftool --extcmd='rm -rf /'": "run by git difftool",
		"git grep '-Orm -rf /' x":          "run by git grep",
		"git clone 'ext::rm -rf /'":        "run by git clone",
		"git log --what='rm -rf /'":        "run by git log",
		"git -c alias.x='!rm -rf /' x":     "through a git alias",
		"git -c core.editor='rm -rf /' x":  "through the git setting core.editor",
		"sudo rm -rf /":                    "run by sudo",
		"sh -c 'rm -rf /'":                 "run by sh",
		"xargs rm -rf /":                   "run by xargs",
		"su -c 'rm -rf /'":                 "run by su",
		"alias x='rm -rf /'; x":            "through the alias x",
		"PAGER='rm -rf /' man ls":          "in PAGER",
		"test -v 'a[$(rm -rf /)]'":         "in a subscript",
		"unheardof rm -rf /":               "perhaps run by unheardof",
		"fd -x rm -rf /":                   "run by fd",
		"env -S 'rm -rf /'":                "run by env",
		"trap 'rm -rf /' EXIT":             "run by trap",
		"eval 'rm -rf /'":                  "run by eval",
	} {
		if d := Destructive(inWork(t, command)); !strings.Contains(d.By, ", "+want+", ") && !strings.Contains(d.By, ", "+want+" ") {
			t.Errorf("%s: %s, want %q in it", command, d.By, want)
		}
	}
}

func TestADecisionSaysWhatWouldBeLost(t *testing.T) {
	for command, want := range map[string]string{
		"rm -rf /":            "the whole file system",
		"rm -rf /*":           "the whole file system",
		"rm -rf /etc":         "a directory of the system",
		"rm -rf /opt*":        "a directory of the system",
		"rm -rf /other":       "a directory directly under /",
		"rm -rf /usr/lib":     "a part of the system",
		"rm -rf /var/lib/x":   "data of the system",
		"rm -rf /home":        "all home directories",
		"rm -rf /home/*":      "all home directories",
		"rm -rf ~":            "a home directory",
		"rm -rf /home/bob/*":  "a home directory",
		"rm -rf /root/.ssh":   "a person's own files",
		"rm -rf ~/.ssh":       "a person's own files",
		"rm -rf .":            "everything in the current directory",
		"rm -rf /src/project": "everything in the current directory",
		"rm -rf ../*":         "everything in a directory above",
		"rm -rf ..":           "everything in a directory above",
		"rm -rf /src":         "a directory above the current one",
		"rm -rf .git":         "the repository's history",
		`rm -rf "$X"`:         "known to the shell only",
		`rm -rf "$X"/*`:       "known to the shell only, and `/*` if a part is empty",
	} {
		if d := Destructive(inWork(t, command)); !strings.HasSuffix(d.By, ", "+want) {
			t.Errorf("%s: %s, want %q at its end", command, d.By, want)
		}
	}
}

func TestAProblemSaysHowAnInvalidMatcherIsWritten(t *testing.T) {
	for pattern, want := range map[string]string{"(?i)bash": "[Bb]ash", "*sh": ".*", "+*": ".*", "+a": `\`, "[*": `\`, "(a*": `\`} {
		problems := Compile(pattern, MatcherOptions{Syntax: SyntaxRegexp}).Problems()
		if len(problems) != 1 || !strings.Contains(problems[0].Hint, want) {
			t.Errorf("%s: %+v, want %q in the hint", pattern, problems, want)
		}
	}
}

func TestAPieceOfACallIsShownUpTo80Characters(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a", 80): strings.Repeat("a", 80), strings.Repeat("a", 81): strings.Repeat("a", 80) + "…", strings.Repeat("é", 80): strings.Repeat("é", 80), strings.Repeat("é", 81): strings.Repeat("é", 80) + "…",
		"a b~": "a b~", "a\nb\x7f\u202e": `a\nb\x7f\u202e`, "": "",
	} {
		if got := excerpt(text); got != "`"+want+"`" {
			t.Errorf("%.20q: %s", text, got)
		}
	}
}

func TestAnotherShellsTextIsReadIfItIsWordsAlone(t *testing.T) {
	for c := rune(0); c < 0x250; c++ {
		if plainly := strings.ContainsRune(`abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./\:=+-`, c); sameInEveryShell("x"+string(c)) != plainly {
			t.Errorf("%q: %v", c, !plainly)
		}
	}
	if sameInEveryShell("") {
		t.Error("nothing is words")
	}
}

func TestAnInputIsReadTenLevelsDeep(t *testing.T) {
	for _, value := range []string{`"rm -rf /"`, `["rm","-rf","/"]`} {
		for levels, want := range map[int]Certainty{10: Sure, 11: Sure, 12: No} {
			input := strings.Repeat(`{"a":`, levels) + value + strings.Repeat("}", levels)
			if d := Destructive(inProject("mcp__sh__run", input)); d.Certainty != want {
				t.Errorf("%s: %+v, want %d", input, d, want)
			}
		}
	}
}

func TestATargetIsNamedAlsoIfNothingIsKnownOfIt(t *testing.T) {
	if d := Destructive(inWork(t, "rm /dev/sda")); !strings.HasSuffix(d.By, " would delete `/dev/sda`") {
		t.Errorf("%+v", d)
	}
}

func TestTooManyPathsAreSuspected(t *testing.T) {
	for want, command := range map[string]string{"names too many paths": numbered("cat ", "a%d/b ", ""), "too many words that are not known": numbered("cat ", "a%d*b ", "")} {
		touches, _ := ParseTouches([]string{".env"}, TouchOptions{})
		if d := touches.Match(inWork(t, command), Read); d.Certainty != Suspected || !strings.Contains(d.By, want) {
			t.Errorf("%s: %+v", want, d)
		}
	}
}

func TestABackslashOfAPatternQuotes(t *testing.T) {
	if onWindows {
		t.Skip("it separates folders on Windows")
	}
	rule, _ := ParseRule(`Read(a\*b)`, RuleOptions{})
	for path, want := range map[string]bool{"a*b": true, "a/b": false, "a/xb": false, "axb": false} {
		if d := rule.Match(inProject("Read", `{"file_path":"`+path+`"}`)); d.Run != want {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestANameOfAToolInAnotherCaseIsNoticed(t *testing.T) {
	for _, name := range strings.Fields("Agent AskUserQuestion Bash BashOutput Edit ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit NotebookRead PowerShell Read Skill SlashCommand Task TodoWrite WebFetch WebSearch Write") {
		problems := Compile(strings.ToLower(name), MatcherOptions{}).Problems()
		if len(problems) != 1 || !strings.Contains(problems[0].Hint+problems[0].Message, name) {
			t.Errorf("%s: %+v", name, problems)
		}
	}
	for pattern, want := range map[string]bool{"//": false, "/a": false, "/ab": false, "/abc": false, "a/b/": false, "/a/": true, "/a/i": true, "Tool:x": true, "!Bash": true, "a==b": true, "a&&b": true} {
		if isToolExpression(pattern) != want {
			t.Errorf("%s: %v", pattern, !want)
		}
	}
}

func TestDeepTextIsNotParsed(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("(", maxBrackets/2): "", strings.Repeat("(", maxBrackets/2+1): "nested", strings.Repeat("(()", maxBrackets/2-1): "", strings.Repeat("(()", maxBrackets/2): "nested", strings.Repeat("())", maxBrackets): "",
		strings.Repeat("{}", 8*maxBrackets): "", strings.Repeat("[]", 8*maxBrackets+1): "nested",
		strings.Repeat("if", 2*maxBrackets): "", strings.Repeat("if", 2*maxBrackets) + "while": "nested", strings.Repeat("until", 2*maxBrackets+1): "nested",
		strings.Repeat("a", maxLine): "", strings.Repeat("a", maxLine+1): "too long", "\x00": "control", "\x05": "control", "\x1f": "control", "\x7f": "control", "\t\r\n": "",
	} {
		if got := unreadable(text, maxLine); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.20q of %d bytes: %q, want %q", text, len(text), got, want)
		}
	}
}
