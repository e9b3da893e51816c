package importer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// File is a config file of an agent.
type File struct {
	Path   string
	Scope  hook.Scope // user, project or local
	Data   []byte
	Legacy bool // of an older version: it counts if no other file has hooks
}

// Bases are the directories that config files are looked for below. An empty one
// is not looked at.
type Bases struct{ Workspace, Home, ConfigHome string }

// Find reads the config files of an agent in their own places, those of the user
// first. A file that is there and cannot be read is an error.
func Find(ctx context.Context, agent string, at Bases) ([]File, error) {
	var files []File
	for _, p := range dialect.ConfigPlaces(agent) {
		dir := map[dialect.Base]string{dialect.BaseWorkspace: at.Workspace, dialect.BaseHome: at.Home, dialect.BaseConfigHome: at.ConfigHome}[p.Base]
		if dir == "" || p.Scope == hook.ScopeManaged {
			continue
		}
		place := discovery.ConfigPlace{Scope: discovery.Scope{Scope: p.Scope, Dir: dir}, Names: p.Names, Product: agent, MaxSize: dialect.MaxConfig}
		found, notes, err := discovery.WalkConfigs(ctx, nil, []discovery.ConfigPlace{place}, nil, func(f *discovery.ConfigFile) *discovery.ConfigFile { return f })
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if f.Problem != nil {
				notes = append(notes, *f.Problem)
				continue
			}
			if p.Base == dialect.BaseWorkspace && at.Workspace == at.Home && slices.ContainsFunc(files, func(o File) bool { return o.Path == f.Path }) {
				continue // the home directory is the workspace
			}
			files = append(files, File{Path: f.Path, Scope: p.Scope, Data: f.Data, Legacy: p.Legacy})
		}
		if len(notes) > 0 {
			return nil, errors.New(notes[0].String())
		}
	}
	return files, nil
}

// ReadFile reads a file that was named. It belongs to the project if it is in
// the workspace, else to the user.
func ReadFile(path string, at Bases) (File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Scope: hook.ScopeUser}
	if rel, err := filepath.Rel(at.Workspace, path); err == nil && filepath.IsLocal(rel) && at.Workspace != at.Home {
		f.Scope = hook.ScopeProject
	}
	f.Data, err = safefile.Read(path, dialect.MaxConfig)
	switch _, large := errors.AsType[safefile.TooLargeError](err); {
	case large:
		err = fmt.Errorf("%w; move what declares no hooks into another file", err)
	case errors.Is(err, safefile.ErrNotRegular):
		err = fmt.Errorf("%w; name a config file of the agent", err)
	}
	return f, safefile.Named(path, err)
}

// pluginRoot is the root of the plugin whose hooks file a path is; "" = it is
// none's.
func pluginRoot(path string) string {
	dir := filepath.Dir(path)
	switch {
	case filepath.Base(path) == "hooks.json" && filepath.Base(dir) == "hooks":
		return filepath.Dir(dir)
	case filepath.Base(path) == "plugin.json":
		return filepath.FromSlash(dialect.PluginRoot(path))
	}
	return ""
}

// readConfig reads the hooks of a file as a registry with Compat does.
func readConfig(agent string, f File) dialect.Config {
	root := filepath.Dir(f.Path)
	return dialect.ReadConfig(dialect.ConfigSource{Scope: f.Scope, Product: agent, Source: hook.Source{Path: f.Path, Root: root}}, f.Data)
}

// Shown is a path as a file may hold it that others read: below the home
// directory or the workspace without what is this machine's.
func (at Bases) Shown(path string) string {
	best, as := "", filepath.ToSlash(path)
	for _, base := range []struct{ dir, as string }{{at.Workspace, ""}, {at.Home, "~"}} {
		if rel, err := filepath.Rel(base.dir, path); base.dir != "" && err == nil && filepath.IsLocal(rel) && len(base.dir) > len(best) {
			best, as = base.dir, filepath.ToSlash(filepath.Join(base.as, rel))
		}
	}
	return as
}
