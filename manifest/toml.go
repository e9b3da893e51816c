package manifest

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// readTOML looks the text over before the parser does.
func readTOML(b block) (*document, *fault) {
	scan := scanTOML(b.rest, b.fence)
	if scan.open || scan.bad != nil || scan.pos == len(b.rest) {
		// A string that is not closed swallowed the fence, or nearly: what is
		// wrong with the text must not be told of what lies behind it.
		scan = scanTOML(b.rest[:b.taken], "")
	}
	if scan.bad != nil {
		return nil, scan.bad
	}
	text := b.rest[:scan.pos]
	root, err := parseTOML(text)
	for tries := 0; err != nil && tries < 8; tries++ {
		// A number that is too large is one wrong value. As a string it is
		// still wrong, but the other keys can be read.
		quoted, ok := quoteNumber(text, err)
		if !ok {
			break
		}
		text = quoted
		root, err = parseTOML(text)
	}
	if err != nil {
		return nil, tomlFault(scan, err)
	}
	return &document{root: root, keys: scan.keys}, nil
}

// parseTOML has the parser fill an interface: that takes what it made as it is,
// without a copy by reflection.
func parseTOML(text string) (map[string]any, error) {
	var root any
	_, err := toml.Decode(text, &root)
	table, _ := root.(map[string]any)
	return table, err
}

// quoteNumber puts quotes around the number that err says no int64 holds.
func quoteNumber(text string, err error) (string, bool) {
	var parse toml.ParseError
	if !errors.As(err, &parse) || !strings.Contains(parse.Message, "out of range") {
		return "", false
	}
	from, to := parse.Position.Start, parse.Position.Start+parse.Position.Len
	if from < 0 || to > len(text) || from >= to || strings.ContainsAny(text[from:to], "\"\\\n") {
		return "", false
	}
	return text[:from] + `"` + text[from:to] + `"` + text[to:], true
}

func tomlFault(scan *tomlScan, err error) *fault {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return &fault{code: "syntax", message: foreign(strings.TrimPrefix(err.Error(), "toml: "))}
	}
	line := parse.Position.Line
	if key, first := scan.repeated(line); key != "" {
		return duplicateKey(key, line, first)
	}
	bad := &fault{code: "syntax", line: line, message: foreign(parse.Message)}
	if parse.LastKey != "" {
		bad.message += " (after the key " + quote(parse.LastKey) + ")"
	}
	return bad
}

// repeated returns the key on a line if it stands on an earlier one as well.
func (s *tomlScan) repeated(line int) (key string, first int) {
	if s.arrays {
		return "", 0
	}
	seen := make(map[string]int, len(s.keys))
	for _, k := range s.keys {
		if first, ok := seen[k.path]; !ok {
			seen[k.path] = k.line
		} else if k.line == line {
			return k.path, first
		}
	}
	return "", 0
}
