package manifest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// readYAML takes the first fence that is not indented: an indented one is part of
// a value.
func readYAML(b block) (*document, *fault) {
	for at := 0; at < len(b.rest); {
		line, _, _ := strings.Cut(b.rest[at:], "\n")
		if strings.TrimRight(line, " \t\r") == b.fence {
			return decodeYAML(b.rest[:at])
		}
		at += len(line) + 1
	}
	return decodeYAML(b.rest[:b.taken])
}

// decodeYAML reads YAML without aliases: they make small texts large.
func decodeYAML(text string) (*document, *fault) {
	if bad := scanYAML(text); bad != nil {
		return nil, bad
	}
	node, bad := parseYAML(text)
	if bad != nil {
		return nil, bad
	}
	if node == nil {
		return &document{root: map[string]any{}}, nil
	}
	r := &yamlReader{}
	value, bad := r.value(node, "", 0)
	if bad != nil {
		return nil, bad
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, notATable(value)
	}
	return &document{root: root, keys: r.keys}, nil
}

// parseYAML returns the only node of the only document in a text, or nil if
// there is nothing in it.
func parseYAML(text string) (node *yaml.Node, bad *fault) {
	// The parser panics where it finds itself in a state it did not expect.
	defer func() {
		if p := recover(); p != nil {
			node, bad = nil, &fault{code: "syntax", message: "the YAML parser gave up: " + foreign(fmt.Sprint(p))}
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlFault(text, err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &fault{code: "syntax", line: second.Line, message: "there is a second YAML document"}
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(text, err)
	}
	return doc.Content[0], nil
}

// yamlReader makes plain values of nodes.
type yamlReader struct{ keys []keyLine }

func (r *yamlReader) value(n *yaml.Node, path string, depth int) (any, *fault) {
	if depth > maxDepth {
		return nil, tooDeep(n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.table(n, path, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, bad := r.value(item, path, depth+1)
			if bad != nil {
				return nil, bad
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.AliasNode:
		return nil, alias(n.Value, n.Line)
	}
	return scalar(n), nil
}

func (r *yamlReader) table(n *yaml.Node, path string, depth int) (any, *fault) {
	table := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return nil, &fault{code: "syntax", line: k.Line, message: "a key is not plain text"}
		}
		if _, twice := table[k.Value]; twice {
			return nil, duplicateKey(k.Value, k.Line, 0)
		}
		below := k.Value
		if path != "" {
			below = path + "." + k.Value
		}
		r.keys = append(r.keys, keyLine{below, k.Line})
		if len(r.keys) > maxKeys {
			return nil, tooMany(k.Line, maxKeys, "keys")
		}
		var bad *fault
		if table[k.Value], bad = r.value(n.Content[i+1], below, depth); bad != nil {
			return nil, bad
		}
	}
	return table, nil
}

// scalar is the value that YAML's core schema gives a scalar; a date is text.
func scalar(n *yaml.Node) any {
	var v any
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!float", "!!int":
		if n.Decode(&v) != nil {
			return n.Value
		}
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case bool, float64, int64:
		return v
	case uint64:
		return float64(v)
	}
	return n.Value
}

// yamlFault takes the line out of an error, which is in its text alone.
func yamlFault(text string, err error) *fault {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	bad := &fault{code: "syntax", message: foreign(message)}
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		before, _, _ := strings.Cut(text, "*"+name)
		return alias(name, 1+strings.Count(before, "\n"))
	}
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			bad.line, bad.message = line, foreign(message)
			if fromZero().MatchString(message) {
				bad.line++
			}
		}
	}
	return bad
}

// fromZero are the complaints of the parser proper, which counts lines from 0.
// The scanner below it counts from 1.
var fromZero = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^did not find expected (<|node content|key|'-' indicator|',' or)`)
})

func alias(name string, line int) *fault {
	return &fault{code: "alias", line: line, message: "aliases are not taken, as " + quote("*"+name) + " is one", hint: "write the value out"}
}

// oddBreak finds a line break that the parser counts and editors do not, so
// that every line it tells of later would be wrong.
func oddBreak(text string) *fault {
	for at, r := range text {
		odd := r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\r' && !strings.HasPrefix(text[at+1:], "\n")
		if odd {
			return &fault{code: "syntax", line: 1 + strings.Count(text[:at], "\n"),
				message: fmt.Sprintf("the character %U ends a line here", r), hint: "end lines with a newline alone"}
		}
	}
	return nil
}

// scanYAML refuses what costs the parser more than a hook is worth. It does not
// tell text from structure, so it lets through far more than is taken in the
// end.
func scanYAML(text string) *fault {
	if bad := oddBreak(text); bad != nil {
		return bad
	}
	const depth, marks = 20 * maxDepth, maxValues
	line, brackets, dashes, count := 1, 0, 0, 0
	for i := range len(text) {
		switch text[i] {
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
		if count > marks {
			return tooMany(line, marks, "values")
		}
	}
	return nil
}
