package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// otherTree is any other file system: in memory, a copy on write, an archive.
// It knows no way to open a file and be sure that it is the one it looked at,
// so it looks first and refuses links.
type otherTree struct {
	fsys afero.Fs
	dir  string
}

func openOtherTree(fsys afero.Fs, s Scope) (tree, error) {
	t := &otherTree{fsys: fsys, dir: s.HooksDir}
	for _, dir := range []string{s.Dir, s.HooksDir} {
		info, err := t.lstat(dir)
		switch {
		case err != nil:
			return nil, err
		case info.Mode().Type() == fs.ModeSymlink:
			return nil, errLink
		case !info.IsDir():
			return nil, errNotAFolder
		}
	}
	return t, nil
}

// errLink says that links are followed on the system's own file system only.
var errLink = errors.New("a link, which only the operating system's own file system can follow safely")

func (t *otherTree) close() {}

func (t *otherTree) entries(name string) ([]entry, error) {
	folder, err := t.fsys.Open(filepath.Join(t.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	found, err := folder.Readdir(-1)
	entries := make([]entry, 0, len(found))
	for _, info := range found {
		entries = append(entries, newEntry(info.Name(), info.Mode()))
	}
	return sortEntries(entries), err
}

func (t *otherTree) read(name string, max int) ([]byte, error) {
	full := filepath.Join(t.dir, filepath.FromSlash(name))
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := t.refuse(filepath.Join(t.dir, filepath.FromSlash(dir)), fs.FileMode.IsDir); err != nil {
			return nil, err
		}
	}
	if err := t.refuse(full, fs.FileMode.IsRegular); err != nil {
		return nil, err
	}
	file, err := t.fsys.OpenFile(full, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readFile(file, max)
}

func (t *otherTree) dangles(string) bool { return false } // links are refused

// refuse fails unless what is at name itself, not behind a link, is as wanted.
func (t *otherTree) refuse(name string, wanted func(fs.FileMode) bool) error {
	info, err := t.lstat(name)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() == fs.ModeSymlink:
		return errLink
	case !wanted(info.Mode()):
		return notAFileError{info.Mode()}
	}
	return nil
}

func (t *otherTree) lstat(name string) (fs.FileInfo, error) {
	if l, ok := t.fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return t.fsys.Stat(name)
}
