package match

import (
	"slices"
	"strings"
)

// carrier is how a program takes the command that it runs.
type carrier struct {
	operands int       // words of its own before the command, as in timeout 5
	assigns  bool      // NAME=value may stand before it
	text     string    // the option that has shell text as its value, as in su -c
	joins    bool      // the words are joined and read again
	values   *wordList // its options that take the next word, if all are known
}

// carriers are programs that are known to run their arguments, so that a match
// there is certain. Those that are not listed may run them: each rest of their
// words is tried.
//
// Their options are not listed: a word behind an option is taken for its value
// and for the command, since missing a command is worse than seeing one too
// many.
var carriers = map[string]carrier{
	"busybox":          {},
	"caffeinate":       {},
	"chpst":            {},
	"chroot":           {operands: 1},
	"chrt":             {operands: 1},
	"coproc":           {},
	"dbus-run-session": {},
	"doas":             {},
	"env":              {assigns: true},
	"exec":             {},
	"fakeroot":         {},
	"firejail":         {},
	"flock":            {operands: 1, text: "-c"},
	"gtimeout":         {operands: 1},
	"ionice":           {},
	"ltrace":           {},
	"nice":             {},
	"nocorrect":        {},
	"noglob":           {},
	"nohup":            {},
	"nsenter":          {},
	"numactl":          {},
	"parallel":         {joins: true},
	"pkexec":           {},
	"prlimit":          {},
	"proxychains":      {},
	"proxychains4":     {},
	"run0":             {},
	"runuser":          {text: "-c"},
	"script":           {text: "-c"},
	"setarch":          {},
	"setpriv":          {},
	"setsid":           {},
	"sg":               {operands: 1, text: "-c", joins: true},
	"ssh":              {operands: 1, joins: true},
	"stdbuf":           {},
	"strace":           {},
	"su":               {operands: 1, text: "-c"},
	"sudo":             {assigns: true},
	"systemd-run":      {},
	"taskset":          {operands: 1},
	"time":             {},
	"timeout":          {operands: 1},
	"torsocks":         {},
	"toybox":           {},
	"tsocks":           {},
	"unshare":          {},
	"valgrind":         {},
	"watch":            {joins: true},
	"xvfb-run":         {},
}

func isShell(name string) bool {
	return slices.Contains([]string{"ash", "bash", "dash", "fish", "ksh", "ksh93", "mksh", "oksh", "rbash", "sh", "yash", "zsh"}, name)
}

// specials are the programs of special, but git.
var specials = wordSet(". alias builtin command env eval fd fdfind find getopts gfind gxargs mapfile parallel printf read readarray set source trap xargs")

// special reads programs that take commands in a way of their own.
func (r *lineReader) special(name string, words []string, at int, in stream) bool {
	if name == "git" {
		r.git(words, at, in)
		return true
	}
	if !specials.has(name) {
		return false
	}
	args, via := words[1:], runBy(name)
	switch name {
	case "eval":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		r.text(strings.Join(args, " "), does, via)
	case "trap":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 1 {
			r.text(args[0], does, via)
		}
	case "find", "gfind":
		r.findRuns(args, in, via)
	case "xargs", "gxargs":
		r.xargs(args, in, via)
	case "fd", "fdfind":
		r.fdRuns(args, via)
	case "parallel":
		if !slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, ":::") }) {
			r.xargs(append([]string{"-I", "{}"}, args...), in, via)
			r.xargs(args, in, via)
		}
		r.carry(carriers[name], args, in, via)
	case "builtin":
		if len(args) > 0 && slices.Contains([]string{".", "command", "eval", "exec", "source", "trap"}, args[0]) {
			r.carried(args, in, does, via)
		}
	case "command":
		if len(args) == 0 || !isQuery(args[0]) {
			r.carry(carrier{}, args, in, via)
		}
	case "env":
		if !r.split(args, in, via) {
			r.carry(carriers["env"], args, in, via)
		}
	case "source", ".":
		if len(args) > 0 {
			r.script(args, in, via)
		}
	case "alias":
		r.alias(args)
	case "set":
		if i := slices.Index(args, "--"); i >= 0 {
			r.positional(args[i+1:])
		}
	case "read", "mapfile", "readarray", "getopts":
		r.reads(args, in)
		r.texts(args, may, via)
	case "printf":
		if len(args) > 2 && args[0] == "-v" {
			if text := formatted(args[2:]); text.known {
				r.set(args[1], text.text, false)
			} else {
				r.forget(args[1])
			}
		}
		return false
	}
	return true
}

