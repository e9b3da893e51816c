package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// parseJSON reads JSON, and what people take for it: comments, a comma behind
// the last item and a byte order mark are taken, and told.
func parseJSON(text string) document {
	text, lax, bad := cleanText(text)
	if bad != nil {
		return document{bad: bad}
	}
	plain, marks := plainJSON(text)
	p := &jsonParser{dec: json.NewDecoder(strings.NewReader(plain)), text: plain}
	p.dec.UseNumber()
	root, err := p.value(0)
	if err == nil {
		_, err = p.dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			err = nil
		case err == nil:
			err = p.fault("syntax", "there is something behind the JSON value", "")
		}
	}
	doc := document{lax: append(lax, marks...)}
	if err != nil {
		doc.bad = p.explain(err)
		return doc
	}
	doc.root = root
	return doc
}

// cleanText takes the byte order mark off a text, and refuses what is none.
func cleanText(text string) (string, []flaw, *flaw) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "", nil, &flaw{code: "not_utf8", line: 1, message: "the file is UTF-16", hint: "save it as UTF-8"}
	}
	if !utf8.ValidString(text) {
		good := 0
		for i, c := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 {
				good = i
				break
			}
		}
		return "", nil, &flaw{code: "not_utf8", line: lineAt(text, good), message: "the file is not UTF-8", hint: "save it as UTF-8"}
	}
	rest, marked := strings.CutPrefix(text, "\ufeff")
	if !marked {
		return text, nil, nil
	}
	return rest, []flaw{{code: "byte_order_mark", line: 1, message: "the file begins with a byte order mark", hint: "save it without: other readers refuse it"}}, nil
}

func lineAt(text string, offset int) int {
	return 1 + strings.Count(text[:max(0, min(offset, len(text)))], "\n")
}

// plainJSON puts blanks in the place of comments and of commas behind a last
// item, so that all offsets and lines stay.
func plainJSON(text string) (string, []flaw) {
	var out []byte // a copy, once there is something to blank
	blank := func(from, to int) {
		if out == nil {
			out = []byte(text)
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	comment, trailing := -1, -1 // where the first of each is
	last := -1                  // the last byte that is neither space nor comment
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c == '"':
			i = stringEnd(text, i)
		case c == '/' && commentEnd(text, i) > i:
			if comment < 0 {
				comment = i
			}
			end := commentEnd(text, i)
			blank(i, end)
			i = end - 1
			continue
		case (c == '}' || c == ']') && last >= 0 && text[last] == ',':
			if trailing < 0 {
				trailing = last
			}
			blank(last, last+1)
		}
		last = min(i, len(text)-1)
	}
	if out == nil {
		return text, nil
	}
	var lax []flaw
	if comment >= 0 {
		lax = append(lax, flaw{"json_comment", lineAt(text, comment), "comments are not JSON", "they are passed over here; other readers refuse the file"})
	}
	if trailing >= 0 {
		lax = append(lax, flaw{"trailing_comma", lineAt(text, trailing), "a comma behind the last item is not JSON", "remove it: other readers refuse the file"})
	}
	return string(out), lax
}

// stringEnd is where the string ends that begins at i: at its closing quote.
func stringEnd(text string, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// commentEnd is where the comment ends that begins at i, or i if none does.
func commentEnd(text string, i int) int {
	length := -1
	switch rest := text[i:]; {
	case strings.HasPrefix(rest, "//"):
		if length = strings.IndexByte(rest, '\n'); length < 0 {
			length = len(rest)
		}
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			length = end + 4
		}
	}
	return i + max(0, length)
}

// jsonParser builds nodes token by token, so that it knows their lines.
type jsonParser struct {
	dec     *json.Decoder
	text    string
	values  int
	counted int64 // the bytes whose lines are in lines
	lines   int
}

func (p *jsonParser) value(depth int) (*node, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if p.values++; p.values > maxConfigValues {
		return nil, &flawError{*tooManyValues(p.line())}
	}
	n := &node{line: p.line()}
	switch tok := tok.(type) {
	case json.Delim:
		if depth++; depth > maxConfigDepth {
			return nil, p.fault("too_deep", "lists and tables are nested too deeply", "no hook needs that")
		}
		if tok == '[' {
			n.value, err = p.items(depth)
		} else {
			n.value, err = p.members(depth)
		}
	default:
		n.value = tok
	}
	return n, err
}

func (p *jsonParser) items(depth int) ([]*node, error) {
	items := []*node{}
	for p.dec.More() {
		item, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := p.dec.Token()
	return items, err
}

func (p *jsonParser) members(depth int) ([]pair, error) {
	pairs := []pair{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // a key of another type is a syntax error
		line := p.line()
		value, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{key, line, value})
	}
	_, err := p.dec.Token()
	return pairs, err
}

// line is the line of the token that was read last.
func (p *jsonParser) line() int {
	at := p.dec.InputOffset()
	p.lines += strings.Count(p.text[p.counted:at], "\n")
	p.counted = at
	return p.lines + 1
}

func (p *jsonParser) fault(code, message, hint string) error {
	return &flawError{flaw{code, p.line(), message, hint}}
}

func tooManyValues(line int) *flaw {
	return &flaw{"too_many", line, fmt.Sprintf("more than %d values", maxConfigValues), "move what declares no hooks into another file"}
}

// flawError carries a flaw out of the recursion.
type flawError struct{ flaw }

func (e *flawError) Error() string { return e.message }

// explain says why a text is no JSON. A decoder's offsets are those of the value
// that it is at, so the text is looked over once more.
func (p *jsonParser) explain(err error) *flaw {
	var known *flawError
	if errors.As(err, &known) {
		return &known.flaw
	}
	if strings.TrimSpace(p.text) == "" {
		return &flaw{code: "empty", line: 1, message: "the file is empty", hint: "write {} for a file without hooks"}
	}
	bad := &flaw{code: "syntax", line: lineAt(p.text, len(p.text)), message: "it is no JSON: " + err.Error(), hint: "check it with a JSON tool (jq, say)"}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal([]byte(p.text), new(json.RawMessage)), &syntax) {
		bad.line, bad.message = lineAt(p.text, int(syntax.Offset)-1), "it is no JSON: "+syntax.Error()
	}
	return bad
}
