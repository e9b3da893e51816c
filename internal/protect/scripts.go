package protect

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenterhook/tenterhook/internal/match"
)

const (
	// maxScript bounds a script that is read, in bytes.
	maxScript = 64 << 10
	// maxScripts bounds the scripts of one line, those that scripts run among them.
	maxScripts = 64
	// maxFiles bounds the files that are looked for, of one text and of a line.
	maxFiles = 1024
	// maxTexts bounds the texts of one line that are parsed, in bytes.
	maxTexts = 4 * maxScript
	// maxDirs bounds the directories that a file is looked for in.
	maxDirs = 16
)

// scripts returns the shell scripts that a line runs, each as a line of its own:
// what an agent writes into a file first is judged when the file is run. Only
// plain words are seen, and no other language.
func scripts(c *match.Call) (lines []*match.Call) {
	seen := make(map[string]bool)
	for next := []*match.Call{c}; len(next) > 0; next = next[1:] {
		files, named := scriptFiles(next[0])
		for _, text := range named {
			if key := "\x00" + text; !seen[key] && len(lines) < maxScripts {
				seen[key] = true
				one := asLine(c, text)
				lines, next = append(lines, one), append(next, one)
			}
		}
		for _, path := range files {
			if seen[path] {
				continue
			}
			if len(lines) == maxScripts || len(seen) == maxFiles {
				return lines
			}
			seen[path] = true
			if text := readScript(path); text != "" {
				one := asLine(c, text)
				lines, next = append(lines, one), append(next, one)
			}
		}
	}
	return lines
}

// readScript returns the text of a shell script, "" if it is none or too long.
func readScript(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxScript))
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return ""
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) && !bytes.Contains(first, []byte("sh")) {
		return ""
	}
	return string(text)
}

// starters run the command that their other words are.
var starters = []string{"env", "nice", "ionice", "nohup", "timeout", "time", "sudo", "doas", "exec", "command", "builtin", "setsid", "stdbuf", "strace", "xargs", "flock"}

var shellNames = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", ".", "source"}

// scriptFiles are the files that the commands of a line run as scripts, and the
// texts that they run by a name. A directory that the line changes to counts beside
// its own.
func scriptFiles(c *match.Call) (paths, named []string) {
	r := runner{cwd: c.Cwd, home: c.Home}
	r.text(lineOf(c))
	for i := 0; i < len(r.texts); i++ {
		r.piped = 0
		file, _ := match.ParseShell(strings.Map(printable, r.texts[i]))
		if file != nil { // with an error, what stands before it is run
			syntax.Walk(file, r.visit)
		}
	}
	return r.paths, r.named
}

// printable replaces what keeps a text from being parsed, and separates nothing.
func printable(c rune) rune {
	if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
		return '_'
	}
	return c
}

// runner collects what the commands of a line run.
type runner struct {
	cwd, home string
	dirs      []string // that the line changed to, the last one last
	paths     []string // files that are run
	named     []string // scripts of packages that are run
	files     int      // how many words named them
	texts     []string // texts that are run, the line first
	bytes     int      // of texts
	piped     uint     // up to where the text that is read now is in a pipe to a shell
}

func (r *runner) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign: // also of export, and in front of a command
		if n.Name != nil && n.Value != nil && startsShells(n.Name.Value) {
			r.file(plain(n.Value, r.home, false))
		}
	case *syntax.CallExpr:
		words := r.words(n, false)
		for _, w := range words {
			if name, file, ok := strings.Cut(w, "="); ok && startsShells(name) {
				r.file(file)
			}
		}
		if len(words) > 1 && (words[0] == "cd" || words[0] == "pushd") {
			r.enter(words[len(words)-1])
		}
		what := runOf(words)
		for _, script := range what.scripts {
			r.file(script)
		}
		r.packageScripts(what.rest)
		if what.text > 0 {
			r.text(strings.Join(r.words(n, true)[what.text:what.end], " "))
		}
	case *syntax.Stmt:
		if r.isShell(n) {
			r.input(n)
		}
	case *syntax.BinaryCmd:
		if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && n.X.End().Offset() > r.piped && r.isShell(n.Y) {
			r.piped = n.X.End().Offset()
			syntax.Walk(n.X, r.feeds)
		}
	}
	return true
}

// startsShells reports whether a variable names a file that shells run first.
func startsShells(name string) bool { return name == "BASH_ENV" || name == "ENV" }

// isShell reports whether a statement is a shell, which may run its input.
func (r *runner) isShell(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && runOf(r.words(call, false)).shell
}

