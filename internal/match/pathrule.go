package match

import (
	"net/url"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pathRule is a rule on a file: Read(src/**). It is written as in .gitignore,
// and the case of letters does not matter. What it is relative to stands at
// its start: // for the root, ~/ for the home, / for the workspace, nothing
// for the working directory.
type pathRule struct {
	source string
	base   base
	within string // pattern for the path below the base, "" for none
	// whole is for the absolute path, slashes being like any character, and
	// everywhere says that within is for that path, too: the client takes
	// *.txt, **/*.go and /etc/passwd for files outside of the base too.
	whole      glob
	everywhere bool
	raw        glob // caliban's glob over the path, or nil
	strict     bool // links are not followed
	// also is the other reading of a pattern: on Windows /c/x is drive C, and the workspace's folder c.
	also *pathRule
}

type base uint8

const (
	baseCwd base = iota
	baseWorkspace
	baseHome
	baseRoot
)

func newPathRule(content string, f form) pathRule {
	p := strings.ToLower(content)
	r := pathRule{source: content, strict: f.strict}
	if f.anywhere {
		r.raw = compileGlob("*"+p+"*", true)
		return r
	}
	if f.raw {
		r.raw = compileGlob(p, true)
	}
	if strings.HasPrefix(p, "!") {
		return r // takes nothing away, since nothing was selected before
	}
	anchored := true
	rest, drive := onDrive(p)
	if drive && strings.HasPrefix(p, "/") {
		r.also = &pathRule{source: content, strict: f.strict, base: baseRoot, within: quotedBraces(rest)}
		drive = false
	}
	if onWindows {
		p = slashedPattern(p)
	}
	switch {
	case drive:
		r.base, p = baseRoot, rest
	case strings.HasPrefix(p, "//"):
		r.base, p = baseRoot, p[2:]
	case p == "~", strings.HasPrefix(p, "~/"):
		r.base, p = baseHome, strings.TrimPrefix(p[1:], "/")
	case strings.HasPrefix(p, "/"):
		r.base = baseWorkspace
		r.whole = compileGlob(strings.TrimSuffix(p, "/**"), false)
		p = p[1:]
	default:
		p = strings.TrimPrefix(p, "./")
		anchored = strings.Contains(strings.TrimSuffix(p, "/"), "/")
		if strings.HasPrefix(p, "*") {
			r.whole = compileGlob(p, false)
			r.everywhere = !anchored || strings.HasPrefix(p, "**/")
		}
	}
	p = strings.TrimSuffix(p, "/")
	if p == "" {
		p = "**"
	}
	if !anchored {
		p = "**/" + p
	}
	r.within = quotedBraces(p)
	return r
}

// slashedPattern is a pattern with slashes: on Windows no name has a character that a \ could quote.
func slashedPattern(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func quotedBraces(p string) string {
	p = plainBraces.Replace(p)
	if !doublestar.ValidatePattern(p) {
		p = strings.ReplaceAll(p, "[", `\[`)
	}
	return p
}

// plainBraces quotes what doublestar expands and .gitignore does not.
var plainBraces = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`)

func (r pathRule) match(c *Call, _ bool) Decision {
	paths, ok := r.paths(c)
	for _, p := range paths {
		if by := r.matchPath(c, p); by != "" {
			return sure(excerpt(p) + by)
		}
	}
	if !ok {
		return suspected("its path is missing or no string, so it runs")
	}
	return Decision{By: "its path does not match"}
}

// paths returns the paths that a call names.
func (r pathRule) paths(c *Call) (paths []string, ok bool) {
	for _, key := range []string{"file_path", "notebook_path", "path"} {
		found, isText := c.texts(key)
		paths, ok = append(paths, found...), ok || isText
	}
	if c.ToolName != "Glob" && c.ToolName != "Grep" {
		return paths, ok
	}
	if len(paths) == 0 {
		paths = []string{c.cwd()} // where these tools look by default
	}
	patterns, _ := c.texts("pattern")
	if globs, _ := c.texts("glob"); !r.strict {
		patterns = append(patterns, globs...)
	}
	for _, dir := range paths[:len(paths):len(paths)] {
		for _, p := range patterns {
			if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !(onWindows && (hasDrive(p) || strings.HasPrefix(p, `\`))) {
				p = dir + "/" + p
			}
			paths = append(paths, p)
		}
	}
	return paths, true
}

// matchPath returns why a path matches, or "".
func (r pathRule) matchPath(c *Call, name string) string {
	const unknown = " cannot be placed: a directory is not known, so it runs"
	if r.raw != nil && r.raw.match(strings.ToLower(name)) {
		return " matches " + excerpt(r.source)
	}
	if !r.strict {
		name = expanded(name, c)
	} else if (strings.HasPrefix(name, "~/") || onWindows && strings.HasPrefix(name, `~\`)) && c.Home != "" {
		name = c.Home + name[1:]
	}
	given, ok := slashedPath(name, c.Cwd)
	if !ok {
		return unknown
	}
	if by := r.matchFile(c, strings.ToLower(path.Clean(given))); by != "" || r.strict {
		return by
	}
	if direct := throughProc(path.Clean(given), c.cwd()); direct != path.Clean(given) {
		given = direct
		if by := r.matchFile(c, strings.ToLower(given)); by != "" {
			return by
		}
	}
	// Links below the base lead out of it, and links elsewhere into it; the base
	// may be reached through one too.
	to, ok := c.resolved(given)
	if to != "" {
		if by := r.matchFile(c, strings.ToLower(to)); by != "" {
			return ", a link to " + excerpt(to) + "," + by
		}
	}
	if !ok {
		return " is one of too many paths to be followed, so it runs"
	}
	return ""
}

// expanded reads what some tools expand in a path: a home directory by ~, ~user or
// $HOME, a file URL, blanks at its ends.
func expanded(name string, c *Call) string {
	name = strings.TrimSpace(name)
	if onWindows && strings.HasPrefix(name, `~`) {
		name = slashedPattern(name)
	}
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		name = "/" + strings.TrimLeft(strings.TrimPrefix(rest, "localhost"), "/")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
	}
	first, rest, _ := strings.Cut(name, "/")
	switch {
	case c.Home == "":
	case first == "~", first == "$HOME", first == "${HOME}", first == "~"+path.Base(c.home()):
		return c.Home + "/" + rest
	case first == "~+":
		return rest
	case first == "~root":
		return "/root/" + rest
	case len(first) > 1 && first[0] == '~' && isName(first[1:]):
		return path.Dir(c.home()) + "/" + first[1:] + "/" + rest
	}
	return name
}

// matchFile returns why an absolute path in lower case matches, or "".
func (r pathRule) matchFile(c *Call, file string) string {
	const unknown = " cannot be placed: a directory is not known, so it runs"
	if r.also != nil {
		if by := r.also.matchFile(c, file); by != "" {
			return by
		}
	}
	var dir string
	switch r.base {
	case baseCwd:
		dir = c.Cwd
	case baseWorkspace:
		dir = c.Workspace
	case baseHome:
		dir = c.Home
	case baseRoot:
		dir = "/"
	}
	if r.raw != nil && r.raw.match(file) || r.whole != nil && r.whole.match(file) || r.everywhere && r.covers(strings.TrimPrefix(file, "/")) {
		return " matches " + excerpt(r.source)
	}
	given, ok := slashedPath(dir, "")
	if !ok {
		return unknown
	}
	bases := []string{given}
	if to, _ := c.resolved(given); to != "" && !r.strict {
		bases = append(bases, to)
	}
	for _, base := range bases {
		base = path.Clean(base)
		if rel, ok := below(strings.ToLower(base), file); ok && r.covers(rel) {
			return " matches " + excerpt(r.source)
		}
	}
	return ""
}

// covers reports whether the pattern is for that path or a directory above it.
func (r pathRule) covers(rel string) bool {
	return r.within != "" && (doublestar.MatchUnvalidated(r.within, rel) || doublestar.MatchUnvalidated(r.within+"/**", rel))
}

// below returns the path of file relative to dir, "" for dir itself.
func below(dir, file string) (string, bool) {
	if dir == file {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}
