package match

import (
	"slices"
	"strings"
)

const (
	maxWrapped = 256 // commands that are run by other commands, in one text
	maxDepth   = 8   // shell text within shell text
)

// allowance bounds the work for one text. Words are read in more than one way
// where an option may have a value, so hostile ones could double it each time.
type allowance struct{ calls, bytes int }

// wrapper is how a program takes the command that it runs.
type wrapper struct {
	operands int    // words of its own before the command, as in timeout 5
	assigns  bool   // NAME=value may stand before it
	text     string // the option that has shell text as its value, as in runuser -c
}

// wrappers are programs and shell words that run their arguments. Not among
// them is what runs commands elsewhere or later: ssh, parallel, at, an alias,
// text that is piped into a shell.
//
// Their options are not listed: a word behind an option is taken for its value
// and for the command, since missing a command is worse than seeing one too
// many.
var wrappers = map[string]wrapper{
	"busybox":   {},
	"chroot":    {operands: 1},
	"chrt":      {operands: 1},
	"command":   {},
	"coproc":    {},
	"doas":      {},
	"env":       {assigns: true},
	"exec":      {},
	"flock":     {operands: 1, text: "-c"},
	"gtimeout":  {operands: 1},
	"ionice":    {},
	"nice":      {},
	"nocorrect": {},
	"noglob":    {},
	"nohup":     {},
	"runuser":   {text: "-c"},
	"setsid":    {},
	"stdbuf":    {},
	"sudo":      {assigns: true},
	"taskset":   {operands: 1},
	"time":      {},
	"timeout":   {operands: 1},
	"unshare":   {},
	"xargs":     {},
}

var shells = []string{"ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"}

// unwrap takes down what a command has others run.
func (w *walker) unwrap(words []word) {
	if w.wrapped.blind != "" {
		return
	}
	name, args := words[0].text, words[1:]
	if words[0].pattern {
		w.wrapped.blind = "has a command whose name is a pattern"
		return
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i+1 < len(name) {
		words = slices.Clone(words)
		words[0].text = name[i+1:]
		w.runs(words, "by its path")
		return
	}
	if len(args) == 0 {
		return
	}
	via := "run by " + name
	switch {
	case name == "eval":
		w.runsText(join(args), via)
	case name == "trap":
		if args[0].text == "--" {
			args = args[1:]
		}
		if len(args) > 1 {
			w.runsText(args[0].text, via)
		}
	case name == "find":
		w.unwrapFind(args, via)
	case name == "builtin":
		if slices.Contains([]string{"command", "eval", "exec", "trap"}, args[0].text) {
			w.unwrap(args)
		}
	case name == "command" && isQuery(args[0].text):
	case name == "su", slices.Contains(shells, name):
		w.unwrapShell(args, "-c", via)
	default:
		if wr, ok := wrappers[name]; ok {
			w.unwrapPrefix(wr, name, args, via)
		}
	}
}

// runs takes down a command that is run by another one.
func (w *walker) runs(words []word, via string) {
	if w.wrapped.blind != "" {
		return
	}
	if w.allowance.calls--; w.allowance.calls < 0 {
		w.wrapped.blind = "runs too many commands inside others"
		return
	}
	sub := *w
	sub.out, sub.via = w.wrapped, via
	sub.call(words)
}

// runsText takes down the commands in text that is handed to a shell.
func (w *walker) runsText(text, via string) {
	w.allowance.bytes -= len(text)
	if w.allowance.bytes < 0 || w.depth == maxDepth {
		w.wrapped.blind = "runs too much shell text inside other text"
		return
	}
	sub := *w
	sub.out, sub.via, sub.depth = w.wrapped, via, w.depth+1
	sub.parse(text)
}

// unwrapPrefix reads what sudo, timeout and their like run.
func (w *walker) unwrapPrefix(wr wrapper, name string, args []word, via string) {
	if wr.text != "" {
		w.unwrapShell(args, wr.text, via)
	}
	if name == "env" && w.unwrapSplit(args, via) {
		return
	}
	if name == "xargs" && !isOption(args[0].text) {
		// The one wrapper that the client looks through.
		w.out.calls = append(w.out.calls, call{join(args), via})
	}
	for _, i := range commandStarts(wr, args) {
		w.runs(args[i:], via)
	}
}

// commandStarts returns where the command may begin behind the options.
func commandStarts(wr wrapper, args []word) []int {
	var starts []int
	reach := make([]bool, len(args)+2)
	reach[0] = true
	for i := range args {
		if !reach[i] {
			continue
		}
		a := args[i].text
		switch {
		case a == "--":
			starts = append(starts, i+1+wr.operands)
		case isOption(a):
			reach[i+1] = true
			if !strings.Contains(a, "=") && i+1 < len(args) && !isOption(args[i+1].text) {
				reach[i+2] = true
			}
		case wr.assigns && isAssignment(a):
			reach[i+1] = true
		default:
			starts = append(starts, i+wr.operands)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	return slices.DeleteFunc(starts, func(i int) bool { return i >= len(args) })
}

// unwrapShell reads the text behind -c, which may be one of several letters.
// bash takes further options between -c and the text.
func (w *walker) unwrapShell(args []word, option, via string) {
	letter := option[1:]
	for i, a := range args {
		if text, ok := strings.CutPrefix(a.text, "--command="); ok {
			w.runsText(text, via)
			return
		}
		if a.text != "--command" && (!isOption(a.text) || strings.HasPrefix(a.text, "--") || !strings.Contains(a.text, letter)) {
			continue
		}
		for j := i + 1; j < len(args); j++ {
			if t := args[j].text; isOption(t) || strings.HasPrefix(t, "+") {
				continue
			}
			w.runsText(args[j].text, via)
			if !strings.HasSuffix(strings.ToLower(args[j-1].text), "o") {
				return
			}
		}
		return
	}
}

// unwrapSplit reads env -S 'git push', and reports whether there is a -S.
func (w *walker) unwrapSplit(args []word, via string) bool {
	for i, a := range args {
		text, ok := strings.CutPrefix(a.text, "--split-string")
		if ok {
			text = strings.TrimPrefix(text, "=")
		} else if isOption(a.text) && !strings.HasPrefix(a.text, "--") {
			_, text, ok = strings.Cut(a.text, "S")
		}
		if ok {
			w.runsText(strings.TrimSpace(text+" "+join(args[i+1:])), via)
			return true
		}
		if !isOption(a.text) && !isAssignment(a.text) && (i == 0 || !isOption(args[i-1].text)) {
			return false
		}
	}
	return false
}

// unwrapFind reads find … -exec git push {} \; and its like.
func (w *walker) unwrapFind(args []word, via string) {
	for i, a := range args {
		if w.wrapped.blind != "" {
			return
		}
		switch a.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			rest := args[i+1:]
			if end := slices.IndexFunc(rest, func(v word) bool { return v.text == ";" || v.text == "+" }); end >= 0 {
				rest = rest[:end]
			}
			if len(rest) > 0 {
				w.runs(rest, via)
			}
		}
	}
}

// isQuery recognises command -v, which runs nothing.
func isQuery(option string) bool {
	return isOption(option) && strings.ContainsAny(option, "vV")
}

func isOption(s string) bool { return len(s) > 1 && s[0] == '-' }

// isAssignment reports whether s is NAME=value.
func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if !isWordByte(name[i]) {
			return false
		}
	}
	return true
}