// reads takes down the variables that read and its like set.
func (r *lineReader) reads(args []string, in stream) {
	var names []string
	for _, a := range args {
		if !isOption(a) {
			names = append(names, a)
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY", "MAPFILE"}
	}
	for i, name := range names {
		if fields := strings.Fields(in.text); in.known && isName(name) {
			r.set(name, strings.TrimSpace(in.text), false)
			if i < len(fields) {
				r.set(name, fields[i], false)
			}
			continue
		}
		r.forget(name)
	}
}

func (r *lineReader) alias(args []string) {
	for _, a := range args {
		if name, body, ok := strings.Cut(a, "="); ok {
			r.line.defines = true
			if r.aliases == nil {
				r.aliases = map[string]string{}
			}
			r.aliases[name] = body
		}
	}
}

// split reads env -S 'git push', and reports whether there is a -S.
func (r *lineReader) split(args []string, in stream, via string) bool {
	for i, a := range args {
		text, ok := strings.CutPrefix(a, "--split-string")
		if !ok && isOption(a) && !strings.HasPrefix(a, "--") {
			_, text, ok = strings.Cut(a, "S")
		} else if ok {
			text = strings.TrimPrefix(text, "=")
		}
		if ok {
			rest := args[i+1:]
			if text == "" && len(rest) > 0 {
				text, rest = rest[0], rest[1:]
			}
			r.text(strings.TrimSpace("env "+text+" "+strings.Join(rest, " ")), does, via)
			return true
		}
		if !isOption(a) && !strings.Contains(a, "=") && (i == 0 || !isOption(args[i-1])) {
			return false
		}
	}
	return false
}

var xargsCarrier = carrier{values: wordSet("-a -d -E -I -J -L -n -P -R -s -S --arg-file --delimiter --max-args --max-procs --max-lines --max-chars --process-slot-var")}

// xargs reads the command that xargs runs, with what it adds.
func (r *lineReader) xargs(args []string, in stream, via string) {
	mark := ""
	for i, a := range args {
		switch {
		case a == "-I" || a == "-J":
			if i+1 < len(args) {
				mark = args[i+1]
			}
		case strings.HasPrefix(a, "-I") || strings.HasPrefix(a, "-J"):
			mark = a[2:]
		case a == "-i":
			mark = "{}"
		}
	}
	items, all := in.items(), r
	starts := commandStarts(xargsCarrier, args)
	for _, i := range starts {
		words := args[i:]
		r := all.guessed(args, starts[0], i)
		if !r.charge(words) {
			return
		}
		if mark == "" {
			r.carried(append(words[:len(words):len(words)], items...), in, does, via)
			continue
		}
		replaced := make([]string, len(words))
		for j, w := range words {
			replaced[j] = strings.ReplaceAll(w, mark, strings.Join(items, " "))
		}
		r.carried(replaced, in, does, via)
	}
}

// findRuns reads find … -exec git push {} \; and its like.
func (r *lineReader) findRuns(args []string, in stream, via string) {
	found := findFound(args)
	for i, a := range args {
		switch a {
		case "-exec", "-execdir", "-ok", "-okdir":
			rest := args[i+1:]
			if end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" }); end >= 0 {
				rest = rest[:end]
			}
			for j, one := range found {
				if !r.charge(rest) {
					return
				}
				words := slices.Clone(rest)
				for k := range words {
					words[k] = strings.ReplaceAll(words[k], "{}", one)
				}
				if j < maxChoices {
					r.carried(words, stream{}, does, via)
				}
			}
		}
	}
}

