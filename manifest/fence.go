package manifest

import (
	"bufio"
	"errors"
	"strings"
	"sync"

	"github.com/adrg/frontmatter"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/decl"
)

// block is front matter, found and not yet read.
type block struct {
	syntax *syntax
	rest   string // the text, and all that follows it
	taken  int    // how much of rest frontmatter takes for the text
	fence  string // the line that ends it
	line   int    // the file's line that rest begins on
}

// syntax is a way to write front matter.
type syntax struct {
	language decl.Language
	whole    bool // the fences belong to the text
	// end finds the end of the text before the line that frontmatter takes for the
	// closing fence, which can be one of a value. It is not ok if there is no other.
	end func(rest, fence string) (end int, ok bool)
}

var (
	tomlSyntax   = &syntax{language: decl.TOML, end: decl.TOMLEnd}
	yamlSyntax   = &syntax{language: decl.YAML, end: yamlEnd}
	jsonSyntax   = &syntax{language: decl.JSON}
	objectSyntax = &syntax{language: decl.JSON, whole: true, end: func(rest, _ string) (int, bool) { return decl.ObjectEnd(rest) }}
)

// text is what a parser gets.
func (b block) text() string {
	if b.syntax.end != nil {
		if end, ok := b.syntax.end(b.rest, b.fence); ok {
			return b.rest[:end]
		}
	}
	return b.rest[:b.taken]
}

// yamlEnd is the first fence that is not indented: an indented one is part of a
// value.
func yamlEnd(rest, fence string) (end int, ok bool) {
	for end < len(rest) {
		line, _, _ := strings.Cut(rest[end:], "\n")
		if strings.TrimRight(line, " \t\r") == fence {
			return end, true
		}
		end += len(line) + 1
	}
	return end, false
}

// fences are the ways to begin front matter: those of frontmatter itself.
var fences = []*frontmatter.Format{
	fenced("+++", "+++", tomlSyntax),
	fenced("---", "---", yamlSyntax),
	fenced("{", "}", objectSyntax),
	fenced(";;;", ";;;", jsonSyntax),
	fenced("---yaml", "---", yamlSyntax),
	fenced("---toml", "---", tomlSyntax),
	fenced("---json", "---", jsonSyntax),
}

// split is what frontmatter says of a file.
type split struct {
	syntax *syntax
	fence  string
	taken  int
}

func fenced(begin, end string, s *syntax) *frontmatter.Format {
	f := frontmatter.NewFormat(begin, end, func(text []byte, into any) error {
		*into.(*split) = split{syntax: s, fence: end, taken: len(text)}
		return nil
	})
	f.UnmarshalDelims, f.RequiresNewLine = s.whole, s.whole
	return f
}

// cut finds the front matter of a file.
func cut(file string) (block, *hook.Diagnostic) {
	file = strings.TrimPrefix(file, "\ufeff")
	opening, line, rest := firstLine(file)
	var s split
	lines := buffers.Get().(*bufio.Reader)
	defer buffers.Put(lines)
	lines.Reset(strings.NewReader(file))
	if _, err := frontmatter.MustParse(lines, &s, fences...); err != nil {
		if odd := decl.UTF16(file); odd != nil {
			return block{}, odd
		}
		return block{}, missingFence(strings.TrimSpace(opening), line, err)
	}
	b := block{syntax: s.syntax, rest: rest, taken: s.taken, fence: s.fence, line: line + 1}
	if s.syntax.whole {
		b.line, b.rest = line, file[len(file)-len(rest)-len(opening)-1:]
	}
	return b, nil
}

// buffers are what frontmatter reads through: it takes a buffer that is large enough
// as it is, which saves most of what it allocates.
var buffers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// firstLine returns the first line that is not blank, its number and what
// follows it.
func firstLine(file string) (text string, line int, rest string) {
	for line = 1; ; line++ {
		text, rest, more := strings.Cut(file, "\n")
		if strings.TrimSpace(text) != "" || !more {
			return text, line, rest
		}
		file = rest
	}
}

// missingFence says what frontmatter did not find.
func missingFence(word string, line int, err error) *hook.Diagnostic {
	if !errors.Is(err, frontmatter.ErrNotFound) {
		return &hook.Diagnostic{Code: "syntax", Line: line, Message: err.Error()}
	}
	for _, f := range fences {
		if f.Start != word {
			continue
		}
		bad := &hook.Diagnostic{Code: "unclosed_frontmatter", Line: line, Message: "the front matter that begins here has no end",
			Hint: "close it with a line that holds " + f.End + " alone"}
		if f.RequiresNewLine {
			bad.Hint += ", and an empty line after it"
		}
		return bad
	}
	bad := &hook.Diagnostic{Code: "no_frontmatter", Line: line, Message: "there is no front matter, so no hook is declared",
		Hint: "begin the file with a line that holds +++ alone, then event and command, then +++ again"}
	switch {
	case strings.ContainsRune(word, '\r'):
		bad.Message, bad.Hint = "its lines end with a carriage return alone, so no front matter is found", "end lines with a newline"
	case strings.HasPrefix(word, "{"):
		bad.Hint = "put the opening { on a line of its own"
	}
	return bad
}
