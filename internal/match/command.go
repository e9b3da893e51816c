package match

import (
	"errors"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxCommand is the longest shell text, in bytes, that is parsed.
	maxCommand = 10_000
	// maxBrackets is how many brackets of any kind it may hold. Parsing is
	// recursive: each of them may cost a few kilobytes of stack.
	maxBrackets = 1000
)

// command is shell text, read once for all rules. It is safe for concurrent use.
type command struct {
	text    string
	line    *line
	file    *syntax.File // nil = there is nothing, or text is so plain that it was not parsed
	err     error        // why not all of it can be parsed
	plain   bool         // text is made of plain commands
	missing bool         // the call has no text

	look sync.Once
	seen reading // see returns it
}

// reading is what a piece of shell text runs, as far as that is known.
type reading struct {
	// blind says why nothing is known of it, so that every rule matches.
	blind string
	// expansion is the first $(…), `…` or $X in an argument: it may become
	// anything, so that rules on more than a command's name match.
	expansion string
	calls     []call
}

// call is one simple command.
type call struct {
	text string // its words without quotes, assignments and redirections
	via  string // "run by xargs", or "" for the shell itself
}

func newCommand(text, cwd, home string) *command {
	c := new(command)
	c.parse(text, cwd, home)
	return c
}

// parse reads shell text as bash does, as far as it can be read.
func (c *command) parse(text, cwd, home string) {
	c.text = text
	r := newLineReader(text, cwd, home)
	if r.whole(func() { c.plain = r.plain(text) }); c.plain {
		if !r.givesLate() {
			c.line = r.line
			return
		}
		c.plain, r = false, newLineReader(text, cwd, home)
	}
	c.file, c.err = ParseShell(text)
	c.line = r.readLine(c.file, c.err)
}

// see reads the text as Claude Code was seen to. Strict rules look nowhere else.
func (c *command) see() *reading {
	c.look.Do(func() {
		if c.missing {
			return
		}
		file, err := c.file, c.err
		if c.plain {
			file, err = ParseShell(c.text)
		}
		switch why := opaque(c.text); {
		case why != "":
			c.seen.blind = why
		case err != nil:
			c.seen.blind = "cannot be parsed"
		default:
			w := walker{src: c.text, out: &c.seen}
			w.stmts(file.Stmts)
		}
	})
	return &c.seen
}

// seesMore reports whether Claude Code may see what the line does not have.
func (c *command) seesMore() bool {
	return !c.plain || strings.Contains(c.text, "xargs")
}

var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}}

var errUnreadable = errors.New("unreadable")

// ParseShell parses text that may be parsed without harm: it refuses text of more
// than 128 KiB, with deep brackets or with control characters. With an error it
// returns what stands before the mistake, nil if that is nothing.
func ParseShell(text string) (*syntax.File, error) {
	if unreadable(text, maxLine) != "" {
		return nil, errUnreadable
	}
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// opaque says what about a text keeps it from being read before it is parsed,
// or "". Shells and parsers disagree about these characters, which makes them
// a way to hide a command.
func opaque(text string) string {
	if len(text) > maxCommand {
		return "is too long to be parsed"
	}
	brackets := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '[' || c == '{':
			if brackets++; brackets > maxBrackets {
				return "is nested too deeply to be parsed"
			}
		case c == '\\' && i+1 < len(text) && (text[i+1] == '\n' || text[i+1] == '\r'):
			return "continues a line with a backslash"
		case c == '\\' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t'):
			return "has a space behind a backslash"
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return "has a control character"
		case c >= 0x80 && oddSpace(text[i:]):
			return "has a space that is not ASCII"
		}
	}
	return ""
}

// oddSpace reports whether s begins with a space that looks like one, or like
// nothing, and separates no words.
func oddSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff'
}
