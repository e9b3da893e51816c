package match

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Covers reports whether the rules match all that the call does: each command
// that a shell line starts, with no part that cannot be read, no file that a
// redirection writes, and no variable set for a command. An option by which a
// program that shows things runs a command or writes a file (sort -o, sed -i, git
// log --output) is covered by a rule that names it. By names what is not covered.
// It is what an approval must ask.
func (r *Rules) Covers(c *Call) Decision {
	if r == nil {
		return Decision{By: "no rule matches"}
	}
	last := Decision{By: "no rule is for the tool"}
	for _, rule := range r.rules {
		if !rule.ForTool(c.ToolName) {
			continue
		}
		if _, isShell := rule.arg.(*shellRule); isShell {
			continue
		}
		if d := rule.Match(c); d.Certainty == Sure {
			d.By = excerpt(rule.text) + ": " + d.By
			return d
		}
	}
	if c.ToolName == "Bash" {
		return r.coversShell(c)
	}
	return last
}

// coversShell reports whether each command of a shell line has a rule.
func (r *Rules) coversShell(c *Call) Decision {
	covered := 0
	for _, cmd := range c.shellTexts() {
		l := cmd.line
		switch {
		case l.unread != "":
			return Decision{By: lineText(l.text) + " " + l.unread}
		case l.sets:
			return Decision{By: lineText(l.text) + " sets a variable"}
		case l.setting != "":
			return Decision{By: lineText(l.text) + " has " + excerpt(l.setting) + ", which names what git runs"}
		case strings.Contains(l.text, "\r"):
			return Decision{By: lineText(l.text) + " has a carriage return"}
		case l.evaluates:
			return Decision{By: lineText(l.text) + " has a subscript that may run a command"}
		case l.defines:
			return Decision{By: lineText(l.text) + " declares a function or an alias"}
		}
		if l.keeps() {
			return Decision{By: lineText(l.text) + " writes a file"}
		}
		for i := range l.started {
			s := &l.started[i]
			if s.how != does || s.suffix || s.variant {
				continue
			}
			if !r.coversStarted(c, s) {
				return Decision{By: "no rule covers " + by(s.text, s.via, l.text)}
			}
			covered++
		}
	}
	if covered == 0 {
		return Decision{By: "no command is started"}
	}
	return sure("the rules cover every command")
}

// coversStarted reports whether a rule matches a command as it is written. A
// word that begins with a pattern may become an option.
func (r *Rules) coversStarted(c *Call, s *started) bool {
	for _, w := range s.words {
		if strings.ContainsAny(w, "\x03\x04") || w != "" && !isPlain(w[:1]) {
			return false
		}
	}
	if strings.ContainsAny(s.words[0], " \t\n") {
		return false
	}
	text := s.full
	if text == "" {
		text = s.text
	}
	reaches := reachesOf(kindOf(s.program()), s.args())
	for _, rule := range r.rules {
		if !rule.ForTool(c.ToolName) {
			continue
		}
		if rule.kind == ruleTool || rule.kind == ruleEvery {
			return true
		}
		if shell, ok := rule.arg.(*shellRule); ok && shell.takes(shown(text)) && shell.names(reaches) {
			return true
		}
	}
	return false
}

// names reports whether the pattern names each of these words.
func (r *shellRule) names(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.source, w) })
}

// reaching are the options by which programs that are known to show or to check
// things run a command, or write a file that a pattern for their words hardly means.
var reaching = map[string]*wordList{
	"cargo":       wordSet("--config"),
	"date":        wordSet("-s --set"),
	"file":        wordSet("-C --compile"),
	"find":        wordSet("-delete -fprint -fprint0 -fprintf -fls"),
	"git":         wordSet("--output --output-directory --ext-diff --open-files-in-pager --upload-pack --receive-pack --exec --extcmd --template --unsafe-paths --sendmail-cmd --to-cmd --cc-cmd --header-cmd --httpd"),
	"git archive": wordSet("-o"), "git checkout-index": wordSet("--prefix"), "git clone": wordSet("-c --config -u"), "git diff": wordSet("-O"),
	"git difftool": wordSet("-x"), "git format-patch": wordSet("-o"), "git grep": wordSet("-O"), "git hook": wordSet("run"), "git rebase": wordSet("-x"),
	"git shell": wordSet("-c"),
	"gofmt":     wordSet("-w -cpuprofile"),
	"helm":      wordSet("--post-renderer --kubeconfig"),
	"kubectl":   wordSet("--kubeconfig"),
	"less":      wordSet("-o -O -k --log-file --LOG-FILE --lesskey-file --lesskey-src --lesskey-content"),
	"man":       wordSet("-P --pager -H --html"),
	"npm":       wordSet("--script-shell --prefix -C --node-options"),
	"rg":        wordSet("--pre --hostname-bin"),
	"rsync":     wordSet("-e --rsh --rsync-path"),
	"sed":       wordSet("-i --in-place -f --file"),
	"sort":      wordSet("-o --output --compress-program"),
	"ssh":       wordSet("-o -F"),
	"tar":       wordSet("-I -F --use-compress-program --to-command --checkpoint-action --rsh-command --info-script --new-volume-script"),
	"tree":      wordSet("-o"),
	"yq":        wordSet("-i --inplace"),
}

