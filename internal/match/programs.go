package match

import (
	"slices"
	"strings"
	"sync"
)

// carrier is how a program takes the command that it runs.
type carrier struct {
	operands int       // words of its own before the command, as in timeout 5
	assigns  bool      // NAME=value may stand before it
	text     string    // the option that has shell text as its value, as in su -c
	joins    bool      // the words are joined and read again
	shell    bool      // without a command it starts a shell
	values   *wordList // its options that take the next word, if all are known
}

// carriers are programs that are known to run their arguments, so that a match
// there is certain. Other programs may run them: each rest of their
// words is tried.
//
// Their options are not listed: a word behind an option is taken for its value
// and for the command, since missing a command is worse than seeing one too
// many.
var carriers = sync.OnceValue(func() map[string]carrier {
	return map[string]carrier{
		"arch":             {},
		"busybox":          {},
		"caffeinate":       {},
		"chpst":            {},
		"chroot":           {operands: 1, shell: true},
		"chrt":             {operands: 1},
		"coproc":           {},
		"dbus-run-session": {},
		"doas":             {shell: true},
		"env":              {assigns: true},
		"exec":             {},
		"fakeroot":         {},
		"firejail":         {},
		"flock":            {operands: 1, text: "-c"},
		"ionice":           {},
		"ltrace":           {},
		"nice":             {},
		"nocorrect":        {},
		"noglob":           {},
		"nohup":            {},
		"nsenter":          {shell: true},
		"numactl":          {},
		"parallel":         {joins: true},
		"pkexec":           {},
		"prlimit":          {},
		"proxychains":      {},
		"run0":             {shell: true},
		"runuser":          {text: "-c", shell: true},
		"script":           {text: "-c", shell: true},
		"setarch":          {shell: true},
		"setpriv":          {},
		"setsid":           {},
		"sg":               {operands: 1, text: "-c", joins: true, shell: true},
		"ssh":              {operands: 1, joins: true, shell: true},
		"stdbuf":           {},
		"strace":           {},
		"su":               {operands: 1, text: "-c", shell: true},
		"sudo":             {assigns: true, shell: true},
		"systemd-run":      {},
		"taskset":          {operands: 1},
		"time":             {},
		"timeout":          {operands: 1},
		"torsocks":         {},
		"toybox":           {},
		"tsocks":           {},
		"unshare":          {shell: true},
		"valgrind":         {},
		"watch":            {joins: true},
		"xvfb-run":         {},
	}
})

func isShell(name string) bool {
	return slices.Contains([]string{"ash", "bash", "dash", "fish", "ksh", "ksh93", "mksh", "oksh", "rbash", "sh", "yash", "zsh"}, name)
}

// specials are the programs of special, but git.
var specials = wordSet(". alias builtin cmd command env eval fd find getopts hash jobs mapfile parallel powershell printf pwsh read readarray set source trap xargs")

// special reads programs that take commands in a way of their own.
func (r *lineReader) special(name string, words []string, at int, in stream) bool {
	if name == "git" {
		r.git(words, at)
		return true
	}
	if sub, ok := strings.CutPrefix(name, "git-"); ok && gitPrograms.has(sub) { // git-push
		words := append([]string{"git", sub}, words[1:]...)
		r.git(words, r.line.add(newStarted(words, r.how, r.via)))
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
	case "cmd", "powershell", "pwsh":
		r.windowsShell(name, args, via)
	case "find":
		r.findRuns(args, via)
	case "xargs":
		r.xargs(args, in, via)
	case "fd":
		r.fdRuns(args, via)
	case "parallel":
		if i := slices.IndexFunc(args, isParallelList); i >= 0 { // git {} ::: push
			items := slices.DeleteFunc(slices.Clone(args[i:]), isParallelList)
			in = stream{present: true, known: !strings.HasPrefix(args[i], "::::"), text: strings.Join(items, "\n")}
			args = args[:i]
			r.carry(carriers()[name], append(args[:i:i], items...), stream{}, via)
		}
		if len(commandStarts(parallelCarrier, args)) == 0 { // the commands are what it reads
			in.present = in.present || slices.Contains(args, "-a") || slices.Contains(args, "--arg-file")
			r.readsScript(in, via)
		}
		if text := strings.Join(args, " "); strings.Contains(text, "{}") {
			r.text(strings.ReplaceAll(text, "{}", strings.Join(in.items(), " ")), may, via)
		}
		r.xargs(append([]string{"-I", "{}"}, args...), in, via)
		r.xargs(args, in, via)
		r.carry(carriers()[name], args, in, via)
	case "builtin":
		if len(args) > 0 && slices.Contains([]string{".", "command", "eval", "exec", "jobs", "source", "trap"}, args[0]) {
			r.carried(args, in, does, via)
		}
	case "jobs":
		if len(args) > 0 && args[0] == "-x" {
			r.carried(args[1:], in, does, via)
		}
	case "command":
		if len(args) == 0 || !isQuery(args[0]) {
			r.carry(carrier{}, args, in, via)
		}
	case "env":
		if !r.split(args, via) {
			r.carry(carriers()["env"], args, in, via)
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
		} else if i := slices.IndexFunc(args, func(w string) bool { return !isOption(w) && !strings.HasPrefix(w, "+") }); i >= 0 {
			r.positional(args[i:])
		}
	case "hash":
		if len(args) > 2 && args[0] == "-p" { // hash -p /bin/rm ls
			r.alias([]string{args[2] + "=" + args[1]})
		}
	case "read", "mapfile", "readarray", "getopts":
		r.reads(args, in)
		r.texts(args, may, via)
	case "printf":
		if len(args) > 2 && args[0] == "-v" {
			r.line.sets = true
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

// parallelCarrier has the options of parallel whose value is no command.
var parallelCarrier = carrier{values: wordSet("-a --arg-file -j --jobs -S --sshlogin -d --delimiter -N -n -L -I -C --colsep --joblog --results --tmpdir --timeout --retries --delay")}

func isParallelList(w string) bool { return strings.HasPrefix(w, ":::") }

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
		r.line.sets = r.line.sets || strings.ToLower(name) != name
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
func (r *lineReader) split(args []string, via string) bool {
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
			r.text(strings.TrimSpace("env "+splitEscapes.Replace(text)+" "+strings.Join(rest, " ")), does, via)
			return true
		}
		if !isOption(a) && !strings.Contains(a, "=") && (i == 0 || !isOption(args[i-1])) {
			return false
		}
	}
	return false
}

// splitEscapes are what env -S takes for a space.
var splitEscapes = strings.NewReplacer(`\_`, " ", `\t`, " ", `\n`, " ", `\v`, " ", `\f`, " ", `\r`, " ")

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
		case a == "-i", a == "--replace":
			mark = "{}"
		case strings.HasPrefix(a, "--replace="):
			mark = a[len("--replace="):]
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
			if whole := strings.Trim(in.text, "'\"\x00\n"); len(items) > 1 && whole != "" && len(whole) < maxValue { // one item: quoted, or of -0
				r.carried(append(words[:len(words):len(words)], whole), in, may, via)
			}
			continue
		}
		replaced := make([]string, len(words))
		for j, w := range words {
			replaced[j] = strings.ReplaceAll(w, mark, strings.Join(items, " "))
		}
		r.carried(replaced, in, does, via)
	}
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
