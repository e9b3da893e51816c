package protect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/match"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

const (
	// maxScript bounds a script that is read, in bytes.
	maxScript = 64 << 10
	// maxScripts bounds the scripts of one line, with the scripts that these run.
	maxScripts = 64
	// maxFiles bounds the files that are looked for because of one line.
	maxFiles = 1024
	// maxMade bounds the makefiles of one line, with what their variables come to, in bytes.
	maxMade = 256 << 10
)

// search looks for the texts that a line has a shell run.
type search struct {
	files int             // that were looked for
	made  int             // of makefiles, in bytes
	seen  map[string]bool // files and texts
	lines []*match.Call
}

// scripts returns the shell scripts that a line runs, each as a line of its own:
// what an agent writes into a file first is judged when the file is run. They are
// files, and what a file of the project calls by a name: a script of package.json, a
// target of a Makefile or a justfile, a task, a hook or an alias of git. No other language is seen.
func scripts(c *match.Call) []*match.Call {
	s := search{seen: make(map[string]bool)}
	s.of(c)
	for i := 0; i < len(s.lines); i++ {
		s.of(s.lines[i])
	}
	return s.lines
}

// of looks for the scripts of one line.
func (s *search) of(c *match.Call) {
	if line := lineOf(c); strings.Map(printable, line) != line {
		c = asLine(c, strings.Map(printable, line))
	}
	runs := c.Runs()
	for _, words := range runs.Commands {
		s.named(c, words, runs.Dirs)
	}
	for _, path := range runs.Scripts {
		s.file(c, path)
	}
}

// named takes what a command runs by a name that a file of the project explains.
func (s *search) named(c *match.Call, words, dirs []string) {
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun", "composer", "deno":
		s.packageScripts(c, words[0], words[1:], dirs)
	case "node":
		for i, w := range words {
			if script, ok := strings.CutPrefix(w, "--run"); ok && script == "" && i+1 < len(words) {
				s.packageScripts(c, "npm", words[i+1:i+2], dirs)
			} else if ok {
				s.packageScripts(c, "npm", []string{strings.TrimPrefix(script, "=")}, dirs)
			}
		}
	case "make", "gmake":
		s.recipes(c, words[1:], dirs, false)
	case "just":
		s.recipes(c, words[1:], above(dirs), true)
	case "task", "go-task":
		s.tasks(c, words[1:], above(dirs))
	case "go":
		if slices.Contains(words, "generate") {
			s.generators(c, words[1:], dirs)
		}
	case "cargo":
		s.runners(c, above(dirs))
	case "git":
		s.gitHooks(c, words[1:], dirs)
		s.gitAliases(c, words[1:], dirs)
	}
}

// file takes a file that is run, if it is a shell script.
func (s *search) file(c *match.Call, path string) {
	if s.seen[path] {
		return
	}
	s.seen[path] = true
	text := s.read(path)
	if first, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(first, "#!") || strings.Contains(first, "sh") {
		s.text(c, c.Cwd, text)
	}
}

// read returns a text file, "" if it is none or too long.
func (s *search) read(path string) string {
	if s.files++; s.files > maxFiles {
		return ""
	}
	text, err := safefile.Read(path, maxScript)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return ""
	}
	return string(text)
}

// text takes a text that is run in a directory.
func (s *search) text(c *match.Call, dir, text string) {
	key := dir + "\x00" + text
	if text == "" || s.seen[key] || len(s.lines) == maxScripts {
		return
	}
	s.seen[key] = true
	line := asLine(c, text)
	line.Cwd = dir
	s.lines = append(s.lines, line)
}

// printable replaces what keeps a text from being parsed, and separates nothing.
func printable(c rune) rune {
	if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
		return '_'
	}
	return c
}
