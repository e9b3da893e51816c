package manifest

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// decodeTOML reads TOML that was looked over first.
func decodeTOML(text string) (*document, *fault) {
	scan := scanTOML(text, "")
	if scan.bad != nil {
		return nil, scan.bad
	}
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

func parseTOML(text string) (map[string]any, error) {
	var t tomlTable
	_, err := toml.NewDecoder(strings.NewReader(text)).Decode(&t)
	return t.root, err
}

// tomlTable takes what the parser made as it is, without a copy by reflection.
type tomlTable struct{ root map[string]any }

// UnmarshalTOML implements toml.Unmarshaler.
func (t *tomlTable) UnmarshalTOML(v any) error {
	root, ok := v.(map[string]any)
	if !ok {
		return errors.New("not a table")
	}
	t.root = root
	return nil
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
