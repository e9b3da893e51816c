package trust

import (
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// wordsOf returns the words of a command, but for what it writes. A shell line
// is split twice, once with and once without regard to quotes: a quoted text may
// be a path with spaces, or a command line of its own.
func wordsOf(c *hook.Command) []string {
	if c.Args != nil {
		return withoutOutputs(append([]string{c.Line}, c.Args...))
	}
	var words []string
	for _, quotes := range []bool{true, false} {
		for _, command := range split(c.Line, quotes) {
			words = append(words, withoutOutputs(command)...)
		}
	}
	return words
}

// withoutOutputs returns the words of one command without the files that it
// says it writes.
func withoutOutputs(command []string) []string {
	var words []string
	before, tee := "", false
	for _, word := range command {
		if !tee && !output(before, word) {
			words = append(words, word)
		}
		before, tee = word, tee || word == "tee"
	}
	return words
}

// output reports whether a word is what an option before it is to write. The
// options are few, and of those that no interpreter has without a value: what is
// behind it would be a script that nobody approves.
func output(option, word string) bool {
	name, isOption := strings.CutPrefix(option, "-")
	switch strings.TrimPrefix(name, "-") {
	case "out", "outfile", "out-file", "output", "output-file", "logfile", "log-file":
		return isOption
	}
	return isOption && strings.HasSuffix(word, ".log")
}

// The separators of a shell line end words, and some of them commands.
const (
	separators = " \t\r<>=," + ends
	ends       = "\n;|&()`"
)

// split splits a shell line into commands, and those into words, without the
// words behind a >.
func split(line string, quotes bool) [][]string {
	var commands [][]string
	var command []string
	var word strings.Builder
	var quote rune
	writes := false // a > came before
	flush := func(next rune) {
		if word.Len() > 0 {
			if !writes {
				command = append(command, word.String())
			}
			writes = false
			word.Reset()
		}
		writes = writes || next == '>'
		if strings.ContainsRune(ends, next) {
			commands, command = append(commands, command), nil
		}
	}
	for _, r := range line {
		switch {
		case r == '\'' || r == '"':
			if quote == 0 {
				quote = r
			} else if quote == r {
				quote = 0
			} else if quotes {
				word.WriteRune(r)
			}
		case strings.ContainsRune(separators, r) && (quote == 0 || !quotes):
			flush(r)
		default:
			word.WriteRune(r)
		}
	}
	flush('\n')
	return commands
}
