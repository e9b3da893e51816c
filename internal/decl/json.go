package decl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/tenterhook/tenterhook/hook"
)

// json reads JSON, and what people take for it: comments and a comma behind the
// last item are taken, and reported.
func (p *parser) json() *Node {
	if strings.TrimSpace(p.text) == "" {
		p.bad = bad("empty", 1, "the file is empty", "write {} for a file without hooks")
		return nil
	}
	if _, p.bad = p.scanJSON(); p.bad != nil {
		return nil
	}
	text := strings.TrimRight(p.text, " \t\r\n")
	value, err := hujson.Parse([]byte(text + "\n")) // a comment needs the end of its line
	if err != nil {
		p.bad = jsonFault(err)
		p.bad.Line = min(p.bad.Line, p.lineAt(len(text))) // what ends too soon does on a line that there is
		var odd *json.SyntaxError
		if errors.Is(err, io.ErrUnexpectedEOF) && errors.As(json.Unmarshal([]byte(p.text), new(any)), &odd) && strings.Contains(odd.Error(), "in string") {
			p.bad.Line, p.bad.Message = p.lineAt(int(odd.Offset)-1), "it is no JSON: "+odd.Error() // the string that is not closed
		}
		return nil
	}
	t := &jsonTree{comment: -1, comma: -1}
	for at, c := range []byte(p.text) {
		if c == '\n' {
			t.ends = append(t.ends, at)
		}
	}
	root := t.node(&value)
	if t.comment >= 0 {
		p.lax = append(p.lax, lax("json_comment", t.line(t.comment), "comments are not JSON", "they are passed over here; other readers refuse the file"))
	}
	if t.comma >= 0 {
		p.lax = append(p.lax, lax("trailing_comma", t.line(t.comma), "a comma behind the last item is not JSON", "remove it: other readers refuse the file"))
	}
	return root
}

// jsonFault takes the line out of an error, which is in its text alone.
func jsonFault(err error) *hook.Diagnostic {
	d := bad("syntax", 1, "", "check it with a JSON tool, such as jq")
	message := err.Error()
	if _, scanned := fmt.Sscanf(message, "hujson: line %d,", &d.Line); scanned == nil {
		_, message, _ = strings.Cut(message, ": ")
		_, message, _ = strings.Cut(message, ": ")
	}
	d.Message = "it is no JSON: " + foreign(message)
	switch {
	case strings.Contains(message, "after top-level value"):
		d.Message = "there is something behind the JSON value"
	case strings.HasPrefix(message, `invalid literal: "`):
		d.Message, d.Hint = "it is no JSON: a string holds a line break, or an escape that JSON does not have", `write a line break as \n, and a backslash as \\`
	}
	return d
}

// jsonTree makes nodes of what the parser read.
type jsonTree struct {
	ends           []int // of lines
	comment, comma int   // where the first of each is, or -1
}

// line is the line of an offset.
func (t *jsonTree) line(offset int) int { return 1 + sort.SearchInts(t.ends, offset) }

// extra notes a comment in what stands between values.
func (t *jsonTree) extra(extra hujson.Extra, at int) {
	if i := bytes.IndexByte(extra, '/'); i >= 0 && t.comment < 0 {
		t.comment = at + i
	}
}

func (t *jsonTree) node(v *hujson.Value) *Node {
	t.extra(v.BeforeExtra, v.StartOffset-len(v.BeforeExtra))
	n := &Node{Line: t.line(v.StartOffset)}
	switch v2 := v.Value.(type) {
	case hujson.Literal:
		n.Value = literal(v2)
	case *hujson.Array:
		items := make([]*Node, len(v2.Elements))
		for i := range v2.Elements {
			items[i] = t.node(&v2.Elements[i])
		}
		n.Value = items
		if len(items) > 0 {
			t.last(v2.Elements[len(items)-1], v2.AfterExtra, v.EndOffset)
		}
	case *hujson.Object:
		pairs := make([]Pair, len(v2.Members))
		for i := range v2.Members {
			m := &v2.Members[i]
			name := t.node(&m.Name)
			pairs[i] = Pair{name.Text(), name.Line, t.node(&m.Value)}
		}
		n.Value = pairs
		if len(pairs) > 0 {
			t.last(v2.Members[len(pairs)-1].Value, v2.AfterExtra, v.EndOffset)
		}
	}
	t.extra(v.AfterExtra, v.EndOffset)
	return n
}

// last looks at what stands between the last item and the end of its list. The
// parser leaves the item room of its own where a comma follows.
func (t *jsonTree) last(item hujson.Value, after hujson.Extra, end int) {
	t.extra(after, end-1-len(after))
	if item.AfterExtra != nil && t.comma < 0 {
		t.comma = item.EndOffset + len(item.AfterExtra)
	}
}

func literal(l hujson.Literal) any {
	switch l.Kind() {
	case 'n':
		return nil
	case '"':
		return l.String()
	case '0':
		return json.Number(l)
	}
	return l.Bool()
}

// scanJSON refuses what costs the parser more than a declaration is worth, and
// returns where the first list or table ends, or -1.
func (p *parser) scanJSON() (end int, fault *hook.Diagnostic) {
	end = -1
	depth, values := 0, 0
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = commentEnd(p.text, i)
		case '[', '{':
			if depth++; depth > maxDepth {
				return end, tooDeep(p.lineAt(i))
			}
			values++
		case ']', '}':
			if depth--; depth == 0 && end < 0 {
				end = i + 1
			}
		case ',', ':':
			values++
		}
		if values > p.most {
			return end, p.tooMany(p.lineAt(i))
		}
	}
	return end, nil
}

// commentEnd is the last byte of the comment that begins at i, or i if none does.
func commentEnd(text string, i int) int {
	rest := text[i:]
	for begin, close := range map[string]string{"//": "\n", "/*": "*/"} {
		if !strings.HasPrefix(rest, begin) {
			continue
		}
		end := strings.Index(rest[2:], close)
		if end < 0 {
			return len(text)
		}
		return i + 2 + end + len(close) - 1
	}
	return i
}

// ObjectEnd returns where the JSON object ends that a text begins with. It is not
// ok if there is no such end.
func ObjectEnd(text string) (end int, ok bool) {
	p := &parser{text: text, most: len(text)}
	end, fault := p.scanJSON()
	return end, fault == nil && end > 0
}
