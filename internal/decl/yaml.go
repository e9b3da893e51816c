package decl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

func (p *parser) yaml() *Node {
	if p.bad = p.scanYAML(); p.bad != nil {
		return nil
	}
	node := p.parseYAML()
	if p.bad != nil {
		return nil
	}
	if node == nil {
		return &Node{Line: 1, Value: []Pair{}}
	}
	return p.yamlNode(node, 0)
}

// parseYAML returns the only node of the only document in the text, or nil if
// there is nothing in it.
func (p *parser) parseYAML() (node *yaml.Node) {
	// The parser panics where it finds itself in a state it did not expect.
	defer func() {
		if v := recover(); v != nil {
			node, p.bad = nil, bad("syntax", 1, "the YAML parser gave up: "+foreign(fmt.Sprint(v)), "")
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(p.text))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		p.bad = p.yamlFault(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		p.bad = bad("syntax", second.Line, "there is a second YAML document", "")
	case !errors.Is(err, io.EOF):
		p.bad = p.yamlFault(err)
	}
	return doc.Content[0]
}

func (p *parser) yamlNode(n *yaml.Node, depth int) *Node {
	out := &Node{Line: n.Line}
	switch {
	case p.bad != nil:
	case depth > maxDepth:
		p.bad = tooDeep(n.Line)
	case n.Kind == yaml.MappingNode:
		out.Value = p.yamlPairs(n, depth+1)
	case n.Kind == yaml.SequenceNode:
		items := make([]*Node, len(n.Content))
		for i, item := range n.Content {
			items[i] = p.yamlNode(item, depth+1)
		}
		out.Value = items
	case n.Kind == yaml.AliasNode:
		p.bad = alias(n.Value, n.Line)
	default:
		out.Value = scalar(n)
		if v, ok := out.Value.(json.Number); ok && v.String() != n.Value {
			out.Written = n.Value
		}
	}
	return out
}

func (p *parser) yamlPairs(n *yaml.Node, depth int) []Pair {
	pairs := make([]Pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && p.bad == nil; i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			p.bad = bad("syntax", key.Line, "a key is not plain text", "")
			return nil
		}
		pairs = append(pairs, Pair{key.Value, key.Line, p.yamlNode(n.Content[i+1], depth)})
	}
	return pairs
}

// scalar is the value that YAML's core schema gives a scalar; a date is text.
func scalar(n *yaml.Node) any {
	var v any
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!float", "!!int":
		if older().MatchString(n.Value) || n.Decode(&v) != nil {
			return n.Value
		}
	}
	switch v := v.(type) {
	case bool:
		return v
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case uint64:
		return json.Number(strconv.FormatUint(v, 10))
	case float64:
		return number(v)
	}
	return n.Value
}

// older are the numbers of YAML 1.1: 010 was 8. They are text, as a file's mode
// in a variable is meant to be.
var older = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`_|^[-+]?(0[0-9]+|0[bB].*)$`)
})

// yamlFault takes the line out of an error, which is in its text alone.
func (p *parser) yamlFault(err error) *hook.Diagnostic {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		before, _, _ := strings.Cut(p.text, "*"+name)
		return alias(name, 1+strings.Count(before, "\n"))
	}
	d := bad("syntax", 1, foreign(message), "")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		line, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(line); err == nil && n < math.MaxInt32 {
			d.Line, d.Message = n, foreign(message)
			if fromZero().MatchString(message) {
				d.Line++
			}
		}
	}
	return d
}

// fromZero are the complaints of the parser proper, which counts lines from 0.
// The scanner below it counts from 1.
var fromZero = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(did not find expected (<|node content|key|'-' indicator|',' or)|found (duplicate %|incompatible YAML|undefined tag))`)
})

func alias(name string, line int) *hook.Diagnostic {
	return bad("alias", line, "aliases are not taken, as "+phrase.Quote("*"+name)+" is one", "write the value out")
}

// oddCharacter finds a character that YAML does not have, of which the parser does
// not say where it is, and a line break that the parser counts and editors do not,
// so that every line it reports later would be wrong.
func (p *parser) oddCharacter() *hook.Diagnostic {
	for at, r := range p.text {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r >= 0x7f && r < 0xa0 && r != '\u0085' || r == '\ufffe' || r == '\uffff' {
			return bad("syntax", p.lineAt(at), fmt.Sprintf("the character %U cannot stand in YAML", r), fmt.Sprintf(`write it as "\u%04x", or remove it`, r))
		}
		odd := r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\r' && !strings.HasPrefix(p.text[at+1:], "\n")
		if odd {
			return bad("syntax", p.lineAt(at), fmt.Sprintf("the character %U ends a line here", r), "end lines with a newline alone")
		}
	}
	return nil
}

// scanYAML refuses what costs the parser more than a declaration is worth. It
// does not tell text from structure, so it lets through far more than is taken
// in the end.
func (p *parser) scanYAML() *hook.Diagnostic {
	if odd := p.oddCharacter(); odd != nil {
		return odd
	}
	const depth = 10 * maxDepth
	line, brackets, dashes, count := 1, 0, 0, 0
	for i := range len(p.text) {
		switch p.text[i] {
		case '\n':
			line, dashes = line+1, 0
		case '[', '{':
			brackets++
			count++
		case ']', '}':
			brackets = max(0, brackets-1)
		case '-', '?':
			dashes++
			if dashes == 1 {
				count++
			}
		case ':', ',', '#':
			count++
		}
		if brackets > depth || dashes > depth {
			return tooDeep(line)
		}
		if count > p.most {
			return p.tooMany(line)
		}
	}
	return nil
}
