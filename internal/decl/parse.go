package decl

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Language is a language of declarations.
type Language uint8

// The languages.
const (
	JSON Language = iota // with comments, and commas behind last items
	TOML
	YAML // without aliases: they make small texts large
)

// Options say how a text is parsed.
type Options struct {
	Line   int  // the file's line that the text begins on; 0 = 1
	Values int  // how many values and keys it may have; 0 = 20,000
	Unique bool // a key that stands twice in a table makes the text unreadable
}

// The bounds of what is handed to a parser. No declaration needs more, and
// parsers that meet more take seconds or the whole stack.
const (
	maxDepth  = 64 // tables and lists within each other
	maxParts  = 16 // of a dotted key
	maxValues = 20_000
)

// Document is a text that was parsed, or why it was not.
type Document struct {
	Root *Node             // nil if Bad
	Lax  []hook.Diagnostic // warnings of what other readers refuse
	Bad  *hook.Diagnostic  // why the text cannot be read
}

// Parse reads a text. Diagnostics have the file's lines, and no path. The root
// may be any value; of an empty text in TOML and YAML it is an empty table.
func Parse(lang Language, text string, o Options) Document {
	p := &parser{text: text, most: o.Values}
	if p.most == 0 {
		p.most = maxValues
	}
	var doc Document
	if p.bad = p.clean(&doc); p.bad == nil {
		switch lang {
		case TOML:
			doc.Root = p.toml()
		case YAML:
			doc.Root = p.yaml()
		default:
			doc.Root = p.json()
		}
	}
	if p.bad == nil && o.Unique {
		if again, first := doc.Root.twice(); first > 0 {
			p.bad = bad("duplicate_key", again.Line, phrase.Quote(again.Key)+" stands here for the second time", "keep one of them")
			p.first = first
		}
	}
	if p.bad != nil {
		doc.Root, doc.Bad = nil, p.bad
	}
	doc.Lax = append(doc.Lax, p.lax...)
	doc.shift(max(0, o.Line-1), p.first)
	return doc
}

// shift gives everything the lines of the file, where more lines lie before the
// text. first is the line that Bad is at odds with; 0 = none.
func (d *Document) shift(more, first int) {
	if d.Bad != nil {
		d.Bad.Line = max(1, d.Bad.Line) + more
		if first > 0 {
			d.Bad.Message += fmt.Sprintf(", after line %d", first+more)
		}
	}
	for i := range d.Lax {
		d.Lax[i].Line += more
	}
	if more > 0 {
		d.Root.shift(more)
	}
}

func (n *Node) shift(more int) {
	if n == nil {
		return
	}
	n.Line += more
	for _, item := range n.List() {
		item.shift(more)
	}
	pairs := n.Pairs()
	for i := range pairs {
		pairs[i].Line += more
		pairs[i].Node.shift(more)
	}
}

// parser parses one text. What it finds wrong has the text's lines.
type parser struct {
	text  string
	most  int // values
	bad   *hook.Diagnostic
	first int // the line of the key that bad repeats
	lax   []hook.Diagnostic
}

func bad(code string, line int, message, hint string) *hook.Diagnostic {
	return &hook.Diagnostic{Severity: hook.SeverityError, Code: code, Line: line, Message: message, Hint: hint}
}

func lax(code string, line int, message, hint string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityWarning, Code: code, Line: line, Message: message, Hint: hint}
}

func tooDeep(line int) *hook.Diagnostic {
	return bad("too_deep", line, "lists and tables are nested too deeply", "no hook needs that")
}

func (p *parser) tooMany(line int) *hook.Diagnostic {
	return bad("too_many", line, fmt.Sprintf("more than %d values", p.most), "move what declares no hooks into another file")
}

// clean takes the byte order mark off the text, and refuses what is none.
func (p *parser) clean(doc *Document) *hook.Diagnostic {
	if odd := UTF16(p.text); odd != nil {
		return odd
	}
	if !utf8.ValidString(p.text) {
		good := strings.IndexFunc(strings.ToValidUTF8(p.text, "\uFFFD"), func(c rune) bool { return c == utf8.RuneError })
		return bad("not_utf8", p.lineAt(good), "the file is not UTF-8", "save it as UTF-8")
	}
	if rest, marked := strings.CutPrefix(p.text, "\ufeff"); marked {
		p.text = rest
		doc.Lax = append(doc.Lax, lax("byte_order_mark", 1, "the file begins with a byte order mark", "save it without: other readers refuse it"))
	}
	return nil
}

// UTF16 is what is wrong with a file that is marked as UTF-16; nil = it is not.
func UTF16(text string) *hook.Diagnostic {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return bad("not_utf8", 1, "the file is UTF-16", "save it as UTF-8")
	}
	return nil
}

// lineAt is the line of an offset.
func (p *parser) lineAt(offset int) int {
	return 1 + strings.Count(p.text[:max(0, min(offset, len(p.text)))], "\n")
}

// foreign makes one of our messages of a parser's: lower case, one line.
func foreign(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if second, _ := utf8.DecodeRuneInString(message[size:]); unicode.IsLower(second) || second == ' ' {
		message = string(unicode.ToLower(first)) + message[size:]
	}
	return phrase.Line(message, 200)
}
