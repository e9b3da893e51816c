package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
)

// Scope is one directory that holds hooks.
type Scope struct {
	Scope    hook.Scope
	Dir      string // the scope's directory, absolute; no link leads out of it
	HooksDir string // the folder of the hook folders: Dir/hooks, or Dir for ScopeDir
	Base     string // what a link at Dir may not lead out of; "" = it may lead anywhere
	Package  string // the plugin package, in ScopePlugin
	DataDir  string // where that package keeps its data; it need not exist
	Aside    bool   // it is one of Options.GuardDirs

	Pack   string     // the reference of the pack that Dir holds; "" = none
	PackBy hook.Scope // the scope of the settings that name it
}

// Options say where to look. The zero value has the managed and user scopes
// and the installed plugin packages.
type Options struct {
	FS         afero.Fs // nil = the operating system's
	Workspace  string   // "" = no project and no local scope
	ManagedDir string   // "" = DefaultManagedDir()
	UserDir    string   // "" = DefaultUserDir()
	PluginsDir string   // "" = DefaultPluginsDir(); holds a folder for each package
	Dirs       []string // folders that the operator named, in order
	GuardDirs  []string // more directories like UserDir, of which guards count

	Without []hook.Scope // scopes that are left out
}

// Scopes lists the scopes in the order in which their hooks run. Relative paths
// are taken from the working directory. Whether the directories exist is for
// [Walk] to find out; only that of the plugin packages is read. A diagnostic
// reports packages that could not be listed, and of a missing home directory.
func Scopes(o Options) ([]Scope, []hook.Diagnostic) {
	var scopes []Scope
	var notes []hook.Diagnostic
	add := func(kind hook.Scope, dir string) {
		scopes = append(scopes, Scope{Scope: kind, Dir: dir, HooksDir: filepath.Join(dir, hooksFolder)})
	}
	wants := func(kind hook.Scope) bool { return !slices.Contains(o.Without, kind) }
	if wants(hook.ScopeManaged) {
		add(hook.ScopeManaged, absolute(cmp.Or(o.ManagedDir, DefaultManagedDir())))
	}
	if dir := cmp.Or(o.UserDir, DefaultUserDir()); !wants(hook.ScopeUser) {
	} else if dir != "" {
		add(hook.ScopeUser, absolute(dir))
	} else {
		notes = append(notes, noHome("hooks of the user"))
	}
	for _, dir := range o.GuardDirs {
		add(hook.ScopeUser, absolute(dir))
		scopes[len(scopes)-1].Aside = true
	}
	if o.Workspace != "" {
		workspace := absolute(o.Workspace)
		add(hook.ScopeProject, filepath.Join(workspace, ".tenterhook"))
		add(hook.ScopeLocal, filepath.Join(workspace, ".tenterhook", "local"))
		scopes[len(scopes)-2].Base, scopes[len(scopes)-1].Base = workspace, workspace
	}
	if dir := cmp.Or(o.PluginsDir, DefaultPluginsDir()); !wants(hook.ScopePlugin) {
	} else if dir != "" {
		packages, ds := packageScopes(orOS(o.FS), absolute(dir))
		scopes, notes = append(scopes, packages...), append(notes, ds...)
	} else {
		notes = append(notes, noHome("plugin packages"))
	}
	return append(scopes, dirScopes(o.Dirs)...), notes
}

// hooksFolder is the folder of a scope that holds its hook folders.
const hooksFolder = "hooks"

// packageScopes makes a scope of each folder in dir. A link is one too: the
// folder belongs to the user, who may link a package under development.
func packageScopes(fsys afero.Fs, dir string) ([]Scope, []hook.Diagnostic) {
	t, err := openTree(fsys, Scope{Dir: dir, HooksDir: dir})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []hook.Diagnostic{explain(dir, err)}
	}
	defer t.close()
	entries, err := t.entries(".")
	var notes []hook.Diagnostic
	if err != nil {
		notes = append(notes, explain(dir, err))
	}
	var scopes []Scope
	for _, e := range entries {
		if !e.folder && !e.link {
			continue
		}
		root := filepath.Join(dir, e.name)
		scopes = append(scopes, Scope{
			Scope: hook.ScopePlugin, Dir: root, HooksDir: filepath.Join(root, hooksFolder),
			Package: e.name, DataDir: filepath.Join(filepath.Dir(dir), "plugin-data", e.name),
		})
	}
	return scopes, notes
}

// dirScopes makes a scope of each folder that was named, once.
func dirScopes(dirs []string) []Scope {
	var scopes []Scope
	for _, dir := range dirs {
		dir = absolute(dir)
		if !slices.ContainsFunc(scopes, func(s Scope) bool { return s.Dir == dir }) {
			scopes = append(scopes, Scope{Scope: hook.ScopeDir, Dir: dir, HooksDir: dir})
		}
	}
	return scopes
}

// absolute makes a path independent of later changes of the working directory, and makes it name no device.
func absolute(path string) string {
	path = PlainPath(path)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

func orOS(fsys afero.Fs) afero.Fs {
	if fsys == nil {
		return afero.NewOsFs()
	}
	return fsys
}

func noHome(what string) hook.Diagnostic {
	return hook.Diagnostic{
		Severity: hook.SeverityWarning, Code: "no_home",
		Message: fmt.Sprintf("no home directory is known, so no %s are looked for", what),
		Hint:    "set HOME to an absolute path",
	}
}
