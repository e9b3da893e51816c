package resolve

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tenterhook/tenterhook/hook"
)

// interpreted returns how a file is started. Windows starts programs alone, and batch files by cmd.exe: what runs
// another script follows from its ending, or by its first line.
func (l *locator) interpreted(path string, argv []string) (hook.Program, *hook.Error) {
	var by []string
	remedy := ""
	switch strings.ToLower(filepath.Ext(path)) {
	case ".exe", ".com", ".bat", ".cmd":
	case ".ps1":
		remedy = "install PowerShell"
		if program, ok := l.env.powershell(); ok {
			by = []string{program, "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"}
		}
	case ".py", ".pyw":
		by, remedy = l.python()
	case ".sh", ".bash":
		by, remedy = l.sh()
	default:
		head, ok := l.head(path)
		line, script := l.firstLine(path)
		switch {
		case script:
			by, remedy = l.byFirstLine(line)
		case ok && !strings.HasPrefix(head, "MZ"): // as a POSIX shell does with a text
			by, remedy = l.sh()
		}
	}
	if by == nil && remedy == "" {
		return hook.Program{Path: path, Argv: argv}, contained(l.hook, path)
	}
	if by == nil {
		return hook.Program{}, &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("%s: nothing on this system runs it", path), Hint: remedy}
	}
	if failed := l.carriageReturn(by[0], path); failed != nil {
		return hook.Program{}, failed
	}
	l.bind(func() { l.program(by[0], true) })
	return hook.Program{Path: by[0], Argv: slices.Concat(by, []string{path}, argv[1:])}, contained(l.hook, path)
}

// python is the launcher, or one of the programs that it would find.
func (l *locator) python() (by []string, remedy string) {
	for _, name := range []string{"py", "python3", "python"} {
		if path, ok := l.env.lookPath(name); ok {
			return []string{path}, ""
		}
	}
	return nil, "install Python, with its launcher or with python.exe on PATH"
}

func (l *locator) sh() (by []string, remedy string) {
	argv, remedy := l.env.shell("")
	if argv == nil {
		return nil, remedy
	}
	return argv[:1], ""
}

// byFirstLine finds the program that a script's first line names, by its last part: no /usr/bin is here.
func (l *locator) byFirstLine(line []string) (by []string, remedy string) {
	name, rest := programName(line[0]), line[1:]
	for name == "env" && len(rest) > 0 {
		if word := rest[0]; !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			name = programName(word)
		}
		rest = rest[1:]
	}
	switch {
	case name == "sh" || name == "bash" || name == "dash":
		if by, remedy = l.sh(); by == nil {
			return nil, remedy
		}
	case strings.HasPrefix(name, "python"):
		if by, remedy = l.python(); by == nil {
			return nil, remedy
		}
	default:
		path, ok := l.env.lookPath(name)
		if !ok {
			return nil, "install " + show(name) + ", which its first line names, or add its folder to PATH"
		}
		by = []string{path}
	}
	return append(by, rest...), ""
}

// carriageReturn refuses a script for a POSIX shell whose lines end in CR LF: the shell would take each CR for a part
// of the last word.
func (l *locator) carriageReturn(by, path string) *hook.Error {
	if !shellName(by) {
		return nil
	}
	if line, _ := l.head(path); !strings.HasSuffix(line, "\r") {
		return nil
	}
	return &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("%s: its lines end in CR LF, which a POSIX shell takes for a part of its words", path),
		Hint: "save it with LF line ends; in Git, .gitattributes with '*.sh text eol=lf' keeps them"}
}

// maxPlace is how many UTF-16 units the paths of a program and of its directory may have: Windows adds a backslash and a
// zero to 260 at most.
const maxPlace = 258

// checkPlace refuses a directory, or a program, whose path is too long for a process to be started.
func checkPlace(program, dir string) *hook.Error {
	for _, path := range []string{dir, program} {
		if n := len(utf16.Encode([]rune(path))); n > maxPlace {
			return &hook.Error{Failure: hook.FailureStart, Reason: fmt.Sprintf("%s: its path has %d characters, and Windows starts programs in folders of at most %d", path, n, maxPlace),
				Hint: "move the hook to a folder with a shorter path"}
		}
	}
	return nil
}

// checkArgs refuses what cmd.exe would read as text of its command line, although it stands for a path.
func checkArgs(cmd *hook.Command, e *Environ) *hook.Error {
	if programName(cmd.Line) != "cmd" {
		return nil
	}
	for _, arg := range cmd.Args {
		for _, key := range placeholderNames {
			if strings.Contains(arg, "${"+key+"}") && strings.ContainsAny(e.Get(key), "&|<>^%\"\r\n") {
				return &hook.Error{Failure: hook.FailureStart,
					Reason: fmt.Sprintf("${%s} is %s, which cmd.exe would not take for a path alone", key, show(e.Get(key))),
					Hint:   `write "%` + key + `%", with its quotes, in the place of the placeholder`}
			}
		}
	}
	return nil
}
