package match

import (
	"regexp"
	"strings"
	"sync"
)

// windowsShell reads what cmd.exe or PowerShell has to run. Their languages are not read: only words that mean the
// same in them and in a POSIX shell are judged, and whatever else they run cannot be read.
func (r *lineReader) windowsShell(name string, args []string, via string) {
	if len(args) == 0 {
		r.cannotRead("runs a shell that reads its commands from elsewhere")
		return
	}
	for i, arg := range args {
		flag := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(arg, "/"), "/")) // Git's shell takes //c for /c
		switch {
		case name == "cmd" && strings.HasPrefix(arg, "/") && len(flag) == 1 && strings.Contains("ckr", flag),
			name != "cmd" && (len(arg) > 1 && strings.HasPrefix("-command", strings.ToLower(arg)) || strings.EqualFold(arg, "/c") || strings.EqualFold(arg, "/command")):
			h := may // an alias or a function of a profile
			if name == "cmd" {
				h = does
			}
			r.windowsText(name, strings.Join(args[i+1:], " "), h, via)
			return
		case name == "cmd" && strings.HasPrefix(arg, "/"), name != "cmd" && harmlessOption().MatchString(arg):
		default: // an encoded command, a file, text
			r.cannotRead("runs what " + plain(shown(arg)) + " makes " + name + " run")
			return
		}
	}
	r.cannotRead("runs a shell that reads its commands from elsewhere")
}

// cannotRead says why the line cannot be read, unless the command is only spoken of.
func (r *lineReader) cannotRead(why string) {
	if r.how > mentioned {
		r.line.cannotRead(why)
	}
}

// harmlessOption matches the options of PowerShell that take no value and run nothing.
var harmlessOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[-/](nop(r(o(f(i(l(e)?)?)?)?)?)?|noni(nteractive)?|nol(ogo)?|sta|mta)$`)
})

// windowsText reads a command of cmd.exe or PowerShell. Names of programs and commands have no case there.
func (r *lineReader) windowsText(shell, text string, h how, via string) {
	if words, ok := powerShellWords(text); ok && shell != "cmd" {
		for i, word := range words {
			word = strings.ReplaceAll(word, `\`, "/")
			if !sameInEveryShell(word) || strings.Contains(word, " ") {
				word = `"` + word + `"` // it holds nothing that a POSIX shell expands
			}
			words[i] = word
		}
		text = strings.Join(words, " ")
	} else if sameInEveryShell(text) {
		text = strings.ReplaceAll(text, `\`, "/")
	} else {
		r.cannotRead("runs text for another shell")
		return
	}
	r.text(text, h, via)
	name, rest, _ := strings.Cut(strings.ToLower(text), " ")
	r.text(programName(name)+" "+rest, h, via)
}

// powerShellWords are the words of a command of PowerShell: plain ones, and behind the first also words in double
// quotes that hold nothing to expand and no wildcard. It is not ok if the text is more than that, and for a command that
// takes a word in quotes for code or for a line of its own.
//
// A backslash before the closing quote is no such word: what Windows PowerShell passes on then ends at a later quote.
// An empty one is dropped there.
func powerShellWords(text string) (words []string, ok bool) {
	if !powerShellPlain().MatchString(text) {
		return nil, false
	}
	for _, m := range powerShellWord().FindAllStringSubmatch(text, -1) {
		words = append(words, m[1]+m[2])
	}
	return words, !strings.Contains(text, `"`) || !runsItsWords.has(strings.ToLower(programName(slashedPattern(words[0]))))
}

const (
	powerShellBare   = `[A-Za-z0-9_./\\:=+-]+`
	powerShellQuoted = `"([\p{L}\p{N} _./\\:=+,;!#@'-]*[\p{L}\p{N} _./:=+,;!#@'-])"`
)

