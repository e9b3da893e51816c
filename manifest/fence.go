package manifest

import (
	"errors"
	"strings"

	"github.com/adrg/frontmatter"
)

// block is the text between the fences.
type block struct {
	syntax *syntax
	text   string
	line   int // the file's line that the text begins on
}

// syntax is a language that front matter is written in.
type syntax struct {
	decode func(text string) (*document, *fault)
	// end finds where the text ends, given all that follows the opening fence:
	// the line that frontmatter takes for the closing fence can be one of a
	// value. It returns -1 for whoever knows no better.
	end   func(rest, fence string) int
	whole bool // the fences belong to the text
}

var (
	tomlSyntax   = &syntax{decode: decodeTOML, end: tomlEnd}
	yamlSyntax   = &syntax{decode: decodeYAML, end: yamlEnd}
	jsonSyntax   = &syntax{decode: decodeJSON, end: func(string, string) int { return -1 }}
	objectSyntax = &syntax{decode: decodeJSON, end: jsonEnd, whole: true}
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
	text   []byte
}

func fenced(begin, end string, s *syntax) *frontmatter.Format {
	f := frontmatter.NewFormat(begin, end, func(text []byte, into any) error {
		*into.(*split) = split{syntax: s, fence: end, text: text}
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
	if _, err := frontmatter.MustParse(strings.NewReader(file), &s, fences...); err != nil {
		return block{}, missingFence(strings.TrimSpace(opening), line, err)
	}
	b := block{syntax: s.syntax, line: line + 1}
	if s.syntax.whole {
		b.line, rest = line, file[len(file)-len(rest)-len(opening)-1:]
	}
	end := s.syntax.end(rest, s.fence)
	if end < 0 {
		end = len(s.text)
	}
	b.text = rest[:end]
	return b, nil
}

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
