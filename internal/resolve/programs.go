package resolve

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// inert are programs that run none of their arguments, whichever files
// lie around them.
var inert = strings.Fields(`base64 basename cat cut date dirname egrep fgrep grep head hostname id jq logger ls md5sum mkdir
	notify-send realpath rm rmdir sha256sum shasum sleep stat tail tee touch tr uname uniq wc whoami`)

// plainBuiltins are commands of a shell that run none of their arguments.
var plainBuiltins = []string{":", "true", "false", "echo", "printf", "test", "[", "exit", "set", "pwd"}

// feeders run what they read, whatever it is.
var feeders = []string{"xargs", "parallel"}

// command reads a simple command. inShell says that a shell runs it, which has
// commands of its own and a search of its own.
func (l *locator) command(argv []string, inShell bool, depth int) {
	if depth > maxNested {
		l.unbound("its commands are nested too deep")
		return
	}
	name, args := argv[0], argv[1:]
	if inShell && slices.Contains(builtins, name) {
		l.builtin(name, args, depth)
		return
	}
	path, found := l.lookUp(name)
	if inShell && !isPath(name) && l.env.relativePath() {
		l.unbound("PATH depends on the working directory")
	}
	bound := false
	if isPath(name) {
		bound = l.program(name, false)
	} else if found {
		bound = l.program(path, true)
	}
	base := programName(name)
	lang, real := languageOf(base), ""
	if found && lang == nil {
		if end, err := filepath.EvalSymlinks(path); err == nil {
			real = programName(end)
			lang = languageOf(real)
		}
	}
	switch {
	case lang != nil:
		l.interpreter(lang, args, depth)
	case wrappers[base] != nil:
		l.wrapped(base, args, inShell, depth)
	case slices.Contains(feeders, base):
		l.unbound(show(base) + " runs what it reads")
	case !bound && slices.Contains(inert, base):
		l.inert(base, args)
	case bound, l.hook.Source.Dir != "" && !slices.ContainsFunc(args, text):
		l.arguments(args, runs) // what else it reads is in the hook's folder
	default:
		l.unbound("it is not known what " + show(name) + " reads or runs")
		l.arguments(args, runs)
	}
}

func (l *locator) arguments(args []string, u use) {
	before := ""
	for _, arg := range args {
		if file, ok := writes(before, arg); ok && u == runs && !l.startable(file) {
			l.output(file)
		} else {
			l.argument(arg, u)
		}
		before = arg
	}
}

// writes returns the file that an argument says is written: the value of one of
// few options, and a log behind any. It must not look like something to run.
func writes(option, arg string) (string, bool) {
	file := arg
	if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		option, file = name, value
	}
	if !strings.HasPrefix(option, "-") || strings.HasPrefix(file, "-") || !slices.Contains(results, filepath.Ext(file)) {
		return "", false
	}
	return file, filepath.Ext(file) == ".log" || slices.Contains(writers, strings.TrimLeft(option, "-"))
}

func (l *locator) startable(file string) bool {
	path, _ := l.place(file)
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || info.Mode().Perm()&0o111 != 0)
}

// What commands write, and the options that say so.
var (
	results = strings.Fields(".log .txt .json .jsonl .ndjson .csv .tsv .xml .html .md .sarif .out")
	writers = strings.Fields("out outfile out-file output output-file logfile log-file")
)

// text reports whether an argument could be a program of its own, which finds
// files by other means than their names.
func text(arg string) bool { return !plain(arg) }

func (l *locator) builtin(name string, args []string, depth int) {
	switch {
	case (name == "exec" || name == "command") && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		l.command(args, name == "command", depth+1)
	case name == "exec" && len(args) == 0: // its redirections were read
	case !slices.Contains(plainBuiltins, name):
		l.unbound(show(name) + " changes what its words mean")
	case name == "set" && slices.ContainsFunc(args, func(a string) bool { return !setOptions().MatchString(a) }):
		l.unbound("set changes what its words mean")
	case name != "echo" && slices.ContainsFunc(args, expandsAgain):
		l.unbound(show(name) + " may expand a word once more")
	case name == "test" || name == "[":
		l.arguments(args, reads)
	default:
		l.arguments(args, mentions)
	}
}

// inert reads the arguments of a program that only reads them, or writes them.
func (l *locator) inert(name string, args []string) {
	if name == "jq" && slices.ContainsFunc(args, jqLoads) {
		l.unbound("jq loads modules")
	}
	for _, arg := range args {
		if name == "tee" && !strings.HasPrefix(arg, "-") {
			l.output(arg)
		} else {
			l.argument(arg, reads)
		}
	}
}

