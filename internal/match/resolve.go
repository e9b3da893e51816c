package match

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

const (
	// maxResolved bounds how many paths of one call are looked at for links.
	maxResolved = 512
	// maxPath is the longest path that a system opens.
	maxPath = 4096
)

// resolved returns the path that an absolute one leads to through links, and ""
// if that is the path itself. Of a path that does not exist yet the part that
// does is followed. ok is false if the call names too many paths.
func (c *Call) resolved(name string) (to string, ok bool) {
	c.links.Lock()
	defer c.links.Unlock()
	if len(name) > maxPath {
		return "", true
	}
	to = c.follow(name)
	return to, len(c.linked) < maxResolved
}

// follow asks the system once for each beginning of a path: those of one call
// mostly begin alike. c.links is held.
func (c *Call) follow(name string) (to string) {
	if name == "/" {
		return ""
	}
	if to, ok := c.linked[name]; ok || len(c.linked) >= maxResolved {
		return to
	}
	linked := onWindows // where names also have other forms
	if cut := strings.LastIndexByte(name, '/'); cut > 0 {
		linked = linked || c.follow(name[:cut]) != ""
	}
	linked = linked || isLink(name)
	if linked {
		if to = followLinks(name); to == path.Clean(name) {
			to = ""
		}
	}
	if c.linked == nil {
		c.linked = map[string]string{}
	}
	c.linked[name] = to
	return to
}

// followLinks follows the longest part of the path that exists. The path is not
// cleaned before: .. behind a link leads to where the link's target is.
func followLinks(name string) string {
	rest := ""
	for dir := strings.TrimRight(name, "/"); dir != ""; {
		if real, err := filepath.EvalSymlinks(native(dir)); err == nil {
			return path.Join(slashed(real), rest)
		}
		up := dir[:strings.LastIndexByte(dir, '/')]
		if target, err := os.Readlink(native(dir)); err == nil { // a link to what does not exist
			if target = slashed(target); !path.IsAbs(target) {
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
// directory: /proc/self/root/usr is /usr.
var processRoot = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/proc/[^/]+(?:/task/[^/]+)?/(root|cwd)(/|$)`) })

// throughProc returns the path that one below /proc/self/root or cwd stands
// for.
func throughProc(name, cwd string) string {
	for range maxChoices {
		if !strings.HasPrefix(name, "/proc/") {
			return name
		}
		m := processRoot().FindStringSubmatchIndex(name)
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
