package resolve

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// locator finds the files of one command in one directory.
type locator struct {
	hook *hook.Hook
	env  *Environ
	at   Place
	dir  string // that the command starts in

	files   map[string]bool // that are outside of the hook's folder; nil = they are not asked for
	outputs []string        // what the command says that it writes
	looked  int             // how many names were looked up
	why     string          // why it is unbound, "" = it is not
}

// maxNames bounds how many names of one command are looked up.
const maxNames = 2048

// unbound notes the first reason.
func (l *locator) unbound(why string) {
	if l.why == "" {
		l.why = why
	}
}

// use is what a program does with its arguments.
type use uint8

const (
	mentions use = iota // it prints them, for a program that may take them for a file's name
	reads               // it reads them, as data
	runs                // it may run them, or what is in them
)

// argument binds whatever a word of a command names, and whatever a part of it
// does: the value of --rules=x, a file in a list, the words of a quoted text.
func (l *locator) argument(word string, u use) {
	l.name(word, u, true)
	for _, part := range parts(word) {
		l.name(part, u, false)
	}
}

// parts are the texts in a word that could be a name for themselves.
func parts(word string) []string {
	list := strings.FieldsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("=:,;|&()<>`\"'$@{}[]", r) })
	if _, value, ok := strings.Cut(word, "="); ok {
		list = append(list, value)
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if rest, ok := strings.CutPrefix(word, "-"); ok && !strings.HasPrefix(rest, "-") {
		for i := range rest[:min(len(rest), 64)] { // -fx, -xf./x
			list = append(list, rest[i:])
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == word || strings.Trim(s, "/.-") == "" })
}

// name binds the file of that name, if there is one. Of a whole word a folder
// counts too: what is in it can change.
func (l *locator) name(text string, u use, whole bool) {
	path, where := l.place(text)
	if where != outside {
		if where == unclear && u != mentions {
			l.unbound(show(text) + " leads through .. or a folder of the system that others fill")
		}
		return
	}
	if l.looked++; l.looked > maxNames {
		l.unbound("it names too much to look at")
		return
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		l.files[path] = true
	case err == nil && info.IsDir() && (u != runs || !whole && !strings.ContainsRune(text, '/')):
	case err == nil && info.IsDir():
		l.unbound(show(text) + " is a folder")
	case err == nil && u == runs:
		l.unbound(show(text) + " is no regular file")
	case err == nil, absent(err), u == mentions:
	default:
		l.unbound(show(text) + " cannot be examined")
	}
}

// where is on whose word a path is there.
type where uint8

const (
	outside where = iota // of the hook's folder: to be bound
	inside               // the hook's folder, which is bound as a whole
	system               // the machine's own, or nothing that could be a file
	unclear              // what it leads to depends on more than its name
)

// place finds the path that a text means, if it is a file's name.
func (l *locator) place(text string) (string, where) {
	if text == "" || len(text) > 4095 || strings.ContainsRune(text, 0) {
		return "", system
	}
	path, relative := text, !filepath.IsAbs(text)
	elements := slices.DeleteFunc(strings.Split(filepath.ToSlash(text), "/"), func(s string) bool { return s == "" || s == "." })
	if slices.ContainsFunc(elements, func(s string) bool { return len(s) > 255 }) {
		return "", system
	}
	down := slices.IndexFunc(elements, func(s string) bool { return s != ".." })
	if up := slices.Contains(elements, ".."); up && (!relative || down >= 0 && slices.Contains(elements[down:], "..")) {
		return "", unclear
	} else if up && l.hook.Source.Dir != "" {
		return "", unclear // a copy has other neighbours
	} else if relative {
		dir := l.dir
		if real, err := filepath.EvalSymlinks(dir); up && err == nil {
			dir = real
		}
		path = dir + string(filepath.Separator) + text
	}
	path = filepath.Clean(path)
	switch {
	case l.hook.Source.Dir != "" && within(l.hook.Source.Dir, path):
		return path, inside
	case l.ours(path):
		return path, outside
	case slices.Contains(devices, path) || below(systems, path):
		return path, system
	case below(volatile, path):
		return path, unclear
	}
	return path, outside
}

// ours reports whether a path is in the workspace or in the hook's package.
func (l *locator) ours(path string) bool {
	return l.at.Project != "" && within(l.at.Project, path) ||
		l.hook.Scope == hook.ScopePlugin && l.hook.Source.Root != "" && within(l.hook.Source.Root, path)
}