// jqLoads reports whether an argument could make jq look for modules.
func jqLoads(arg string) bool {
	return strings.Contains(arg, "import") || strings.Contains(arg, "include") || strings.HasPrefix(arg, "--library-path") ||
		strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "L")
}

// wrappers run the command behind them. The value says how many words come
// first; options are not read.
var wrappers = map[string]*int{"env": new(int), "nice": new(int), "nohup": new(int), "time": new(int), "timeout": one}

var one = func() *int { n := 1; return &n }()

func (l *locator) wrapped(name string, args []string, inShell bool, depth int) {
	for name == "env" && len(args) > 0 {
		key, value, ok := strings.Cut(args[0], "=")
		if !ok {
			break
		}
		l.variable(key, value)
		args = args[1:]
	}
	n := *wrappers[name]
	if len(args) <= n || slices.ContainsFunc(args[:n+1], func(a string) bool { return strings.HasPrefix(a, "-") }) {
		l.unbound("what " + show(name) + " runs is not read")
		l.arguments(args, runs)
		return
	}
	if inShell && l.env.relativePath() {
		l.unbound("PATH depends on the working directory")
	}
	l.command(args[n:], false, depth+1)
}

// language is how an interpreter takes its script.
type language struct {
	name   *regexp.Regexp
	flags  *regexp.Regexp // that neither take a value nor a script's place
	shell  bool           // -c takes a text that can be read
	exists bool           // for a script that is not there others are looked for
}

var languages = sync.OnceValue(func() []*language {
	return []*language{
		{name: regexp.MustCompile(`^(sh|bash|dash|ash|ksh|zsh)[0-9.]*$`), flags: regexp.MustCompile(`^(-[efhkmnuvxCEB]+|--norc|--noprofile|--posix|--)$`), shell: true},
		{name: regexp.MustCompile(`^python[0-9.]*$`), flags: regexp.MustCompile(`^-[bBdEIOPsSuvq]+$`)},
		{name: regexp.MustCompile(`^(node|nodejs)[0-9.]*$`), flags: regexp.MustCompile(`^--(no-warnings|no-deprecation|trace-warnings|enable-source-maps)$`), exists: true},
		{name: regexp.MustCompile(`^(ruby|perl)[0-9.]*$`), flags: regexp.MustCompile(`^-(w|W|T)$`)},
		{name: regexp.MustCompile(`^php[0-9.]*$`), flags: regexp.MustCompile(`^$`)},
	}
})

func languageOf(name string) *language {
	i := slices.IndexFunc(languages(), func(l *language) bool { return l.name.MatchString(name) })
	if i < 0 {
		return nil
	}
	return languages()[i]
}

// interpreter reads the arguments of an interpreter: flags, a script, and what
// that gets.
func (l *locator) interpreter(lang *language, args []string, depth int) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case lang.flags.MatchString(arg):
		case lang.shell && (arg == "-o" || arg == "+o") && i+1 < len(args) && setOptions().MatchString(args[i+1]):
			i++
		case lang.shell && textFlag().MatchString(arg) && i+1 < len(args):
			l.script(args[i+1], "bash", depth+1)
			l.arguments(args[i+2:], runs)
			return
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+") && lang.shell:
			l.unbound("what the option " + show(arg) + " makes an interpreter run is not read")
			l.arguments(args, runs)
			return
		default:
			l.scriptFile(lang, arg)
			l.arguments(args[i+1:], runs)
			return
		}
	}
	l.unbound("an interpreter without a script runs what it reads")
}

var textFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[efuvx]*c$`) })

// scriptFile binds the script of an interpreter.
func (l *locator) scriptFile(lang *language, name string) {
	path, where := l.place(name)
	if info, err := os.Stat(path); lang.shell && where == outside && err == nil && info.IsDir() {
		return // a shell does not run it
	}
	l.argument(name, runs)
	if where == inside {
		return
	}
	if where == system && slices.Contains(devices, path) {
		l.unbound("an interpreter without a script runs what it reads")
		return
	}
	if where == outside && !l.files[path] {
		if lang.exists {
			l.unbound(show(name) + " is not there, so another file may be taken for it")
		}
		if lang.shell && !isPath(name) {
			l.onPath(name)
		}
	}
}

// onPath binds the scripts of a name that a shell finds on PATH where there is
// none in its directory.
func (l *locator) onPath(name string) {
	if l.env.relativePath() {
		l.unbound("PATH depends on the working directory")
	}
	for _, dir := range filepath.SplitList(l.env.Get("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && l.ours(path) {
			l.name(path, runs, true)
		}
	}
}