// input takes what is redirected into a statement as what is run.
func (r *runner) input(s *syntax.Stmt) {
	for _, redirect := range s.Redirs {
		switch redirect.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			r.file(plain(redirect.Word, r.home, false))
		case syntax.WordHdoc:
			r.text(plain(redirect.Word, r.home, true))
		case syntax.Hdoc, syntax.DashHdoc:
			if redirect.Hdoc != nil {
				r.text(plain(redirect.Hdoc, r.home, true))
			}
		}
	}
}

// feeds takes what a part of a pipe reads or prints as what is run.
func (r *runner) feeds(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		r.input(n)
	case *syntax.CallExpr:
		words := r.words(n, true)
		if len(words) > 1 && (words[0] == "echo" || words[0] == "printf") {
			r.text(strings.ReplaceAll(strings.Join(words[1:], " "), `\n`, "\n"))
		} else if len(words) > 1 {
			for _, w := range r.words(n, false)[1:] {
				r.file(w)
			}
		}
	}
	return true
}

func (r *runner) words(call *syntax.CallExpr, loose bool) []string {
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		words[i] = plain(w, r.home, loose)
	}
	return words
}

// enter notes a directory that the line changes to.
func (r *runner) enter(dir string) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.cwd, dir)
	}
	r.dirs = append(slices.DeleteFunc(r.dirs, func(d string) bool { return d == dir }), dir)
	if len(r.dirs) >= maxDirs { // with cwd
		r.dirs = r.dirs[1:]
	}
}

// text notes a text that is run.
func (r *runner) text(text string) {
	if len(r.texts) < maxScripts && r.bytes+len(text) <= maxTexts {
		r.bytes += len(text)
		r.texts = append(r.texts, text)
	}
}

// file notes a file that is run, in each directory that it may be in.
func (r *runner) file(name string) {
	if name == "" || r.files == maxFiles {
		return
	}
	r.files++
	if filepath.IsAbs(name) {
		r.paths = append(r.paths, filepath.Clean(name))
		return
	}
	for _, dir := range r.places() {
		r.paths = append(r.paths, filepath.Join(dir, name))
	}
}

// places are the directories that a command may run in.
func (r *runner) places() []string { return append([]string{r.cwd}, r.dirs...) }

// run is what a command runs.
type run struct {
	shell     bool     // it is a shell
	scripts   []string // files
	text, end int      // the words that are shell text; 0 = none
	rest      []string // of a command that is none of these
}

// runOf tells what a command of some words runs.
func runOf(words []string) (what run) {
	command, skip := false, 0 // the next word is a text, or how many belong to options
	for i, w := range words {
		switch option := strings.HasPrefix(w, "-"); {
		case skip > 0:
			skip--
		case what.shell && (option || strings.HasPrefix(w, "+")):
			switch {
			case (w == "--rcfile" || w == "--init-file") && i+1 < len(words):
				skip, what.scripts = 1, append(what.scripts, words[i+1])
			case !strings.HasPrefix(w, "--"):
				command = command || option && strings.Contains(w, "c")
				skip = strings.Count(strings.ToLower(w), "o")
			}
		case command:
			what.text, what.end = i, i+1
			return what
		case what.shell:
			what.scripts = append(what.scripts, w)
			return what
		case option || assigns(w) || duration(w):
		case slices.Contains(shellNames, filepath.Base(w)) || w == ".":
			what.shell = true
		case w == "eval" || w == "trap":
			what.text, what.end = i+1, len(words)
			return what
		case slices.Contains(starters, filepath.Base(w)):
		case strings.Contains(w, "/"):
			what.scripts = append(what.scripts, w)
			return what
		default:
			what.rest = words[i:]
			return what
		}
	}
	return what
}

// assigns reports whether a word sets a variable, as env takes them.
func assigns(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && syntax.ValidName(name)
}

// duration reports whether a word is a number or a time, as starters take them.
func duration(w string) bool {
	return w != "" && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, "0123456789.smhd") == ""
}

// plain is a word without quotes. If it holds more than text it is "", or, loose,
// has a variable in its place.
func plain(w *syntax.Word, home string, loose bool) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart) bool
	add = func(parts []syntax.WordPart) bool {
		for _, part := range parts {
			switch p := part.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				if !add(p.Parts) {
					return false
				}
			case *syntax.ParamExp:
				if p.Param == nil || p.Param.Value != "HOME" && p.Param.Value != "PWD" {
					if !loose {
						return false
					}
					b.WriteString("$_")
					continue
				}
				b.WriteString(map[string]string{"HOME": home, "PWD": "."}[p.Param.Value])
			default:
				if !loose {
					return false
				}
				b.WriteString("$_")
			}
		}
		return true
	}
	if !add(w.Parts) {
		return ""
	}
	if rest, ok := strings.CutPrefix(b.String(), "~/"); ok {
		return filepath.Join(home, rest)
	}
	return b.String()
}
