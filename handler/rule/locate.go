package rule

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// maxDefinition is how much of a file is searched for an expression.
const maxDefinition = 1 << 20

// locate gives a diagnostic about an expression its line and column in the file
// that declares it, where both can be found.
func locate(d *hook.Diagnostic, h *hook.Hook, key, text string, err error) {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || h.Source.Path == "" {
		return
	}
	file, err := safefile.Open(h.Source.Path)
	if err != nil {
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxDefinition))
	if err != nil {
		return
	}
	at, ok := place(string(data), key, text, offset(text, syntax), h.Source.Line)
	if !ok {
		return
	}
	before := string(data[:at])
	d.Line = 1 + strings.Count(before, "\n")
	d.Column = len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	d.Message = fmt.Sprintf("%s: %s", key, syntax.Message)
}

// offset is where in the expression a mistake is, in bytes.
func offset(text string, at *SyntaxError) int {
	from := 0
	for range at.Line - 1 {
		next := strings.IndexByte(text[from:], '\n')
		if next < 0 {
			break
		}
		from += next + 1
	}
	left := at.Column
	for n := range text[from:] {
		if left--; left < 1 {
			return from + n
		}
	}
	return len(text)
}

// place finds the byte of a file that became the byte at offset of an
// expression. The file may be TOML, YAML or JSON, so quotes are undone as they
// come. Of several hooks in a file the expression nearest after line is meant.
func place(file, key, text string, offset, line int) (int, bool) {
	key = key[strings.LastIndexByte(key, '.')+1:]
	first, found := 0, false
	start := 0
	for range line - 1 {
		start += strings.IndexByte(file[start:], '\n') + 1
	}
	for from := 0; ; {
		i := strings.Index(file[from:], key)
		if i < 0 {
			return first, found
		}
		from += i + len(key)
		value := from + len(file[from:]) - len(strings.TrimLeft(file[from:], "\"' \t=:"))
		for at := value; at < min(len(file), value+64); at++ {
			if where, ok := align(file[at:], text, offset); ok {
				if from >= start {
					return at + where, true
				}
				first, found = at+where, true
				break
			}
		}
	}
}

// align reports whether source, in some quoting, begins with text, and where its
// byte at offset comes from.
func align(source, text string, offset int) (where int, ok bool) {
	s, t := 0, 0
	where = -1
	for t < len(text) {
		if t == offset && where < 0 {
			where = s
		}
		n, m := step(source[s:], text[t:])
		if m == 0 && n == 0 {
			return 0, false
		}
		s, t = s+n, t+m
	}
	if where < 0 {
		where = s
	}
	return where, true
}

// step matches the beginning of source with that of text, and returns how many
// bytes of each.
func step(source, text string) (fromSource, fromText int) {
	switch {
	case source == "":
		return 0, 0
	case source[0] == text[0] && source[0] != '\n':
		return 1, 1
	case text[0] == '\n' || text[0] == ' ' && (source[0] == '\n' || source[0] == '\r'): // a line of a block, with its indentation
		if rest := strings.TrimLeft(source, " \t\r"); rest != "" && rest[0] == '\n' {
			indent := len(rest[1:]) - len(strings.TrimLeft(rest[1:], " \t"))
			have := len(text[1:]) - len(strings.TrimLeft(text[1:], " \t"))
			return len(source) - len(rest) + 1 + max(0, indent-have), 1
		}
	}
	if source[0] != '\\' || len(source) < 2 {
		return 0, 0
	}
	switch source[1] {
	case 'n', 't', 'r', 'b', 'f':
		return 2, 1
	case 'u':
		return 6, runeLength(text)
	case 'U':
		return 10, runeLength(text)
	case '\n', ' ', '\t', '\r': // a line that continues
		rest := strings.TrimLeft(source[1:], " \t\r\n")
		return len(source) - len(rest), 0
	}
	if source[1] == text[0] {
		return 2, 1
	}
	return 0, 0
}

func runeLength(text string) int {
	for i := range text {
		if i > 0 {
			return i
		}
	}
	return len(text)
}
