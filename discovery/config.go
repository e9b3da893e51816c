package discovery

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
)

// ConfigPlace is where config files of one kind may lie.
type ConfigPlace struct {
	Scope   Scope    // whose hooks they declare; files are looked for below its Dir
	Names   []string // patterns of path.Match, with slashes
	Product string   // whose files they are; handed through to what is found
	MaxSize int      // in bytes, of each
}

// ConfigFile is a config file that was found, readable or not.
type ConfigFile struct {
	Scope   Scope
	Product string
	Path    string
	Data    []byte // empty if there is a Problem

	// Problem is why the file could not be read, or nil.
	Problem *hook.Diagnostic
}

// WalkConfigs reads the config files of places, in their order and by path
// within each, as safely as hook folders are: no link leads out of Scope.Dir,
// and a pipe or a device is a Problem at once. It calls visit for each, with
// known as [Walk] has it. A place that is not there has no files. A place that cannot
// be opened is a diagnostic, and so is each folder below it that a pattern looks
// through and that is there and cannot be read; each names the folder. The error
// is that of ctx.
func WalkConfigs[T any](ctx context.Context, fsys afero.Fs, places []ConfigPlace, known func(path string) (T, bool), visit func(*ConfigFile) T) ([]T, []hook.Diagnostic, error) {
	fsys = orOS(fsys)
	var results []T
	var notes []hook.Diagnostic
	for _, place := range places {
		if err := context.Cause(ctx); err != nil {
			return results, notes, err
		}
		s := place.Scope
		s.HooksDir = s.Dir
		t, err := openTree(fsys, s)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotAFolder) {
			continue // who looks for hook folders there says so
		}
		if err != nil {
			notes = append(notes, explain(s.Dir, err))
			continue
		}
		names, closed := match(t, place)
		results, notes = append(results, readPlace(t, place, names, known, visit)...), append(notes, closed...)
		t.close()
	}
	return results, notes, nil
}

// match returns the names below a place that its patterns take, sorted, and the
// folders that cannot be looked through.
func match(t tree, place ConfigPlace) (names []string, closed []hook.Diagnostic) {
	told := make(map[string]bool)
	for _, pattern := range place.Names {
		names = append(names, glob(t, ".", strings.Split(pattern, "/"), func(dir string, err error) {
			if told[dir] {
				return
			}
			told[dir] = true
			d := explain(filepath.Join(place.Scope.Dir, filepath.FromSlash(dir)), err)
			if errors.Is(err, errNotAFolder) {
				d.Hint = "put a folder in its place, or remove it"
			}
			closed = append(closed, d)
		})...)
	}
	slices.Sort(names)
	return slices.Compact(names), closed
}

func readPlace[T any](t tree, place ConfigPlace, names []string, known func(string) (T, bool), visit func(*ConfigFile) T) []T {
	var results []T
	for _, name := range names {
		f := ConfigFile{Scope: place.Scope, Product: place.Product, Path: filepath.Join(place.Scope.Dir, filepath.FromSlash(name))}
		if known != nil {
			if result, ok := known(f.Path); ok {
				results = append(results, result)
				continue
			}
		}
		var err error
		f.Data, err = t.read(name, place.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			if !t.dangles(name) {
				continue
			}
			err = errDangling
		}
		if err != nil {
			d := explain(f.Path, err)
			f.Problem = &d
		}
		results = append(results, visit(&f))
	}
	return results
}

// glob returns the names below dir that match a pattern's parts. Names without
// wildcards are not looked for here: reading them tells. A folder that is there
// and cannot be read is handed to closed; what could be read of it counts.
func glob(t tree, dir string, parts []string, closed func(dir string, err error)) []string {
	if len(parts) == 0 {
		return []string{dir}
	}
	if !strings.ContainsAny(parts[0], `*?[\`) {
		return glob(t, path.Join(dir, parts[0]), parts[1:], closed)
	}
	entries, err := t.entries(dir)
	if errors.Is(err, fs.ErrNotExist) && t.dangles(dir) {
		err = errDangling
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		closed(dir, folderError(dir, err))
	}
	var names []string
	for _, e := range entries {
		if len(parts) > 1 && !e.folder && !e.link {
			continue
		}
		if ok, _ := path.Match(parts[0], e.name); ok {
			names = append(names, glob(t, path.Join(dir, e.name), parts[1:], closed)...)
		}
	}
	return names
}
