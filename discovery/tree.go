package discovery

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/spf13/afero"
)

// tree reads what is below a scope's hooks folder. Paths are relative to it,
// with slashes. Its methods may be called from several goroutines at once.
type tree interface {
	// entries lists a folder by name. What was read before an error counts.
	entries(path string) ([]entry, error)
	// read reads a regular file of at most max bytes.
	read(path string, max int) ([]byte, error)
	// dangles reports whether a link is where nothing was found.
	dangles(path string) bool
	close()
}

// entry is one name in a folder.
type entry struct {
	name   string
	folder bool
	link   bool // to whatever
}

// openTree opens a scope's hooks folder. The error is fs.ErrNotExist if there
// is none.
func openTree(fsys afero.Fs, s Scope) (tree, error) {
	switch fsys.(type) {
	case *afero.OsFs, afero.OsFs:
		return openOSTree(s)
	}
	return openOtherTree(fsys, s)
}

func newEntry(name string, mode fs.FileMode) entry {
	return entry{name: name, folder: mode.IsDir(), link: mode.Type() == fs.ModeSymlink}
}

func sortEntries(entries []entry) []entry {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return entries
}
