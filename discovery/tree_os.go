package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// osTree is the operating system's file system, seen through os.Root: nothing
// outside of it is opened, even if files are swapped for links in the meantime.
type osTree struct {
	hooks *os.Root
	dir   string // the path of hooks
	bound string // what links may not lead out of
}

func openOSTree(s Scope) (tree, error) {
	dir, err := openRoot(s)
	if err != nil {
		return nil, err
	}
	if s.HooksDir == s.Dir {
		return &osTree{hooks: dir, dir: s.Dir, bound: s.Dir}, nil
	}
	defer dir.Close()
	hooks, err := openFolderIn(dir, s.Dir, s.HooksDir)
	if err != nil {
		return nil, err
	}
	return &osTree{hooks: hooks, dir: s.HooksDir, bound: s.Dir}, nil
}

// openRoot opens the scope's directory.
func openRoot(s Scope) (*os.Root, error) {
	if s.Base == "" {
		return openFolder(s.Dir)
	}
	base, err := openFolder(s.Base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return openFolderIn(base, s.Base, s.Dir)
}

// openFolder is os.OpenRoot, but does not wait for a writer if dir is a pipe: the
// dot makes the system look for a folder.
func openFolder(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir + "/.")
	return root, folderError(dir, err)
}

// openFolderIn opens the folder at path, which is below bound, the path of root.
func openFolderIn(root *os.Root, bound, path string) (*os.Root, error) {
	rel, err := filepath.Rel(bound, path)
	if err != nil {
		return nil, err
	}
	folder, err := root.OpenRoot(rel + "/.")
	if err == nil {
		return folder, nil
	}
	if errors.Is(err, fs.ErrNotExist) && !isLink(path) {
		return nil, folderError(path, err)
	}
	rel, err = resolve(bound, path)
	if err != nil {
		return nil, folderError(path, err)
	}
	folder, err = root.OpenRoot(rel + "/.")
	return folder, folderError(path, err)
}

// folderError tells what is no folder from what is not there. Windows has one
// error for both.
func folderError(path string, err error) error {
	if err == nil {
		return nil
	}
	info, gone := os.Lstat(path)
	switch {
	case gone != nil && errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ENOTDIR), gone == nil && info.Mode().IsRegular():
		return errNotAFolder
	}
	return err
}

func (t *osTree) close() { t.hooks.Close() }

// entries lists the hooks folder itself by its path: os.Root would look at each
// entry once more. Were the path another folder now, these would be names
// that nothing is found under.
func (t *osTree) entries(path string) ([]entry, error) {
	var folder *os.File
	var err error
	if path == "." {
		folder, err = os.Open(t.dir + "/.")
	} else {
		folder, err = t.open(path)
	}
	if err != nil {
		return nil, folderError(filepath.Join(t.dir, filepath.FromSlash(path)), err)
	}
	defer folder.Close()
	found, err := folder.ReadDir(-1)
	err = folderError(filepath.Join(t.dir, filepath.FromSlash(path)), err)
	entries := make([]entry, 0, len(found))
	for _, e := range found {
		entries = append(entries, newEntry(e.Name(), e.Type()))
	}
	return sortEntries(entries), err
}

func (t *osTree) read(path string, max int) ([]byte, error) {
	file, err := t.open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readFile(file, max)
}

func (t *osTree) dangles(path string) bool {
	return isLink(filepath.Join(t.dir, filepath.FromSlash(path)))
}

// open opens without blocking: a pipe without a writer would hold an open for
// ever. os.Root follows a link that is relative and stays below the hooks
// folder; where it refuses one, the path is resolved and judged by its end.
func (t *osTree) open(path string) (*os.File, error) {
	file, err := t.hooks.OpenFile(path, os.O_RDONLY|safefile.NonBlock, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || exhausted(err) {
		return file, err
	}
	full := filepath.Join(t.dir, filepath.FromSlash(path))
	if info, err := os.Lstat(full); err == nil && info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		return nil, notAFileError{info.Mode()} // a socket cannot be opened
	}
	rel, resolveErr := resolve(t.bound, full)
	if resolveErr != nil {
		return nil, resolveErr
	}
	if t.bound == t.dir && rel == filepath.FromSlash(path) {
		return nil, err // no link was to blame
	}
	root, err := openFolder(t.bound)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, os.O_RDONLY|safefile.NonBlock, 0)
}

// exhausted reports whether the system ran out of something, which says nothing
// of the file.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// errEscapes says that a link leads out of the scope's directory.
var errEscapes = errors.New("a link leads out of the scope's directory")

// errDangling says that a link leads nowhere.
var errDangling = errors.New("a link leads nowhere")

// resolve follows the links in path and returns where it ends, relative to
// bound. What it says may be outdated at once; opening the result through an
// os.Root of bound keeps it honest.
func resolve(bound, path string) (string, error) {
	end, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errDangling
	}
	if err != nil {
		return "", err
	}
	bound, err = filepath.EvalSymlinks(bound)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(bound, end)
	if err != nil || !filepath.IsLocal(rel) {
		return "", errEscapes
	}
	return rel, nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}