// What the machine's own programs and their files are below, what others fill
// as they like, and what of that is harmless.
var (
	systems  = strings.Fields("/bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /nix/store /gnu/store /opt/homebrew /System /Library " + `C:\Windows`)
	volatile = strings.Fields("/dev /proc /sys /run")
	devices  = strings.Fields("/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/stdin /dev/stdout /dev/stderr")
)

func below(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) })
}

// program binds a program, and what its first line has run it. A program that
// PATH leads to is the operator's, unless that leads into the workspace.
func (l *locator) program(path string, onPath bool) (bound bool) {
	name := path
	for range 4 { // interpreters of interpreters
		at, where := l.place(name)
		switch {
		case where == unclear:
			l.unbound(show(name) + " leads through .. or a folder of the system that others fill")
			return true
		case where == system, where == outside && onPath && !l.ours(at):
			return bound
		case where == outside:
			l.files[at] = true
		}
		bound = true
		first, ok := l.firstLine(at)
		if !ok {
			return true
		}
		name, onPath = l.interpreterOf(first), false
		if name == "" {
			return true
		}
	}
	l.unbound("its interpreters have interpreters")
	return true
}

// firstLine is what comes after the #! of a script.
func (l *locator) firstLine(path string) ([]string, bool) {
	line, ok := l.head(path)
	line, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	return words, ok && script && len(words) > 0
}

// head is the first line of a file, as far as a system looks at it.
func (l *locator) head(path string) (string, bool) {
	f, err := safefile.Open(l.bytesOf(path))
	if err != nil {
		return "", false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return string(line), true
}

// bytesOf is where a file is read: for one of the hook's folder, where the folder is.
func (l *locator) bytesOf(path string) string {
	dir := l.hook.Source.Dir
	if dir == "" || l.at.Bytes == "" || !within(dir, path) {
		return path
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.Join(l.at.Bytes, rel)
}

// programName is what a program is called, whichever folder and, on Windows, ending and case its file has.
func programName(path string) string {
	name := filepath.Base(path)
	if runtime.GOOS == "windows" {
		name = strings.ToLower(name)
		for _, ending := range []string{".exe", ".com", ".cmd", ".bat"} {
			name = strings.TrimSuffix(name, ending)
		}
	}
	return name
}

// interpreterOf returns the program of a first line if it is one to look at.
func (l *locator) interpreterOf(line []string) string {
	for _, word := range line[1:] {
		l.argument(word, runs)
	}
	if runtime.GOOS == "windows" {
		return "" // what runs it is found by the name alone, and was bound
	}
	if !filepath.IsAbs(line[0]) {
		l.unbound("the first line of a script names " + show(line[0]) + " without saying where that is")
		return ""
	}
	if programName(line[0]) == "env" {
		for _, word := range line[1:] {
			if path, ok := l.env.lookPath(word); ok && !isPath(word) && l.ours(path) {
				l.files[path] = true
			}
		}
	}
	return line[0]
}

// output notes what a command writes. What it writes it must not run.
func (l *locator) output(word string) {
	path, where := l.place(word)
	if where == unclear {
		l.unbound(show(word) + " leads through .. or a folder of the system that others fill")
	} else if where == outside {
		l.outputs = append(l.outputs, path)
	}
}

// written looks for files that the command both writes and uses.
func (l *locator) written() {
	for _, out := range l.outputs {
		info, err := os.Stat(out)
		for file := range l.files {
			other, failed := os.Stat(file)
			if out == file || err == nil && failed == nil && os.SameFile(info, other) {
				l.unbound(show(filepath.Base(file)) + " is written by the command that uses it")
			}
		}
	}
}

// ownVariables looks at what the hook adds to the environment.
func (l *locator) ownVariables() {
	for _, key := range slices.Sorted(maps.Keys(l.hook.Env)) {
		if key != prefixVariable {
			l.variable(key, l.hook.Env[key])
		}
	}
}

func (l *locator) variable(key, value string) {
	if moves(key) {
		l.unbound("the variable " + show(key) + " can change what is loaded")
	}
	l.argument(value, runs)
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// show makes a word of a command safe to stand in a sentence.
func show(word string) string {
	const most = 60
	if r := []rune(word); len(r) > most {
		word = string(r[:most]) + "…"
	}
	return strconv.Quote(word)
}
