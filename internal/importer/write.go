package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// manifestName is the file of a hook folder.
const manifestName = "HOOK.md"

// Conflict is why nothing was written: what is in the target.
type Conflict struct {
	Dir   string
	Names []string // of what is in the way, at most a few
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("%s has %s already", e.Dir, strings.Join(e.Names, ", "))
}

// Write makes the folders in dir, all of them or none, and overwrites nothing. It
// returns the made ones: a folder that is there with the same HOOK.md alone stays
// as it is. With empty, dir may hold nothing else; otherwise it may not hold other
// folders of an import from the same agent. The error is a [*Conflict] if
// something is in the way.
func Write(dir, agent string, folders []Folder, empty bool) (made []string, err error) {
	if err := Check(dir, agent, folders, empty); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(dir, ".import-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	for _, f := range folders {
		if same(filepath.Join(dir, f.Name), f.Text) {
			continue
		}
		path := filepath.Join(aside, f.Name)
		if err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, manifestName), f.Text, 0o644)); err != nil {
			return nil, err
		}
		made = append(made, f.Name)
	}
	for i, name := range made {
		if err := os.Rename(filepath.Join(aside, name), filepath.Join(dir, name)); err != nil {
			for _, undo := range made[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, undo)))
			}
			return nil, err
		}
	}
	return made, nil
}

// Check finds what is in the way of Write: a [*Conflict].
func Check(dir, agent string, folders []Folder, empty bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	earlier := regexp.MustCompile("^" + regexp.QuoteMeta(agent) + `-[0-9]{2,}-`)
	var names []string
	for _, e := range entries {
		i := slices.IndexFunc(folders, func(f Folder) bool { return strings.EqualFold(f.Name, e.Name()) })
		switch {
		case i >= 0 && same(filepath.Join(dir, e.Name()), folders[i].Text):
		case i >= 0, empty, earlier.MatchString(e.Name()):
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", more))
	}
	return &Conflict{dir, names}
}

// same reports whether a folder holds a HOOK.md with that text, and nothing else.
func same(dir string, text []byte) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != manifestName {
		return false
	}
	data, err := safefile.Read(filepath.Join(dir, manifestName), discovery.MaxManifest)
	return err == nil && bytes.Equal(data, text)
}
