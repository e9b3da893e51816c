package source

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// openFolder lists the files of the hook folders below a directory. No link is
// followed on the way.
func openFolder(dir string) (t *tree, closeFolder func() error, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	f := &folder{root, newTree()}
	for _, pattern := range []string{manifestName, "*/" + manifestName, "hooks/*/" + manifestName, ".tenterhook/hooks/*/" + manifestName} {
		found, _ := fs.Glob(root.FS(), pattern) // the patterns are good
		for _, name := range found {
			if err := fs.WalkDir(root.FS(), path.Dir(name), f.visit); err != nil {
				_ = root.Close()
				return nil, nil, err
			}
		}
		if pattern == manifestName && len(found) > 0 {
			break
		}
	}
	return f.tree, root.Close, nil
}

type folder struct {
	root *os.Root
	tree *tree
}

func (f *folder) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case len(f.tree.entries) >= maxEntries:
		return fmt.Errorf("%s has more than %d files", f.root.Name(), maxEntries)
	case d.IsDir() && d.Name() == ".git":
		return fs.SkipDir
	case d.IsDir():
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	e := entry{size: info.Size()}
	switch {
	case d.Type() == fs.ModeSymlink:
		e.kind, e.load = kindLink, func() ([]byte, error) {
			target, err := f.root.Readlink(filepath.FromSlash(name))
			return []byte(filepath.ToSlash(target)), err
		}
	case d.Type().IsRegular():
		e.kind, e.load = kindOf(info.Mode()), func() ([]byte, error) { return readBounded(f.root, name) }
	default:
		return fmt.Errorf("%s is neither a file, a folder nor a symbolic link", name)
	}
	return f.tree.add(name, e)
}

// readBounded reads a file that may have grown since it was listed.
func readBounded(root *os.Root, name string) ([]byte, error) {
	f, err := safefile.OpenIn(root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safefile.ReadAll(f, maxFile)
}
