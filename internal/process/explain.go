package process

import (
	"os"
	"path/filepath"
	"strings"
)

// Explain says why a child that did start got nowhere: exit code 126 or 127, by which shells and
// env(1) say that they could not execute their command (POSIX.1-2024, XCU 2.8.2). It reads
// what they wrote to stderr, if that is in English, and the file on disk. It is false if the exit code means something else,
// or the reason is unknown.
func Explain(s Spec, r Result) (Diagnosis, bool) {
	if !r.Started || r.Stopped() || r.ExitCode != 126 && r.ExitCode != 127 {
		return Diagnosis{}, false
	}
	s, err := s.complete()
	if err != nil {
		return Diagnosis{}, false
	}
	line, isShell := s.shellLine()
	by, word, says := complaint(string(r.Stderr[:min(len(r.Stderr), 4096)]))
	if !isShell || by == "env" {
		// A script whose first line is #!/usr/bin/env: what is wrong is to be seen in the script.
		script := s.Path
		if isShell {
			script = s.locate(firstWord(line))
		}
		if script != "" {
			if d, ok := inspect(script, s.Env); ok {
				return d, true
			}
		}
	}
	switch {
	case word == "":
		return Diagnosis{}, false
	case says == "text file busy":
		return busy(word), true
	}
	if quoted := unquotedPath(word, line, s.Dir); quoted != "" {
		return Diagnosis{CauseSpace, quoted, "its path has a space, so that the shell took " + quote(word) + " for the program",
			"put the path in quotes"}, true
	}
	return s.explainWord(word)
}

// explainWord says what is wrong with the program that a shell was to run by this word.
func (s *Spec) explainWord(word string) (Diagnosis, bool) {
	path := s.locate(word)
	if path == "" {
		return Diagnosis{CauseNotFound, word, "no program " + quote(word) + " is on the PATH it is run with",
			"install it, or add its folder to PATH"}, true
	}
	if d, ok := inspect(path, s.Env); ok {
		return d, true
	}
	return Diagnosis{CauseOther, path, "the shell could not execute it", "try to run it by hand, as the same user"}, true
}

// locate returns the path of the program that a shell finds by this word, or nothing if PATH has none.
func (s *Spec) locate(word string) string {
	switch {
	case !strings.Contains(word, "/"):
		return lookPath(word, s.Env)
	case filepath.IsAbs(word):
		return word
	}
	return filepath.Join(s.Dir, word)
}

// firstWord is the program of a simple command line.
func firstWord(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	return strings.Trim(words[0], `'"`)
}

// shellLine is the command line of a spec that runs a shell with -c.
func (s *Spec) shellLine() (line string, ok bool) {
	if len(s.Argv) < 3 || s.Argv[1] != "-c" {
		return "", false
	}
	switch filepath.Base(s.Path) {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox":
		return s.Argv[2], true
	}
	return "", false
}

// complaints are what the shells and env say of a program that they can not execute: dash and busybox
// `sh: 1: foo: not found`, bash `bash: line 1: ./x: Permission denied`, zsh `zsh:1: command not found:
// foo`, env `env: ‘node’: No such file or directory`.
var complaints = []string{
	"command not found", "not found", "permission denied", "cannot execute", "no such file or directory",
	"text file busy", "is a directory", "bad interpreter", "exec format error", "required file not found",
}

// complaint finds who complains of which word, and, in small letters, of what.
func complaint(stderr string) (by, word, says string) {
	lines := strings.Split(stderr, "\n")
	for i := len(lines) - 1; i >= 0; i-- { // the last complaint gave the exit code
		fields := strings.Split(strings.TrimSpace(lines[i]), ": ")
		for j, f := range fields {
			phrase := strings.ToLower(f)
			if !isComplaint(phrase) || j == 0 {
				continue
			}
			at := j - 1
			switch {
			case phrase == "bad interpreter" && j >= 2: // script: interpreter: bad interpreter
				at = j - 2
			case j == 1 && j+1 < len(fields): // zsh: the word comes last
				at = j + 1
			}
			return filepath.Base(fields[0]), strings.Trim(fields[at], "'\"`‘’"), phrase
		}
	}
	return "", "", ""
}

func isComplaint(phrase string) bool {
	for _, c := range complaints {
		if strings.HasPrefix(phrase, c) {
			return true
		}
	}
	return false
}

// unquotedPath tells whether the word is only the beginning of a path that exists, cut off where the
// command line has a space: it returns that path.
func unquotedPath(word, line, dir string) string {
	_, rest, found := strings.Cut(line, word+" ")
	if !found {
		return ""
	}
	path := word
	for _, next := range strings.Split(rest, " ") {
		path += " " + next
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, full)
		}
		if fi, err := os.Stat(full); err == nil && fi.Mode().IsRegular() {
			return full
		}
	}
	return ""
}

// shellSignal names the signal that a shell reports by an exit code, if it is one of those.
func shellSignal(code int) string { return signalName(code - 128) }
