package discovery

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
)

// manifestName is the file that makes a folder a hook.
const manifestName = "HOOK.md"

// candidate is a folder that may hold a HOOK.md.
type candidate struct {
	name   string
	folder string // its path in the tree
	link   bool
}

func (c candidate) manifest() string {
	if c.folder == "." {
		return manifestName
	}
	return c.folder + "/" + manifestName
}

func (c candidate) found(s Scope, fsys afero.Fs) Found {
	dir := s.HooksDir
	if c.folder != "." {
		dir += string(filepath.Separator) + filepath.FromSlash(c.folder)
	}
	return Found{Scope: s, Name: c.name, Dir: dir, Path: dir + string(filepath.Separator) + manifestName, fsys: fsys}
}

// list returns the folders of a scope that may hold a hook.
func list(t tree, s Scope) ([]candidate, []hook.Diagnostic) {
	entries, err := t.entries(".")
	var notes []hook.Diagnostic
	if err != nil {
		notes = append(notes, explain(s.HooksDir, err))
	}
	candidates := folders(entries, "")
	if s.Scope == hook.ScopeDir {
		for _, e := range entries {
			if !e.folder && isMisnamed(e.name) && strings.HasPrefix(strings.ToLower(e.name), "hook.") {
				notes = append(notes, misnamed(filepath.Join(s.HooksDir, e.name)))
			}
		}
		candidates = append(candidates, alsoNamed(t, s, entries)...)
		slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.name, b.name) })
		return candidates, notes
	}
	for _, e := range entries {
		switch path := filepath.Join(s.HooksDir, e.name); {
		case e.name == manifestName:
			notes = append(notes, misplaced(path, "each hook has a folder of its own", hooksFolder+"/<name>/"+manifestName))
		case !e.folder && isMisnamed(e.name) && (s.Scope != hook.ScopePlugin || e.name != "hooks.json"):
			notes = append(notes, misnamed(path))
		}
	}
	return candidates, notes
}

// alsoNamed returns what else an operator can mean by a folder: the one hook in
// it, or a whole scope with a hooks folder.
func alsoNamed(t tree, s Scope, entries []entry) []candidate {
	var more []candidate
	for _, e := range entries {
		switch {
		case e.name == manifestName:
			more = append(more, candidate{name: filepath.Base(s.Dir), folder: "."})
		case e.name == hooksFolder && (e.folder || e.link):
			below, _ := t.entries(hooksFolder) // an error is said of hooks/HOOK.md
			more = append(more, folders(below, hooksFolder+"/")...)
		}
	}
	return more
}

func folders(entries []entry, prefix string) []candidate {
	candidates := make([]candidate, 0, len(entries))
	for _, e := range entries {
		if e.folder || e.link {
			candidates = append(candidates, candidate{name: e.name, folder: prefix + e.name, link: e.link})
		}
	}
	return candidates
}

// absent says why a scope cannot be opened. A missing scope is no fault,
// but for a folder that the caller named.
func absent(s Scope, err error) []hook.Diagnostic {
	d := explain(s.HooksDir, err)
	if errors.Is(err, fs.ErrNotExist) {
		if s.Scope != hook.ScopeDir {
			return nil
		}
		d.Code, d.Message, d.Hint = "dir_missing", "there is no such folder", "name a folder that holds <name>/"+manifestName
	}
	return []hook.Diagnostic{d}
}

// readFound reads a candidate's HOOK.md. It reports whether there is one.
func readFound(t tree, c candidate, f *Found) (bool, []hook.Diagnostic) {
	data, err := t.read(c.manifest(), MaxManifest)
	if err == nil {
		f.Data = data
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		var notes []hook.Diagnostic
		if notes, err = lookInto(t, c, f); len(notes) > 0 {
			return false, notes
		}
	}
	if err == nil || c.link && errors.Is(err, syscall.ENOTDIR) {
		return false, nil // a folder without a hook, or a link to a file
	}
	d := explain(f.Path, err)
	f.Problem = &d
	return true, []hook.Diagnostic{d}
}

// lookInto says why a folder has no HOOK.md that can be opened. The error is
// nil if there is no hook in it, or none any more; the notes are about files
// that look as if they were meant to be one.
func lookInto(t tree, c candidate, f *Found) ([]hook.Diagnostic, error) {
	entries, err := t.entries(c.folder)
	if err != nil && c.link && errors.Is(err, fs.ErrNotExist) {
		return nil, errDangling
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return e.name == manifestName }) {
		return nil, errDangling
	}
	if passedOver(c.name) || c.folder == hooksFolder && f.Scope.Scope == hook.ScopeDir {
		return nil, nil // its folders are candidates themselves
	}
	return below(t, f.Scope, c.folder, f.Dir, entries), nil
}

// Folders returns the folders of a scope on the operating system's file system
// that may get a HOOK.md, whether they have one or not. One that cannot be read
// has none.
func (s Scope) Folders() []string {
	places := []string{s.HooksDir}
	if s.Scope == hook.ScopeDir {
		places = append(places, filepath.Join(s.HooksDir, hooksFolder))
	}
	var folders []string
	for _, place := range places {
		entries, _ := os.ReadDir(place)
		for _, e := range entries {
			if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
				folders = append(folders, filepath.Join(place, e.Name()))
			}
		}
	}
	return folders
}
