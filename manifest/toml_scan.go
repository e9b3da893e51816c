package manifest

import (
	"strings"

	"github.com/tenterhook/tenterhook/internal/tomlscan"
)

// tomlScan is what is known of front matter in TOML before it is parsed: the
// line of each key, and where the text ends.
type tomlScan struct {
	pos    int // where the text ends: at the closing fence, if there is one
	keys   []keyLine
	arrays bool // there is a [[table]], under which keys repeat
	open   bool // the text ended inside a string of several lines
	bad    *fault
}

// scanTOML walks over a text up to the fence; "" = the whole text is TOML.
func scanTOML(text, fence string) *tomlScan {
	found := &tomlScan{keys: make([]keyLine, 0, 12)}
	prefix := ""
	s := tomlscan.New(text, tomlscan.Limits{Depth: maxDepth, Parts: maxParts, Commas: maxValues})
	for ; s.More() && !isFence(text[s.Pos():], fence); s.Next() {
		parts, kind := s.Key()
		if kind == tomlscan.Other {
			continue
		}
		path := strings.Join(parts, ".")
		switch {
		case kind != tomlscan.Value:
			prefix = path
			found.arrays = found.arrays || kind == tomlscan.Append
		case prefix != "":
			path = prefix + "." + path
		}
		found.keys = append(found.keys, keyLine{path, s.Line()})
		if len(found.keys) > maxKeys {
			found.bad = tooMany(s.Line(), maxKeys, "keys")
			break
		}
	}
	found.pos, found.open = s.Pos(), s.Open()
	if found.bad == nil {
		found.bad = excess(s)
	}
	return found
}

func isFence(rest, fence string) bool {
	if fence == "" {
		return false
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line) == fence
}

// excess is the limit that the text goes beyond; nil = none.
func excess(s *tomlscan.Scanner) *fault {
	switch s.Excess() {
	case tomlscan.TooDeep:
		return tooDeep(s.Line())
	case tomlscan.TooMany:
		return tooMany(s.Line(), maxValues, "values")
	case tomlscan.TooParted:
		return &fault{code: "too_deep", line: s.Line(), message: "a key has too many parts", hint: "no key of a hook needs that"}
	}
	return nil
}
