package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// maxFile is the largest file of an agent that is read, in bytes.
const maxFile = 64 << 20

// file is a file as it was found.
type file struct {
	path  string // with links resolved
	data  []byte // nil = there is none
	mode  fs.FileMode
	owner owner
}

// resolve follows the links of a path, the end of which may not be there yet.
func resolve(path string) (string, error) {
	rest := ""
	for dir := path; ; {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link to a file that is not there; make the file or remove the link", dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path, nil
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), parent
	}
}

// readTarget reads a file behind its links, and refuses a file that cannot be
// replaced without a loss.
func readTarget(path string) (file, error) {
	resolved, err := resolve(path)
	if err != nil {
		return file{}, err
	}
	f := file{path: resolved, mode: 0o644}
	info, err := os.Lstat(resolved)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.owner, err = heir(filepath.Dir(resolved))
		return f, err
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("%s is no regular file", resolved)
	case info.Mode().Perm()&0o200 == 0:
		return f, fmt.Errorf("%s is read-only; make it writable (%s) if tenterhook may change it", resolved, toWrite)
	case links(resolved, info) > 1:
		return f, fmt.Errorf("%s has %d names (hard links), which a new file would part; replace the others by symbolic links", resolved, links(resolved, info))
	}
	f.mode, f.owner = info.Mode().Perm(), ownerOf(resolved, info)
	f.data, err = readBounded(resolved)
	return f, err
}

// readBounded reads a regular file of at most maxFile bytes, and waits for no
// other end of a pipe.
func readBounded(path string) ([]byte, error) {
	data, err := safefile.Read(path, maxFile)
	return data, safefile.Named(path, err)
}

// heir is who owns what is made in a directory that may not be there yet: the
// owner of the nearest existing directory. Root that makes files in another user's home
// leaves them to that user.
func heir(dir string) (owner, error) {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			return ownerOf(dir, info).forNew(), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return owner{}, err
		}
	}
}

// makeDirs makes a directory and those above it, and returns which it made, the
// outermost first.
func makeDirs(dir string, mode fs.FileMode) (made []string, err error) {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			err = fmt.Errorf("%s is no directory", dir)
		}
		return nil, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeDirs(filepath.Dir(dir), mode); err != nil {
		return made, err
	}
	who, err := heir(filepath.Dir(dir))
	if err != nil {
		return made, err
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return made, err
	}
	return append(made, dir), who.give(dir)
}

// writeAtomic replaces a file by way of a rename in its directory, which is made
// for the user alone if it is not there.
func writeAtomic(path string, data []byte, mode fs.FileMode, who owner) error {
	if _, err := makeDirs(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return explain(safefile.WriteFor(path, data, mode, who.give))
}

// writePrivate writes a file of our own, for the user alone.
func writePrivate(path string, data []byte) error {
	who, err := heir(filepath.Dir(path))
	if err != nil {
		return err
	}
	return writeAtomic(path, data, 0o600, who)
}

// inside reports whether a path is below a directory. Both are resolved.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