// fdRuns reads fd PATTERN PATH… -x COMMAND, which adds what it finds.
func (r *lineReader) fdRuns(args []string, via string) {
	for i, a := range args {
		name, first, joined := strings.Cut(a, "=")
		switch name {
		case "-x", "-X", "--exec", "--exec-batch":
		default:
			continue
		}
		rest := args[i+1:]
		if joined {
			rest = append([]string{first}, rest...)
		}
		found := []string{wildWordText}
		for _, start := range args[:i] {
			if !isOption(start) {
				found = append(found, start+"/"+wildWordText)
			}
		}
		if slices.ContainsFunc(rest, func(w string) bool { return strings.Contains(w, "{") }) {
			words := slices.Clone(rest)
			for j, w := range words {
				if open := strings.IndexByte(w, '{'); open >= 0 {
					words[j] = w[:open] + found[len(found)-1]
				}
			}
			rest = words
		}
		r.carried(append(slices.Clip(rest), found...), stream{}, does, via)
		return
	}
}

// findStarts returns where find begins, and whether it takes only a part of
// what is there.
func findStarts(args []string) (starts []string, filtered bool) {
	expression := false
	for i, a := range args {
		switch {
		case !expression && (a == "-H" || a == "-L" || a == "-P" || a == "-D" || strings.HasPrefix(a, "-O")):
		case strings.HasPrefix(a, "-") || a == "(" || a == "!":
			expression = true
			for _, test := range []string{"name", "path", "regex", "time", "min", "newer", "size", "empty", "user", "group", "perm", "wholename"} {
				if strings.Contains(a, test) && i+1 < len(args) && args[i+1] != "*" && args[i+1] != "\x01" {
					filtered = true
				}
			}
		case !expression:
			starts = append(starts, a)
		}
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	return starts, filtered
}

// findFound returns the paths that find may find: its starts, or what it tests
// for below them.
func findFound(args []string) []string {
	starts, filtered := findStarts(args)
	if !filtered {
		return starts
	}
	belows := []string{"/" + wildWordText}
	for i, a := range args {
		if a == "-o" || a == "-or" || a == "," {
			belows = belows[:1]
			break
		}
		if (a == "-name" || a == "-iname") && i+1 < len(args) && (i == 0 || args[i-1] != "!" && args[i-1] != "-not") {
			name := shellPattern(args[i+1])
			belows = []string{"/" + wildWordText + "/" + name, "/" + name}
		}
	}
	var found []string
	for _, start := range starts {
		for _, below := range belows {
			found = append(found, start+below)
		}
	}
	return found
}

// commandStarts returns where the command may begin behind the options.
func commandStarts(c carrier, args []string) []int {
	var starts []int
	reach := make([]bool, len(args)+2)
	reach[0] = true
	for i, a := range args {
		switch {
		case !reach[i]:
		case a == "--":
			starts = append(starts, i+1+c.operands)
		case isOption(a):
			takes := !strings.Contains(a, "=") && i+1 < len(args) && !isOption(args[i+1])
			reach[i+1] = reach[i+1] || c.values == nil || !c.values.has(a)
			reach[i+2] = reach[i+2] || takes && (c.values == nil || c.values.has(a))
		case c.assigns && strings.Contains(a, "="):
			reach[i+1] = true
		default:
			starts = append(starts, i+c.operands)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	return slices.DeleteFunc(starts, func(i int) bool { return i >= len(args) })
}

// isQuery recognises command -v, which runs nothing.
func isQuery(option string) bool {
	return isOption(option) && strings.ContainsAny(option, "vV")
}

func isOption(s string) bool { return len(s) > 1 && s[0] == '-' }
