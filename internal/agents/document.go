package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/tenterhook/tenterhook/hook"
)

// syntax is what an agent's own parser takes beside plain JSON.
type syntax struct {
	comments bool
	bom      bool
}

// document is a JSON text that is edited in place, or a value of one.
type document struct {
	bom  []byte
	text []byte
	root hujson.Value
	nl   string // its line break
	unit string // one step of indentation
	flat bool   // all on one line

	within *document // the text that it is a value of; nil = it is a whole text
	from   int       // where it begins there
}

var utf8BOM = []byte("\xef\xbb\xbf")

// readDocument parses a file strictly, as its agent does. A file without content
// is an empty object that is written on the first edit.
func readDocument(path string, data []byte, s syntax) (*document, error) {
	d := &document{text: data, nl: "\n", unit: "  "}
	if bytes.HasPrefix(data, utf8BOM) {
		if !s.bom {
			return nil, fmt.Errorf("%s:1: the file begins with a byte order mark, and its agent ignores such a file; remove the mark", path)
		}
		d.bom, d.text = data[:3], data[3:]
	}
	if len(bytes.TrimSpace(d.text)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty, which its agent cannot parse; delete it or write {} into it", path)
	}
	if at := tooDeep(d.text); at >= 0 {
		return nil, fmt.Errorf("%s:%d: more than %d values lie within each other", path, d.line(at), maxDepth)
	}
	if err := d.parse(); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	plain, err := d.plain(s)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("%s:1: the file holds no JSON object", path)
	}
	if err := hook.CheckJSON(plain); err != nil {
		return nil, fmt.Errorf("%s: %w; an agent may read it in two ways", path, err)
	}
	d.style()
	return d, nil
}

// maxDepth bounds how deep values may lie within each other: the parser takes
// its stack for it.
const maxDepth = 1000

// tooDeep returns the offset at which a text nests deeper than maxDepth, -1 if it
// does not.
func tooDeep(text []byte) int {
	depth, inText := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText:
			if c == '\\' {
				i++
			}
			inText = c != '"'
		case c == '"':
			inText = true
		case c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			end := "\n"
			if text[i+1] == '*' {
				end = "*/"
			}
			n := bytes.Index(text[i+2:], []byte(end))
			if n < 0 {
				return -1
			}
			i += 1 + n + len(end)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

func (d *document) parse() error {
	root, err := hujson.Parse(d.text)
	if err == nil {
		d.root = root
		return nil
	}
	message := err.Error() // "hujson: line 3, column 7: …"
	var line, column int
	if _, scan := fmt.Sscanf(message, "hujson: line %d, column %d:", &line, &column); scan == nil {
		_, rest, _ := strings.Cut(message, ": ")
		_, rest, _ = strings.Cut(rest, ": ")
		return fmt.Errorf("%d: not JSON: %s", line, rest)
	}
	return errors.New(" " + strings.TrimPrefix(message, "hujson: "))
}

// plain returns the text as plain JSON of the same length, or says where it
// holds what its agent does not take.
func (d *document) plain(s syntax) ([]byte, error) {
	plain, err := hujson.Standardize(bytes.Clone(d.text)) // it writes into what it gets
	if err != nil || len(plain) != len(d.text) {
		return nil, fmt.Errorf(" not JSON: %v", err)
	}
	for v := range d.root.All() {
		if kids := spans(v); len(kids) > 0 {
			if at := commaIn(d.text, kids[len(kids)-1].end, v.EndOffset-1); at >= 0 {
				return nil, fmt.Errorf("%d: a comma behind the last element, which its agent does not take; remove it", d.line(at))
			}
		}
	}
	for i := range plain {
		if plain[i] != d.text[i] && !s.comments {
			return nil, fmt.Errorf("%d: a comment, for which its agent ignores the whole file; remove it", d.line(i))
		}
	}
	if !json.Valid(plain) {
		return nil, fmt.Errorf(" not JSON")
	}
	return plain, nil
}

// commaIn finds a comma outside of comments, -1 if there is none. Between the
// offsets stand white space and comments alone.
func commaIn(text []byte, start, end int) int {
	for i := start; i < end; i++ {
		switch {
		case text[i] == ',':
			return i
		case bytes.HasPrefix(text[i:end], []byte("//")):
			n := bytes.IndexByte(text[i:end], '\n')
			if n < 0 {
				return -1
			}
			i += n
		case bytes.HasPrefix(text[i:end], []byte("/*")):
			i += bytes.Index(text[i:end], []byte("*/")) + 1
		}
	}
	return -1
}

func (d *document) line(offset int) int {
	if d.within != nil {
		return d.within.line(d.from) + bytes.Count(d.text[:offset], []byte("\n"))
	}
	return 1 + bytes.Count(d.text[:offset], []byte("\n"))
}

// style looks at how the text is laid out.
func (d *document) style() {
	open, end := d.root.StartOffset, d.root.EndOffset
	inner := d.text[open+1 : end-1]
	d.flat = len(bytes.TrimSpace(inner)) > 0 && !bytes.Contains(inner, []byte("\n"))
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		d.nl = "\r\n"
	}
	if kids := spans(&d.root); len(kids) > 0 {
		if indent, own := d.indent(kids[0].start); own && indent != "" {
			d.unit = indent
		}
	}
}

// indent is the white space at the beginning of the line of an offset, and
// whether nothing else stands before it.
func (d *document) indent(offset int) (string, bool) {
	start := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	if start == 0 && d.within != nil {
		space, _ := d.within.indent(d.from)
		return space, false
	}
	before := d.text[start:offset]
	space := before[:len(before)-len(bytes.TrimLeft(before, " \t"))]
	return string(space), len(space) == len(before)
}

// span is a member or an element in the text.
type span struct {
	start, end int
	comma      int // of the comma behind it, -1 if there is none
	key        string
	value      *hujson.Value
}

// spans are the members of an object or the elements of an array.
func spans(v *hujson.Value) []span {
	var list []span
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			list = append(list, span{start: m.Name.StartOffset, end: m.Value.EndOffset, key: m.Name.Value.(hujson.Literal).String(), value: &m.Value})
		}
	case *hujson.Array:
		for i := range c.Elements {
			list = append(list, span{start: c.Elements[i].StartOffset, end: c.Elements[i].EndOffset, value: &c.Elements[i]})
		}
	}
	for i := range list {
		list[i].comma = -1
		if i < len(list)-1 {
			list[i].comma = list[i].end + len(list[i].value.AfterExtra)
		}
	}
	return list
}

// at finds the value below keys of objects, nil if there is none.
func (d *document) at(keys ...string) *hujson.Value {
	v := &d.root
next:
	for _, key := range keys {
		if _, ok := v.Value.(*hujson.Object); !ok {
			return nil
		}
		for _, s := range spans(v) {
			if s.key == key {
				v = s.value
				continue next
			}
		}
		return nil
	}
	return v
}
