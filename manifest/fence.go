package manifest

import (
	"bufio"
	"errors"
	"strings"
	"sync"

	"github.com/adrg/frontmatter"
)

// block is front matter, found and not yet read.
type block struct {
	syntax *syntax
	rest   string // the text, and all that follows it
	taken  int    // how much of rest frontmatter takes for the text
	fence  string // the line that ends it
	line   int    // the file's line that rest begins on
}

// syntax is a language that front matter is written in.
type syntax struct {
	// read decodes the text. It finds the end itself: the line that frontmatter
	// takes for the closing fence can be one of a value.
	read  func(b block) (*document, *fault)
	whole bool // the fences belong to the text
}

var (
	tomlSyntax   = &syntax{read: readTOML}
	yamlSyntax   = &syntax{read: readYAML}
	jsonSyntax   = &syntax{read: func(b block) (*document, *fault) { return decodeJSON(b.rest[:b.taken]) }}
	objectSyntax = &syntax{read: readObject, whole: true}
)

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

// split is what frontmatter tells of a file.
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
func cut(file string) (block, *fault) {
	file = strings.TrimPrefix(file, "\ufeff")
	opening, line, rest := firstLine(file)
	var s split
	lines := buffers.Get().(*bufio.Reader)
	defer buffers.Put(lines)
	lines.Reset(strings.NewReader(file))
	if _, err := frontmatter.MustParse(lines, &s, fences...); err != nil {
		return block{}, missingFence(strings.TrimSpace(opening), line, err)
	}
	b := block{syntax: s.syntax, rest: rest, taken: s.taken, fence: s.fence, line: line + 1}
	if s.syntax.whole {
		b.line, b.rest = line, file[len(file)-len(rest)-len(opening)-1:]
	}
	return b, nil
}

// buffers are what frontmatter reads through: it takes one that is large enough
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
func missingFence(word string, line int, err error) *fault {
	if !errors.Is(err, frontmatter.ErrNotFound) {
		return &fault{code: "syntax", line: line, message: err.Error()}
	}
	for _, f := range fences {
		if f.Start != word {
			continue
		}
		bad := &fault{code: "unclosed_frontmatter", line: line, message: "the front matter that begins here has no end",
			hint: "close it with a line that holds " + f.End + " alone"}
		if f.RequiresNewLine {
			bad.hint += ", and an empty line after it"
		}
		return bad
	}
	bad := &fault{code: "no_frontmatter", line: line, message: "there is no front matter, so no hook is declared",
		hint: "begin the file with a line that holds +++ alone, then event and command, then +++ again"}
	if strings.HasPrefix(word, "{") {
		bad.hint = "put the opening { on a line of its own"
	}
	return bad
}
