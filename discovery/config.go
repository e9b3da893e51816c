package discovery

import (
	"cmp"
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

// ConfigFile is a config file that was found, be it readable or not.
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
// known as [Walk] has it. A place that is not there has no files; one that
// cannot be opened is a diagnostic. The error is that of ctx.
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
		results = append(results, walkPlace(t, place, known, visit)...)
		t.close()
	}
	return results, notes, nil
}

func walkPlace[T any](t tree, place ConfigPlace, known func(string) (T, bool), visit func(*ConfigFile) T) []T {
	var names []string
	for _, pattern := range place.Names {
		names = append(names, glob(t, ".", strings.Split(pattern, "/"))...)
	}
	slices.SortStableFunc(names, cmp.Compare)
	var results []T
	for _, name := range slices.Compact(names) {
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
// wildcards are not looked for here: reading them tells.
func glob(t tree, dir string, parts []string) []string {
	if len(parts) == 0 {
		return []string{dir}
	}
	if !strings.ContainsAny(parts[0], `*?[\`) {
		return glob(t, path.Join(dir, parts[0]), parts[1:])
	}
	entries, err := t.entries(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if ok, _ := path.Match(parts[0], e.name); ok {
			names = append(names, glob(t, path.Join(dir, e.name), parts[1:])...)
		}
	}
	return names
}