// oneFile are programs that show one file, and write to a second.
var oneFile = wordSet("uniq xxd")

// reachesOf returns the words by which a command does more than it shows.
func reachesOf(name string, args []string) (found []string) {
	if name == "git" {
		if args = behindGitOptions(args); len(args) > 1 {
			found = reachesOf("git "+args[0], args[1:])
		}
	}
	options := reaching[name]
	for _, w := range args {
		switch {
		case isOption(w):
			found = append(found, reachingOptions(name, options, w)...)
		case name == "git hook" && options.has(w), name == "less" && strings.HasPrefix(w, "+"):
			found = append(found, w)
		}
	}
	plains := slices.DeleteFunc(slices.Clone(args), isOption)
	switch {
	case oneFile.has(name) && len(plains) > 1:
		found = append(found, plains[1])
	case awks.has(name) && (!awkIsInert(args) || slices.ContainsFunc(plains, printsToFile)), name == "sed" && !sedShows(args):
		found = append(found, "\x00") // its program, which no pattern names
	case name == "go" && len(args) > 0 && goQuiet.has(args[0]) && !goIsInert(args):
		found = append(found, "-exec")
	}
	return found
}

// reachingOptions returns the options of the list that a word is: one as a whole, with
// a value, or cut short, or letters among others. Those of find are no letters.
func reachingOptions(name string, options *wordList, w string) (found []string) {
	long, _, _ := strings.Cut(w, "=")
	if options.has(long) {
		return []string{long}
	}
	for option := range options.all() {
		short := len(option) == 2 && w[1] != '-' && name != "find" && strings.Contains(w, option[1:])
		if short || len(long) > 4 && strings.HasPrefix(long, "--") && strings.HasPrefix(option, long) {
			found = append(found, option)
		}
	}
	return found
}

func printsToFile(program string) bool {
	_, rest, _ := strings.Cut(program, "print")
	return strings.Contains(rest, ">")
}

// sedCommand is one command of sed that shows: an address, and p, d, q, = or a
// substitution without the flags that run or write.
var sedCommand = sync.OnceValue(func() *regexp.Regexp {
	const address = `(?:\d+|\$|/(?:[^/\\]|\\.)*/I?)`
	return regexp.MustCompile(`^\s*(?:` + address + `(?:,[+~]?` + address + `)?)?\s*!?\s*(?:[pdqQDPNnhHgGx=l]|s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpIi0-9]*|s\|[^|\\\n]*\|[^|\\\n]*\|[gpIi0-9]*|s,[^,\\\n]*,[^,\\\n]*,[gpIi0-9]*|s#[^#\\\n]*#[^#\\\n]*#[gpIi0-9]*)?\s*(?:[;\n]|$)`)
})

// sedShows reports whether the scripts of sed do nothing but show.
func sedShows(args []string) bool {
	given := false
	for i, a := range args {
		switch {
		case takesPattern(a, "e"), a == "--expression":
			given = true
			continue
		case strings.HasPrefix(a, "--expression="):
			a = a[len("--expression="):]
		case i > 0 && (takesPattern(args[i-1], "e") || args[i-1] == "--expression"):
		case isOption(a) || given:
			continue
		}
		given = true
		for a != "" {
			end := len(sedCommand().FindString(a))
			if end == 0 {
				return false
			}
			a = a[end:]
		}
	}
	return true
}
