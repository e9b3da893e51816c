package match

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// TouchMode says in which way a call names a file.
type TouchMode uint8

const (
	Touch TouchMode = iota // in any way
	Read                   // its content may be read, copied or sent
	Write                  // it may be made, changed or deleted
)

// TouchOptions say how path patterns are read. The zero value is right.
type TouchOptions struct{}

// ProblemTouchPattern is the code of a path pattern that can match nothing.
const ProblemTouchPattern = "path_pattern"

// Touches is a list of path patterns, of which any may match. It is made by
// [ParseTouches], immutable, and safe for concurrent use. A nil list matches
// nothing.
//
// A pattern is absolute ("/etc/**"), below the home ("~/.ssh/**"), or relative
// to the workspace ("config/*.key"); one without a slash (".env", "*.pem") or
// with a leading "**/" stands for a file of that name anywhere. * and ? stop at
// a slash, ** does not. A pattern that matches a directory is for what lies
// below it too. The case of letters does not matter. A pattern behind "!" takes
// away what it matches, wherever it stands in the list.
type Touches struct {
	patterns []touchPattern
	placed   sync.Map // home and workspace → []placedPattern
}

// touchPattern is one pattern as it was written.
type touchPattern struct {
	source string
	not    bool
	base   base
	rest   string // below the base
}

// placedPattern is a pattern for absolute paths in lower case.
type placedPattern struct {
	source string
	not    bool
	glob   glob   // for the path
	below  glob   // for what is below it
	key    string // a part without wildcards that each such path has
	dir    string // the directory above all of them; "" if that is any
}

// ParseTouches reads path patterns. It never fails: a pattern that can match
// nothing is a problem.
func ParseTouches(patterns []string, _ TouchOptions) (*Touches, []hook.Diagnostic) {
	t := &Touches{}
	var problems []hook.Diagnostic
	for _, source := range patterns {
		p := touchPattern{source: source}
		text, not := strings.CutPrefix(strings.TrimSpace(source), "!")
		text, p.not = strings.ToLower(slashed(text)), not
		switch {
		case text == "":
			problems = append(problems, problem(ProblemTouchPattern,
				fmt.Sprintf("path pattern %q is empty, so it matches nothing", source), `write a path such as "~/.ssh/**"`))
			continue
		case text == "~" || strings.HasPrefix(text, "~/"):
			p.base, text = baseHome, strings.TrimPrefix(text[1:], "/")
		case strings.HasPrefix(text, "/"):
			p.base, text = baseRoot, strings.TrimLeft(text, "/")
		case !strings.Contains(strings.TrimSuffix(text, "/"), "/"):
			p.base, text = baseRoot, "**/"+text
		case strings.HasPrefix(text, "**/"):
			p.base = baseRoot
		default:
			p.base, text = baseWorkspace, strings.TrimPrefix(text, "./")
		}
		p.rest = strings.TrimSuffix(strings.TrimSuffix(text, "/**"), "/")
		t.patterns = append(t.patterns, p)
	}
	return t, problems
}

// place makes the patterns ones for absolute paths of a call.
func (t *Touches) place(c *Call) []placedPattern {
	key := c.Home + "\x00" + c.Workspace
	if list, ok := t.placed.Load(key); ok {
		return list.([]placedPattern)
	}
	list := make([]placedPattern, len(t.patterns))
	for i, p := range t.patterns {
		dir := ""
		switch p.base {
		case baseHome:
			dir = homeOf(c)
		case baseWorkspace:
			dir = c.workspace()
		}
		list[i] = placePattern(p, strings.TrimRight(strings.ToLower(path.Clean("/"+dir)), "/"))
	}
	t.placed.Store(key, list)
	return list
}

func homeOf(c *Call) string {
	if c.Home == "" {
		return unknownHome
	}
	return c.home()
}

func placePattern(p touchPattern, dir string) placedPattern {
	placed := placedPattern{source: p.source, not: p.not}
	var g glob
	for i := range len(dir) {
		g = append(g, int16(dir[i]))
	}
	g = append(g, '/')
	placed.glob = append(g, pathGlob(p.rest)...)
	if p.rest == "" { // the directory itself
		placed.glob = g[:len(g)-1]
	}
	placed.below = append(slices.Clone(placed.glob), '/', anyText)
	fixed := p.rest
	if i := strings.IndexAny(fixed, "*?["); i >= 0 {
		fixed = fixed[:strings.LastIndexByte(fixed[:i], '/')+1]
	}
	placed.dir = strings.TrimSuffix(dir+"/"+fixed, "/")
	for part := range strings.FieldsFuncSeq(p.rest, func(c rune) bool { return strings.ContainsRune("*?[]/\\", c) }) {
		if len(part) > len(placed.key) {
			placed.key = part
		}
	}
	return placed
}

// pathGlob reads a path pattern.
func pathGlob(p string) glob {
	var g glob
	for i := 0; i < len(p); i++ {
		switch {
		case strings.HasPrefix(p[i:], "**/"):
			g = append(g, anyDirs, anyDirsEnd)
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			g = append(g, anyText)
			i++
		case p[i] == '*':
			g = append(g, anyInPart)
		case p[i] == '?':
			g = append(g, oneInPart)
		case p[i] == '\\' && i+1 < len(p):
			i++
			g = append(g, int16(p[i]))
		default:
			g = append(g, int16(p[i]))
		}
	}
	return g
}

// takes reports whether an absolute path in lower case may be one of the
// pattern's. plain says that it has no wild parts.
func (p *placedPattern) takes(name string, plain, dots bool) bool {
	if plain && !strings.Contains(name, p.key) {
		return false
	}
	if p.glob.meets(name, dots) {
		return true
	}
	// A directory that may be of that name is too wild a guess.
	return (plain || p.dir != "") && p.below.meets(name, dots)
}

// named reports whether a name with wild parts says something of a pattern that
// has no place: .e* of .env, but *.go nothing of .env.*. A name that says nothing
// at all may be any name.
func (p *placedPattern) named(name string) bool {
	if p.dir != "" {
		return true
	}
	known := strings.FieldsFunc(lastPart(name), func(c rune) bool { return strings.ContainsRune(wilds, c) })
	return len(known) == 0 || slices.ContainsFunc(known, func(part string) bool {
		kind := part[0] == '.' && part != p.key && strings.HasSuffix(p.key, part) // *.json is a kind of file
		return !kind && (strings.Contains(p.key, part) || strings.Contains(part, p.key))
	})
}

// Match reports whether the call names such a path in that mode. In a shell
// line every word, redirection and option value of every command counts, with
// globs, braces, ~, quotes and variables; what cannot be read is Suspected. For
// other tools the paths of the input count: Read, Glob and Grep read, Edit and
// Write write too.
func (t *Touches) Match(c *Call, mode TouchMode) Decision {
	if t == nil || len(t.patterns) == 0 {
		return Decision{By: "no pattern matches"}
	}
	s := &touchSearch{call: c, mode: mode, patterns: t.place(c), best: Decision{By: "no pattern matches"}}
	if c.runsLines() {
		for _, cmd := range c.shellTexts() {
			s.shell(cmd.line)
		}
		return s.best
	}
	s.input()
	return s.best
}
