package load

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// OwnScopes are the scopes that apply without being named.
var OwnScopes = []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}

// At finds the definitions that a path means: a HOOK.md, a config file of
// any product, or a folder of these.
func At(ctx context.Context, path string) ([]*Definition, []hook.Diagnostic, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, []hook.Diagnostic{unreadable(path, err)}, nil
	}
	if info.IsDir() {
		manifestPath := filepath.Join(path, "HOOK.md")
		if _, err := os.Lstat(manifestPath); err != nil {
			return checkFolder(ctx, path)
		}
		path = manifestPath
	}
	if isConfig(path) {
		files := configFiles{seen: make(map[string]bool)}
		files.add(func(string) (*os.File, error) { return safefile.Open(path) }, filepath.Dir(path), filepath.Base(path), "")
		return files.definitions, files.notes, nil
	}
	f := discovery.File(nil, path)
	d := define(&f)
	if f.Problem != nil {
		d.Notes = append(d.Notes, *f.Problem)
	}
	return []*Definition{d}, nil, nil
}

// isConfig reports whether a file has the name of a config file.
func isConfig(path string) bool {
	switch filepath.Ext(path) {
	case ".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".hook":
		return true
	}
	return false
}

// checkFolder finds the hook folders in a folder, and the config files of a
// project or a plugin whose root it is.
func checkFolder(ctx context.Context, path string) ([]*Definition, []hook.Diagnostic, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, []hook.Diagnostic{unreadable(path, err)}, nil
	}
	defer root.Close()
	files := configFiles{seen: make(map[string]bool)}
	for _, pattern := range dialect.ConfigFiles() {
		found, _ := fs.Glob(root.FS(), pattern) // the patterns are good
		for _, name := range found {
			files.add(below(root), path, name, "")
		}
	}
	scopes, notes := discovery.Scopes(discovery.Options{Without: OwnScopes, Dirs: []string{path}})
	definitions, found, err := discovery.Walk(ctx, nil, scopes, nil, define)
	return append(definitions, files.definitions...), slices.Concat(notes, found, files.notes), err
}

// configFiles collects what config files declare.
type configFiles struct {
	definitions []*Definition
	notes       []hook.Diagnostic
	seen        map[string]bool
}

// add reads a config file of a folder, which open opens, and the hooks files
// that it points at.
func (c *configFiles) add(open func(name string) (*os.File, error), folder, name, product string) {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if c.seen[path] {
		return
	}
	c.seen[path] = true
	data, err := readConfig(open(name))
	if err != nil {
		c.notes = append(c.notes, unreadable(path, err))
		return
	}
	root := filepath.FromSlash(dialect.PluginRoot(path))
	src := dialect.ConfigSource{Scope: hook.ScopeDir, Product: product, Source: hook.Source{Path: path, Root: root}}
	config := dialect.ReadConfig(src, data)
	c.definitions = append(c.definitions, &Definition{Path: path, Hooks: config.Hooks, Notes: config.Notes})
	if len(config.Refs) == 0 {
		return
	}
	plugin, err := os.OpenRoot(root)
	if err != nil {
		c.notes = append(c.notes, unreadable(root, err))
		return
	}
	defer plugin.Close()
	for _, ref := range config.Refs {
		if _, err := fs.Stat(plugin.FS(), ref.Path); err != nil {
			c.notes = append(c.notes, hook.Diagnostic{Severity: hook.SeverityError, Code: "ref_missing", Path: path, Line: ref.Line,
				Message: fmt.Sprintf("hooks: %s cannot be read: %s", ref.Path, reasonOf(err)), Hint: "name a file of the plugin, relative to its root"})
			continue
		}
		c.add(below(plugin), root, ref.Path, ref.Product)
	}
}

// below opens files of a folder. No link leads out of it.
func below(root *os.Root) func(string) (*os.File, error) {
	return func(name string) (*os.File, error) { return safefile.OpenIn(root, filepath.FromSlash(name)) }
}

// readConfig reads what an open returned, and no more of it than a config file
// may have and one byte.
func readConfig(f *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, dialect.MaxConfig+1))
}

func unreadable(path string, err error) hook.Diagnostic {
	return hook.Diagnostic{Severity: hook.SeverityError, Code: "unreadable", Path: path,
		Message: "it cannot be read: " + reasonOf(err), Hint: "check the path"}
}

func reasonOf(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
