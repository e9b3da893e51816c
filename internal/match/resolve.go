package match

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// maxResolved bounds how many paths of one call are followed through links.
const maxResolved = 512

// resolved returns the path that an absolute one leads to through links, and ""
// if that is the path itself. Of a path that does not exist yet the part that
// does is followed.
func (c *Call) resolved(name string) string {
	c.links.Lock()
	defer c.links.Unlock()
	if to, ok := c.linked[name]; ok {
		return to
	}
	if len(c.linked) >= maxResolved {
		return ""
	}
	if c.linked == nil {
		c.linked = map[string]string{}
	}
	to := followLinks(name)
	if to == path.Clean(name) {
		to = ""
	}
	c.linked[name] = to
	return to
}

// followLinks follows the longest part of the path that exists. The path is not
// cleaned before: .. behind a link leads to where the link's target is.
func followLinks(name string) string {
	rest := ""
	for dir := strings.TrimRight(name, "/"); dir != ""; {
		if real, err := filepath.EvalSymlinks(filepath.FromSlash(dir)); err == nil {
			return path.Join(filepath.ToSlash(real), rest)
		}
		up := dir[:strings.LastIndexByte(dir, '/')]
		if target, err := os.Readlink(filepath.FromSlash(dir)); err == nil { // a link to what does not exist
			if !path.IsAbs(target) {
				target = up + "/" + target
			}
			return path.Join(target, rest)
		}
		rest = path.Join(dir[len(up)+1:], rest)
		dir = up
	}
	return path.Clean(name)
}

// processRoot matches the names under which Linux gives a process's root and
// directory: /proc/self/root/etc is /etc.
var processRoot = regexp.MustCompile(`^/proc/[^/]+(?:/task/[^/]+)?/(root|cwd)(/|$)`)

// throughProc returns the path that one below /proc/self/root or cwd stands
// for.
func throughProc(name, cwd string) string {
	for range maxChoices {
		if !strings.HasPrefix(name, "/proc/") {
			return name
		}
		m := processRoot.FindStringSubmatchIndex(name)
		if m == nil {
			return name
		}
		rest := "/" + name[m[1]:]
		if name[m[2]:m[3]] == "cwd" {
			rest = cwd + rest
		}
		name = cleanWild(rest)
	}
	return name
}