var (
	powerShellPlain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ *` + powerShellBare + `(?: +(?:` + powerShellBare + `|` + powerShellQuoted + `))* *$`)
	})
	powerShellWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(` + powerShellBare + `)|` + powerShellQuoted)
	})
)

// runsItsWords are the commands of PowerShell and Windows that take words for code, or for a line of a program, in a way
// that the programs of a POSIX shell do not.
var runsItsWords = wordSet("invoke-expression iex invoke-command icm start-process saps start start-job sajb start-threadjob invoke-item ii " +
	"add-type new-object invoke-cimmethod icim invoke-wmimethod iwmi new-service set-service new-scheduledtaskaction foreach-object foreach where-object where " +
	"wmic schtasks at runas mshta rundll32 regsvr32 cscript wscript forfiles winrs psexec psexec64 sc reg conhost wt explorer control msiexec cmd")

// sameInEveryShell reports whether a text is words alone, which cmd.exe, PowerShell and a POSIX shell take for the same
// program and arguments.
func sameInEveryShell(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(` _./\:=+-`, c))
	}) < 0
}

// powerShellRule is PowerShell(text): a rule on the command of the tool of that name. Upper and lower case are the same
// there, a command has several names, and what is more than words cannot be read.
type powerShellRule struct {
	text  textRule
	shell *shellRule // the same, for what other shells and programs run
}

func newPowerShellRule(content string, f form) argument {
	content = strings.ToLower(content)
	return powerShellRule{newTextRule("command", content, f), newShellRule(content, form{anywhere: f.anywhere})}
}

func (r powerShellRule) match(c *Call, _ bool) Decision {
	texts, ok := c.texts("command")
	for _, text := range texts {
		for _, form := range powerShellForms(text) {
			if r.text.glob.match(form) {
				return sure("command is " + excerpt(text))
			}
		}
		if _, ok := powerShellWords(text); !ok && strings.TrimSpace(text) != "" {
			return suspected(excerpt(text) + " is more than the words of one command, so it runs")
		}
	}
	if d := r.shell.match(c, false); d.Run {
		return d
	}
	if !ok {
		return suspected("command is missing or no string, so it runs")
	}
	return Decision{By: "its command does not match"}
}

// powerShellForms are the ways to write a command: as it stands, with one space between its words, without their quotes,
// with the program's name alone, and with the name that an alias stands for. A rule that ends in " *" also takes each without arguments.
func powerShellForms(text string) []string {
	text = strings.ToLower(text)
	forms := []string{text}
	plain, _ := powerShellWords(text)
	for _, words := range [][]string{strings.Fields(text), plain} {
		if len(words) == 0 {
			continue
		}
		name := programName(slashedPattern(words[0]))
		rest := strings.Join(append([]string{""}, words[1:]...), " ")
		for _, n := range append([]string{words[0], name}, powerShellAliases()[name]...) {
			forms = append(forms, n+rest, n+rest+" ")
		}
	}
	return forms
}

// powerShellAliases are the other names of PowerShell's commands that change something, each way.
var powerShellAliases = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, group := range []string{
		"remove-item del erase rd ri rm rmdir", "move-item mi move mv", "copy-item copy cp cpi", "rename-item ren rni",
		"set-content sc", "add-content ac", "clear-content clc", "new-item ni md mkdir", "set-item si", "clear-item cli",
		"remove-itemproperty rp", "set-itemproperty sp", "invoke-expression iex", "invoke-webrequest iwr curl wget",
		"invoke-restmethod irm", "start-process saps start", "stop-process spps kill", "invoke-command icm",
		"start-job sajb", "get-content gc cat type", "get-childitem gci ls dir", "set-location sl cd chdir", "out-host oh",
		"tee-object tee", "start-service sasv", "stop-service spsv", "new-psdrive ndr mount", "invoke-item ii",
	} {
		names := strings.Fields(group)
		for _, name := range names {
			for _, other := range names {
				if other != name {
					all[name] = append(all[name], other)
				}
			}
		}
	}
	return all
})
