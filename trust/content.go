package trust

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Content is what a root must hold, such as by the digest of a pack: every file,
// whatever is written to the root. It is immutable.
type Content struct {
	// By says whose word it is, as in "the digest of the pack".
	By string
	// Remedy is what to do about a file that is another.
	Remedy string

	files map[string]File
	names []string // of files, sorted
}

// NewContent returns the content of a root with files, of which the names are
// relative to the root.
func NewContent(by, remedy string, files []File) *Content {
	c := &Content{by, remedy, make(map[string]File, len(files)), nil}
	for _, f := range files {
		c.files[f.Name] = f
	}
	c.names = slices.Sorted(maps.Keys(c.files))
	return c
}

// NewContentGuard returns a guard that approves s as long as every file of its
// folder, and every other file below its root, is as c says. No store has a say.
// A command that can run other files is unbound.
func NewContentGuard(s Subject, c *Content) *Guard {
	return &Guard{subject: s, content: c}
}

// judge says whether a seal is of the content.
func (c *Content) judge(seal *Seal) Verdict {
	if why := c.other(seal); why != "" {
		return c.refuse(why, seal)
	}
	unbound := seal.Unbound()
	for _, f := range seal.files {
		name, below := seal.subject.within(f.Name)
		if !below {
			unbound = cmp.Or(unbound, show(f.Name)+" is not among its files")
		} else if why := c.differs(name, f); why != "" {
			return c.refuse(why, seal)
		}
	}
	approval := seal.Approval()
	approval.Unbound = unbound != ""
	return Verdict{Approved: true, Seal: seal, Approval: &approval}
}

// other says how a hook's folder is not as the content has it; "" = it is.
func (c *Content) other(seal *Seal) string {
	dir, ok := relative(seal.subject.Root, seal.subject.Dir)
	if !ok || dir == "." {
		return "its folder is not one of the root"
	}
	i, _ := slices.BinarySearch(c.names, dir+"/")
	for _, f := range seal.folder { // both are sorted
		if why := c.differs(dir+"/"+f.Name, f); why != "" {
			return why
		}
		if i >= len(c.names) || c.names[i] != dir+"/"+f.Name {
			break
		}
		i++
	}
	if i < len(c.names) && strings.HasPrefix(c.names[i], dir+"/") {
		return show(c.names[i]) + " is gone"
	}
	return ""
}

// within is the name, relative to the root, of a file that approvals call so.
func (s *Subject) within(name string) (string, bool) {
	if strings.HasPrefix(name, "$CLAUDE_PROJECT_DIR/") || path.IsAbs(name) || strings.Contains(name, ":") {
		return name, false
	}
	return strings.TrimPrefix(name, "./"), true
}

// differs says how a file is not as the content has it; "" = it is.
func (c *Content) differs(name string, f File) string {
	want, known := c.files[name]
	f.Name = want.Name
	switch {
	case !known && f.Missing:
		return ""
	case !known:
		return show(name) + " is not among its files"
	case f.Missing:
		return show(name) + " is gone"
	case !safefile.HasModes:
		f.Exec = want.Exec
	}
	if f != want {
		return show(name) + " changed"
	}
	return ""
}

func (c *Content) refuse(why string, seal *Seal) Verdict {
	return Verdict{Why: why + ": it is not what " + c.By + " says", Hint: c.Remedy, Seal: seal}
}
