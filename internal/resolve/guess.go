package resolve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tenterhook/tenterhook/hook"
)

// Watched returns the program and the files of its directory that its command
// names, for a process that stays: an edit of one of them means that the next call
// runs it. Other than [Command] it guesses.
func Watched(cmd *hook.Command, p *hook.Program, e *Environ) []string {
	named, dir := p.Argv[1:], p.Dir
	if p.Shell {
		named = shellWords(cmd.Line, e.Get)
	}
	files := []string{p.Path}
	for _, word := range named {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		word = filepath.Clean(word)
		if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() || !within(dir, word) || slices.Contains(files, word) {
			continue
		}
		files = append(files, word)
	}
	return files
}

// shellWords are the words of a command line, as far as they are known: a word
// that is not understood only means a file that is not looked at.
func shellWords(line string, lookup func(string) string) []string {
	if len(line) > 4096 {
		return nil
	}
	guess := func(word string) string {
		return os.Expand(strings.NewReplacer(`"`, "", "'", "").Replace(word), lookup)
	}
	var words []string
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil { // of another shell
		for _, field := range strings.Fields(line) {
			words = append(words, guess(field))
		}
		return words
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			word, plain := PlainWord(w, lookup)
			if !plain {
				word = guess(line[w.Pos().Offset():w.End().Offset()])
			}
			words = append(words, word)
		}
		return true
	})
	return words
}
