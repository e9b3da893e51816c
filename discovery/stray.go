package discovery

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
)

// maxStrays bounds the folders of one scope that are searched for manifests in
// wrong places.
const maxStrays = 200

// manifestEndings are what a manifest's name may wrongly end with.
var manifestEndings = []string{"", ".md", ".markdown", ".mdx", ".txt", ".md.txt", ".toml", ".yaml", ".yml", ".json", ".jsonc", ".json5"}

// isMisnamed reports whether a file's name was most likely meant to be HOOK.md.
func isMisnamed(name string) bool {
	stem, ending, dotted := strings.Cut(strings.ToLower(name), ".")
	if dotted {
		ending = "." + ending
	}
	return name != manifestName && (stem == "hook" || stem == "hooks" && dotted) && slices.Contains(manifestEndings, ending)
}

func misnamed(path string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityWarning, Code: "misnamed_manifest", Path: path,
		Message: "not read: the name is not " + manifestName, Hint: "rename it to " + manifestName + ", with its settings between two lines +++"}
}

func misplaced(path, why, to string) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityWarning, Code: "misplaced_manifest", Path: path,
		Message: "not read: " + why, Hint: "move it to " + to}
}

// strays finds manifests and settings beside a scope's hooks folder, where
// nothing reads them. Where links lead out of that folder, what is beside it
// may be where they lead.
func strays(fsys afero.Fs, s Scope) []hook.Diagnostic {
	if s.HooksDir == s.Dir {
		return nil
	}
	notes := besideHooks(fsys, s)
	if len(notes) == 0 || isLink(s.HooksDir) {
		return nil
	}
	t, err := openTree(fsys, s)
	if err != nil {
		return notes
	}
	defer t.close()
	entries, _ := t.entries(".")
	for _, e := range entries {
		if e.link || e.folder && isLink(filepath.Join(s.HooksDir, e.name, manifestName)) {
			return nil
		}
	}
	return notes
}

func besideHooks(fsys afero.Fs, s Scope) []hook.Diagnostic {
	beside := s
	beside.HooksDir = s.Dir
	t, err := openTree(fsys, beside)
	if err != nil {
		return nil // the walk says why
	}
	defer t.close()
	entries, _ := t.entries(".")
	var notes []hook.Diagnostic
	for i, e := range entries {
		path := filepath.Join(s.Dir, e.name)
		switch {
		case e.folder && e.name != hooksFolder && !ownFolder(s, e.name) && i < maxStrays:
			inner, _ := t.entries(e.name)
			notes = append(notes, below(t, s, e.name, path, inner)...)
		case e.folder:
		case e.name == manifestName:
			notes = append(notes, misplaced(path, "each hook has a folder of its own", filepath.Join(s.HooksDir, "<name>", manifestName)))
		case s.Scope != hook.ScopePlugin && isMisnamedSettings(e.name):
			notes = append(notes, hook.Diagnostic{Severity: hook.SeverityWarning, Code: "misnamed_settings", Path: path,
				Message: "not read: settings are in settings.toml or settings.json", Hint: "rename it"})
		case s.Scope != hook.ScopePlugin && isMisnamed(e.name):
			notes = append(notes, misnamed(path))
		}
	}
	return notes
}

// ownFolder reports whether a folder of a scope is not for hooks.
func ownFolder(s Scope, name string) bool {
	return s.Scope == hook.ScopeProject && name == "local" || passedOver(name)
}

// isMisnamedSettings reports whether a file was most likely meant to be settings.
func isMisnamedSettings(name string) bool {
	if name == "settings.toml" || name == "settings.json" {
		return false
	}
	lower := strings.ToLower(name)
	stem, ending, _ := strings.Cut(lower, ".")
	switch ending {
	case "toml", "json", "jsonc", "json5", "yaml", "yml":
		return slices.Contains([]string{"setting", "settings", "hooks", "config", "tenterhook"}, stem)
	}
	return false
}

// below finds manifests in a folder that is no hook: right in it, and in each
// folder in that. entries is what it holds, path where it lies.
func below(t tree, s Scope, folder, path string, entries []entry) []hook.Diagnostic {
	var notes []hook.Diagnostic
	for i, e := range entries {
		at := filepath.Join(path, e.name)
		switch {
		case e.folder && i < maxStrays && !passedOver(e.name):
			inner, _ := t.entries(folder + "/" + e.name)
			if slices.ContainsFunc(inner, func(e entry) bool { return e.name == manifestName }) {
				notes = append(notes, misplaced(filepath.Join(at, manifestName), "it lies a folder too deep", filepath.Join(s.HooksDir, e.name, manifestName)))
			}
		case e.folder:
		case e.name == manifestName:
			notes = append(notes, misplaced(at, "it does not lie in "+hooksFolder, filepath.Join(s.HooksDir, filepath.Base(path), manifestName)))
		case isMisnamed(e.name):
			notes = append(notes, misnamed(at))
		}
	}
	return notes
}

// passedOver reports whether no hooks are looked for in a folder.
func passedOver(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }
