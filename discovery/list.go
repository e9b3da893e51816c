package discovery

import (
	"cmp"
	"errors"
	"io/fs"
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
		candidates = append(candidates, alsoNamed(t, s, entries)...)
		slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.name, b.name) })
		return candidates, notes
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return e.name == manifestName }) {
		notes = append(notes, hook.Diagnostic{
			Severity: hook.SeverityWarning, Code: "misplaced_manifest",
			Path: filepath.Join(s.HooksDir, manifestName), Message: "not read: each hook has a folder of its own",
			Hint: "move it to " + hooksFolder + "/<name>/" + manifestName,
		})
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

// absent says why a scope cannot be opened. One that is not there is no fault,
// but for a folder that somebody named.
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
		var note *hook.Diagnostic
		if note, err = lookInto(t, c, f.Dir); note != nil {
			return false, []hook.Diagnostic{*note}
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
// nil if there is no hook in it, or none any more; the note is about a file
// that looks as if it was meant to be one.
func lookInto(t tree, c candidate, dir string) (*hook.Diagnostic, error) {
	entries, err := t.entries(c.folder)
	if err != nil && c.link && errors.Is(err, fs.ErrNotExist) {
		return nil, errDangling
	}
	for _, e := range entries {
		if e.name == manifestName {
			return nil, errDangling
		}
		if strings.EqualFold(e.name, manifestName) {
			return &hook.Diagnostic{
				Severity: hook.SeverityWarning, Code: "misnamed_manifest",
				Path: dir + string(filepath.Separator) + e.name, Message: "not read: the name is not " + manifestName,
				Hint: "rename it",
			}, nil
		}
	}
	return nil, nil
}
