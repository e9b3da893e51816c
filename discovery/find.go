package discovery

import (
	"context"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
)

// Found is a hook folder: a folder with a HOOK.md, readable or not.
type Found struct {
	Scope Scope
	Name  string // the folder's name, whatever characters are in it
	Dir   string // the folder
	Path  string // its HOOK.md
	Data  []byte // what HOOK.md holds; empty if there is a Problem

	// Problem is why HOOK.md could not be read, or nil. It is among the
	// diagnostics of the walk too.
	Problem *hook.Diagnostic

	fsys afero.Fs
}

// Files returns the names of what is in the hook's folder, at most a thousand
// and in no order, or nothing if the folder cannot be listed. It reads the
// folder at each call.
func (f *Found) Files() []string {
	folder, err := orOS(f.fsys).Open(f.Dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(1000)
	return names
}

// Find returns the hook folders of scopes, in the order of the scopes and by
// name within each. nil is the operating system's file system. The error is
// that of ctx, if it ended before all was read.
func Find(ctx context.Context, fsys afero.Fs, scopes []Scope) ([]Found, []hook.Diagnostic, error) {
	return Walk(ctx, fsys, scopes, nil, func(f *Found) Found { return *f })
}

// Walk is Find for who has something to do with each folder: it calls visit for
// them, as soon as each was read and from several goroutines at once, and
// returns what visit returned, in the order that Find has. What known has for
// the path of a HOOK.md is taken in its place, and the file is not read; known
// may be nil. All goroutines have ended when Walk returns.
func Walk[T any](ctx context.Context, fsys afero.Fs, scopes []Scope, known func(path string) (T, bool), visit func(*Found) T) ([]T, []hook.Diagnostic, error) {
	fsys = orOS(fsys)
	var results []T
	var notes []hook.Diagnostic
	for _, s := range scopes {
		if err := context.Cause(ctx); err != nil {
			return results, notes, err
		}
		rs, ds, err := walkScope(ctx, fsys, s, known, visit)
		results, notes = append(results, rs...), append(notes, ds...)
		if err != nil {
			return results, notes, err
		}
	}
	return results, notes, nil
}

func walkScope[T any](ctx context.Context, fsys afero.Fs, s Scope, known func(string) (T, bool), visit func(*Found) T) ([]T, []hook.Diagnostic, error) {
	strayed := strays(fsys, s)
	t, err := openTree(fsys, s)
	if err != nil {
		return nil, append(absent(s, err), strayed...), nil
	}
	defer t.close()
	candidates, notes := list(t, s)
	notes = append(notes, strayed...)

	type slot struct {
		found  bool
		result T
		notes  []hook.Diagnostic
	}
	slots := make([]slot, len(candidates))
	err = inParallel(ctx, len(slots), func(i int) {
		f := candidates[i].found(s, fsys)
		if known != nil {
			if result, ok := known(f.Path); ok {
				slots[i].found, slots[i].result = true, result
				return
			}
		}
		var there bool
		there, slots[i].notes = readFound(t, candidates[i], &f)
		if there {
			slots[i].found, slots[i].result = true, visit(&f)
		}
	})
	results := make([]T, 0, len(slots))
	for i := range slots {
		notes = append(notes, slots[i].notes...)
		if slots[i].found {
			results = append(results, slots[i].result)
		}
	}
	return results, notes, err
}

// File reads one HOOK.md that the operator named, whatever the file's name. It
// makes up a dir scope of the folder's parent. Links in path are followed.
func File(fsys afero.Fs, path string) Found {
	fsys = orOS(fsys)
	path = absolute(path)
	dir := filepath.Dir(path)
	f := Found{
		Scope: Scope{Scope: hook.ScopeDir, Dir: filepath.Dir(dir), HooksDir: filepath.Dir(dir)},
		Name:  filepath.Base(dir), Dir: dir, Path: path, fsys: fsys,
	}
	var err error
	if f.Data, err = readNamed(fsys, path); err != nil {
		d := explain(path, err)
		f.Problem = &d
	}
	return f
}
