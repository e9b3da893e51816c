package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/built"
)

func TestARuleRunsOnMorePathsThanCanBeFollowed(t *testing.T) {
	rule, _ := ParseRule("Read(/other/**)", RuleOptions{})
	for paths, want := range map[int]bool{2: false, 2 * maxResolved: true} {
		var keys []string
		for i := range paths {
			keys = append(keys, fmt.Sprintf(`"file_path":"/nowhere/%d"`, i))
		}
		if d := rule.Match(inProject("Read", "{"+strings.Join(keys, ",")+"}")); d.Run != want {
			t.Errorf("%d paths: %+v", paths, d)
		}
	}
}

func TestAListOfNoPatternsMatchesNothing(t *testing.T) {
	none, _ := ParseTouches(nil, TouchOptions{})
	if d := Destructive(inProject("mcp__sh__run", "")); d.Certainty != Suspected {
		t.Errorf("no input: %+v", d)
	}
	for _, list := range []*Touches{nil, none} {
		if d := list.Match(inWork(t, "cat 'a"), Read); d.Run || d.By == "" {
			t.Errorf("%+v", d)
		}
	}
}

func TestALongListOfNamesIsAnExpressionLikeAShortOne(t *testing.T) {
	pattern := "^(" + strings.Repeat("Tool|", maxBacktrack/5) + "Bash)$"
	for name, want := range map[string]bool{"Bash": true, "Tool": true, "Edit": false} {
		if ok, err := Compile(pattern, MatcherOptions{}).Match(name); ok != want || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestAnExpressionThatIsTooLongForItsEngineIsAnError(t *testing.T) {
	m := Compile("(?=a)"+strings.Repeat("a", maxBacktrack), MatcherOptions{})
	if ok, err := m.Match("a"); ok || err == nil || m.Valid() == nil {
		t.Errorf("%v, %v", ok, err)
	}
	for length, fails := range map[int]bool{maxBacktrack: false, maxBacktrack + 1: true} {
		if ok, err := Compile("^(?=a)", MatcherOptions{}).Match(strings.Repeat("a", length)); (err != nil) != fails || ok == fails {
			t.Errorf("a name of %d bytes: %v, %v", length, ok, err)
		}
	}
}

func TestEachTextOfAnInputCounts(t *testing.T) {
	for input, want := range map[string]Certainty{
		`{"url":"http://localhost"}`:                            No,
		`{"url":"http://localhost","url":"http://example.com"}`: Sure,
		`{"url":"http://example.com","url":"http://localhost"}`: Sure,
	} {
		if d := Network(inProject("WebFetch", input)); d.Certainty != want {
			t.Errorf("%s: %+v", input, d)
		}
	}
	for _, input := range []string{`{"commands":["rm -rf /","ls"]}`, `{"commands":["ls","rm -rf /"]}`, `{"commands":[1,"ls","rm -rf /"]}`} {
		if d := Destructive(inProject("mcp__sh__run", input)); d.Certainty != Sure {
			t.Errorf("%s: %+v", input, d)
		}
	}
}

func TestACommandWithoutAKnownNameCountsInALongLine(t *testing.T) {
	rule, _ := ParseRule("Bash(git push *)", RuleOptions{})
	for command, want := range map[string]Certainty{"$X push": Suspected, "git push": Sure, "g?t push": Suspected, "ls push": No} {
		if d := rule.Match(inWork(t, strings.Repeat("ls;", minIndexed)+command)); d.Certainty != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestAPartThatIsNotKnownMayLeadOutOfWhatIsExcluded(t *testing.T) {
	touches, _ := ParseTouches([]string{"/data/**", "!/data/pub/*"}, TouchOptions{})
	for command, want := range map[string]Certainty{`cat "/data/pub/$X"`: Suspected, "cat /data/pub/*": No, "cat /data/pub/x": No, "cat /data/pub/*/../../x": Sure, "cat /data/x": Sure} {
		if d := touches.Match(inWork(t, command), Read); d.Certainty != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

// Nothing stands behind the = of a=, so it names no directory.
func TestAnEmptyPartOfAWordNamesNoPath(t *testing.T) {
	for command, want := range map[string]string{"cat -n x": "", "cat -n .": "read! touch!"} {
		if got := touched(t, "/src/project !/src/project/*", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]string{"zip x a=": "", "zip x a=.": "read! write touch!", "zip x -": ""} {
		if got := touched(t, "config/*.key", inWork(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestAStrictRuleSaysWhatClaudeCodeCannotRead(t *testing.T) {
	rule, _ := ParseRule("Bash(ls *)", RuleOptions{StrictCompat: true})
	for command, want := range map[string]string{
		"f() { ls; }":               "declares a function",
		"{ git; }":                  "has a group { … }",
		"case x in esac":            "has a case statement",
		"((i++))":                   "has arithmetic",
		"let i=1":                   "has arithmetic",
		"echo $((1))":               "has arithmetic",
		"for ((;;)); do x; done":    "has a loop that cannot be judged",
		"select x in a; do x; done": "has a loop that cannot be judged",
		"echo $'a'":                 "has a string with escapes, $'…'",
		`echo $"a"`:                 `has a translated string, $"…"`,
		"echo {a,b}":                "has a brace expansion",
		"echo ${X}":                 "has an expansion ${…}",
		"diff <(a) b":               "has a process substitution",
		"echo !(a)":                 "has a construct that cannot be judged",
		"a=(1)":                     "assigns an array",
		"a[1]=2":                    "assigns an array",
		"declare -a a=(1)":          "assigns an array",
		"cat <<<x":                  "has a here-document",
		"cat <<E\nx\nE":             "has a here-document",
		"echo > $F":                 "redirects to a file whose name is not known",
		"$X push":                   "has a command whose name is not known",
		"=git push":                 "has a command whose name is not known",
		"time (git)":                "has time or coproc before a compound command",
		"git 'a":                    "cannot be parsed",
		"echo ${ ls;}":              "has a substitution that cannot be judged",
		"git \x7f":                  "has a control character",
		"git \x1b":                  "has a control character",
		"ls \\\nx":                  "continues a line with a backslash",
		`cat a\ b`:                  "has a space behind a backslash",
		"git\u00a0push":             "has a space that is not ASCII",
	} {
		if d := rule.Match(bash(t, command)); d.Certainty != Suspected || !strings.HasSuffix(d.By, " "+want+", so it runs") {
			t.Errorf("%s: %+v, want %q", command, d, want)
		}
	}
}

// Between double quotes a backslash quotes five characters, and is itself before any other.
func TestAStrictRuleReadsABackslashAsTheShellDoes(t *testing.T) {
	for command, want := range map[string]bool{`echo "a\b"`: false, `echo a\b`: true, `echo "a"b`: true, `echo ab`: true, `echo 'a\b'`: false} {
		rule, _ := ParseRule("Bash(echo ab)", RuleOptions{StrictCompat: true})
		if d := rule.Match(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
	rule, _ := ParseRule(`Bash(echo a\\b)`, RuleOptions{StrictCompat: true})
	for command, want := range map[string]bool{`echo "a\\b"`: true, `echo "a\b"`: true, `echo ab`: false} {
		if d := rule.Match(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
	rule, _ = ParseRule(`Bash(echo a"b)`, RuleOptions{StrictCompat: true})
	for command, want := range map[string]bool{`echo "a\"b"`: true, `echo a\"b`: true, `echo 'a"b'`: true, `echo "ab"`: false} {
		if d := rule.Match(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestALengthIsOneWord(t *testing.T) {
	rule, _ := ParseRule("Bash(git push origin)", RuleOptions{})
	for command, want := range map[string]Certainty{"git push${#X}": Observed, "git push $X": Suspected, "git push${X}": Suspected} {
		if d := rule.Match(bash(t, command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestARuleThatNamesAMessageCoversIt(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(gh pr create -t *)"}, RuleOptions{})
	for command, want := range map[string]bool{"gh pr create -t 'a b'": true, "gh pr create": false, "gh pr create -t 'a' && gh pr merge": false} {
		if d := rules.Covers(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

// PowerShell's own names and the short ones stand for each other.
func TestARuleOnPowerShellMeetsEachAlias(t *testing.T) {
	for name, aliases := range map[string]string{
		"Remove-Item": "del erase rd ri rm rmdir", "Move-Item": "mi move mv", "Copy-Item": "copy cp cpi", "Rename-Item": "ren rni", "Set-Content": "sc", "Add-Content": "ac",
		"Clear-Content": "clc", "New-Item": "ni md mkdir", "Set-Item": "si", "Clear-Item": "cli", "Remove-ItemProperty": "rp", "Set-ItemProperty": "sp", "Invoke-Expression": "iex",
		"Invoke-WebRequest": "iwr curl wget", "Invoke-RestMethod": "irm", "Start-Process": "saps start", "Stop-Process": "spps kill", "Invoke-Command": "icm", "Start-Job": "sajb",
		"Get-Content": "gc cat type", "Get-ChildItem": "gci ls dir", "Set-Location": "sl cd chdir", "Out-Host": "oh", "Tee-Object": "tee", "Start-Service": "sasv",
		"Stop-Service": "spsv", "New-PSDrive": "ndr mount", "Invoke-Item": "ii",
	} {
		for alias := range strings.FieldsSeq(aliases) {
			for rule, command := range map[string]string{name: alias, alias: strings.ToUpper(name)} {
				r, _ := ParseRule("PowerShell("+rule+" x)", RuleOptions{})
				for line, want := range map[string]bool{command + " x": true, command + " y": false} {
					input, _ := json.Marshal(map[string]string{"command": line})
					if d := r.Match(inProject("PowerShell", string(input))); d.Run != want {
						t.Errorf("%s on %s: %+v", r, line, d)
					}
				}
			}
		}
	}
}

func TestADecisionNamesTheFirstOfItsRules(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(git pull *)", "Bash(git push *)", "Bash(git *)"}, RuleOptions{})
	for command, want := range map[string]string{"git push": "Bash(git push *)", "git log": "Bash(git *)", "g?t push": "Bash(git push *)"} {
		if d := rules.Match(bash(t, command)); !strings.HasPrefix(d.By, "`"+want+"`: ") {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestAQuestionMarkOfCalibanIsOneCharacter(t *testing.T) {
	rule, _ := ParseRule("Bash:git ?x", RuleOptions{Caliban: true})
	for command, want := range map[string]Certainty{"git ax": Sure, "git a$X": Suspected, "git $X": Suspected, "git aa$X": Observed, "git aax": No} {
		if d := rule.Match(bash(t, command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestOnlyTheOptionsBehindAProgramsNameAreLeftOut(t *testing.T) {
	rule, _ := ParseRule("Bash(tool push *)", RuleOptions{})
	for command, want := range map[string]Certainty{"tool -a push": Suspected, "tool -a x push": Suspected, "tool -a=b push": Suspected, "tool x push": No, "tool -a x y push": No, "tool push": Sure} {
		if d := rule.Match(bash(t, command)); d.Certainty != want {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestAStrictRuleTakesCoprocForACommandsName(t *testing.T) {
	rule, _ := ParseRule("Bash(coproc *)", RuleOptions{StrictCompat: true})
	for command, want := range map[string]bool{"coproc ls": true, "ls": false} {
		if d := rule.Match(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestEachPathOfAnInputCounts(t *testing.T) {
	touches, _ := ParseTouches([]string{"~/.ssh/id_*"}, TouchOptions{})
	for input, want := range map[string]bool{
		`{"pattern":"id_rsa","path":"/src"}`:                                false,
		`{"pattern":"id_rsa","path":"/src","path":"/home/alice/.ssh"}`:      true,
		`{"pattern":"id_rsa","path":"/home/alice/.ssh","path":"/src"}`:      true,
		`{"pattern":"id_rsa","path":"$HOME/.ssh"}`:                          true,
		`{"pattern":"known_hosts","path":"/home/alice/.ssh","path":"/src"}`: false,
	} {
		if d := touches.Match(inProject("Glob", input), Read); d.Run != want {
			t.Errorf("%s: %+v", input, d)
		}
	}
}

func TestOnlyPrintfWithVSetsAVariable(t *testing.T) {
	rules, _ := ParseRules([]string{"Bash(printf *)", "Bash(go *)"}, RuleOptions{})
	for command, want := range map[string]bool{"printf %s a b": true, "printf -v X a": false, "printf": true, "go": true} {
		if d := rules.Covers(bash(t, command)); d.Run != want {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestABaseBehindALinkIsItsTarget(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(real, 0o755), os.WriteFile(filepath.Join(real, "a"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	built.NeedsLinks(t)
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, strict := range []bool{false, true} {
		rule, _ := ParseRule("Read(/a)", RuleOptions{StrictCompat: strict})
		input, _ := json.Marshal(map[string]string{"file_path": filepath.Join(real, "a")})
		c := &Call{ToolName: "Read", ToolInput: input, Cwd: dir, Workspace: link}
		if d := rule.Match(c); d.Run == strict {
			t.Errorf("strict %v: %+v", strict, d)
		}
	}
}

func TestMoreChoicesThanAreFollowedMayBeAnything(t *testing.T) {
	rule, _ := ParseRule("Bash(git push)", RuleOptions{})
	for values, want := range map[string]Certainty{"a b c d e f g h push": Suspected, "a push": Suspected, "a b": No} {
		command := "for X in ls git; do for Y in " + values + "; do $X $Y; done; done"
		if d := rule.Match(bash(t, command)); d.Certainty != want && !(want == No && d.Certainty == Observed) {
			t.Errorf("%s: %+v, want %d", command, d, want)
		}
	}
}

func TestBlanksAtTheBeginningOfAValueMakeNoWord(t *testing.T) {
	rule, _ := ParseRule("Bash(git push)", RuleOptions{})
	for _, command := range []string{"X=' push'; git $X", "X='push '; git $X", "X='  '; git $X push"} {
		if d := rule.Match(bash(t, command)); d.Certainty != Sure {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestADecisionNamesThePathPattern(t *testing.T) {
	touches, _ := ParseTouches([]string{"*.key", ".env"}, TouchOptions{})
	if d := touches.Match(inWork(t, "cat x/.env"), Read); d.By != "`x/.env` matches `.env` in `cat x/.env`" {
		t.Errorf("%+v", d)
	}
}
