package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/dialect"
	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

// ownScopes are the scopes that apply without being named.
var ownScopes = []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}

// Report is what Check found.
type Report struct {
	Files       int // definitions that were read
	Hooks       int // (handler, event) pairs that load; a status line or a file suggestion is none
	Unable      int // those of them whose handler says that they cannot run on this machine
	Diagnostics []hook.Diagnostic

	Workspace string // the project's root, as Registry.Workspace has it
}

// Check reads definitions without running anything, and tells all that is
// wrong with them, matchers that do not compile and programs that are not there
// included. A path is a HOOK.md, the folder of one, a folder of such folders, a
// config file of any product, or the root of a project or a plugin with some;
// without paths it is everything that Open loads. What Open loads is to run here,
// so that a missing script is an error. A file that is named may be meant for
// another machine: there it is a warning, and Report.Unable counts the hook.
func Check(ctx context.Context, opts Options, paths ...string) (*Report, error) {
	if len(paths) == 0 {
		return checkScopes(ctx, opts)
	}
	bare := opts
	bare.Without, bare.Dirs = ownScopes, nil
	r, err := Open(ctx, bare)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Workspace: r.Workspace()}
	for _, path := range paths {
		definitions, notes, err := checkPath(ctx, path)
		if err != nil {
			return nil, err
		}
		report.Diagnostics = append(report.Diagnostics, notes...)
		for _, d := range definitions {
			report.Files++
			report.Diagnostics = append(report.Diagnostics, d.notes...)
			for _, h := range d.hooks {
				e := r.prepare(&r.snap.Load().policy, h)
				e.project = r.projectOf(d.path)
				r.examine(report, e, true)
			}
		}
	}
	report.Diagnostics = once(report.Diagnostics)
	return report, nil
}

func checkScopes(ctx context.Context, opts Options) (*Report, error) {
	r, err := Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Diagnostics: r.Diagnostics(), Workspace: r.Workspace()}
	var files []string
	for _, e := range r.snap.Load().generation.entries {
		if !slices.Contains(files, e.hook.Source.Path) {
			files = append(files, e.hook.Source.Path)
		}
		r.examine(report, e, false)
	}
	report.Files, report.Diagnostics = len(files), once(report.Diagnostics)
	return report, nil
}

// checkPath finds the definitions that a path means: a HOOK.md, a config file of
// any product, or a folder of these.
func checkPath(ctx context.Context, path string) ([]*definition, []hook.Diagnostic, error) {
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
		files.add(os.DirFS(filepath.Dir(path)), filepath.Dir(path), filepath.Base(path), "")
		return files.definitions, files.notes, nil
	}
	f := discovery.File(nil, path)
	d := define(&f)
	if f.Problem != nil {
		d.notes = append(d.notes, *f.Problem)
	}
	return []*definition{d}, nil, nil
}

// isConfig reports whether a file has the name of a config file.
func isConfig(path string) bool {
	switch filepath.Ext(path) {
	case ".json", ".jsonc", ".json5", ".toml", ".hook":
		return true
	}
	return false
}

// checkFolder finds the hook folders in a folder, and the config files of a
// project or a plugin whose root it is.
func checkFolder(ctx context.Context, path string) ([]*definition, []hook.Diagnostic, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, []hook.Diagnostic{unreadable(path, err)}, nil
	}
	defer root.Close()
	files := configFiles{seen: make(map[string]bool)}
	for _, pattern := range dialect.ConfigFiles() {
		found, _ := fs.Glob(root.FS(), pattern) // the patterns are good
		for _, name := range found {
			files.add(root.FS(), path, name, "")
		}
	}
	scopes, notes := discovery.Scopes(discovery.Options{Without: ownScopes, Dirs: []string{path}})
	definitions, found, err := discovery.Walk(ctx, nil, scopes, nil, define)
	return append(definitions, files.definitions...), slices.Concat(notes, found, files.notes), err
}

// configFiles collects what config files declare.
type configFiles struct {
	definitions []*definition
	notes       []hook.Diagnostic
	seen        map[string]bool
}

// add reads a config file, and the hooks files that it points at. The file
// system is that of the folder, so that no link leads out of it.
func (c *configFiles) add(fsys fs.FS, folder, name, product string) {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if c.seen[path] {
		return
	}
	c.seen[path] = true
	data, err := readConfig(fsys, name)
	if err != nil {
		c.notes = append(c.notes, unreadable(path, err))
		return
	}
	root := filepath.FromSlash(dialect.PluginRoot(path))
	src := dialect.ConfigSource{Scope: hook.ScopeDir, Product: product, Source: hook.Source{Path: path, Root: root}}
	config := dialect.ReadConfig(src, data)
	c.definitions = append(c.definitions, &definition{path: path, hooks: config.Hooks, notes: config.Notes})
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
		c.add(plugin.FS(), root, ref.Path, ref.Product)
	}
}

// readConfig reads a regular file, and no more of it than a config file may
// have and one byte.
func readConfig(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := fsys.Open(name)
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

// ofMachine are the codes of handlers for what a machine or its settings lack and
// another may have, so that the definition is not wrong.
var ofMachine = []string{"cannot_start", "no_model", "plugin_missing",
	"http_url_not_allowed", "http_local_target", "http_proxy", "http_url_variable"}

// examine adds to a report what is wrong with one hook, whose file the caller of
// Check has named or which Open has loaded. Open told its matchers' problems.
func (r *Registry) examine(report *Report, e *entry, named bool) {
	if e.hook.State != hook.StateInvalid && hook.Info(e.event).Plain != hook.PlainResult {
		report.Hooks++
	}
	if named {
		report.Diagnostics = append(report.Diagnostics, e.problems()...)
	}
	note := func(sev hook.Severity, code, message, hint string) {
		report.Diagnostics = append(report.Diagnostics, hook.Diagnostic{Severity: sev, Code: code, Hook: e.hook.ID,
			Path: e.hook.Source.Path, Line: e.hook.Source.Line, Message: message, Hint: hint})
	}
	s, notes := r.outlook(e, nil)
	if hook.HasErrors(notes) || s.state == hook.StateUnsupported {
		report.Unable++
	}
	for _, d := range notes {
		if named && slices.Contains(ofMachine, d.Code) {
			d.Severity = hook.SeverityWarning
		}
		report.Diagnostics = append(report.Diagnostics, d)
	}
	severity, consequence := hook.SeverityWarning, ""
	if e.refuses(s) {
		severity, consequence = hook.SeverityError, fmt.Sprintf(" and blocks every %s that it concerns", e.event)
	}
	switch {
	case s.state == hook.StateInvalid && e.state == hook.StateReady && len(e.matcher.Problems()) == 0 && e.noRule == nil && len(notes) == 0:
		note(hook.SeverityError, "matcher_invalid", s.why, s.hint)
	case s.state == hook.StateUnsupported, s.state == hook.StateUntrusted, s.state == hook.StateIneligible && len(notes) == 0:
		note(severity, string(s.state), "it cannot run"+consequence+": "+s.why, s.hint)
	}
}

// projectOf is the root of the project that a file declares hooks for: the folder
// around the folder in which a product keeps its files. It is "" for a file of the
// home directory: its hooks run in each session's project.
func (r *Registry) projectOf(path string) string {
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if !strings.HasPrefix(filepath.Base(dir), ".") {
			continue
		}
		if root := filepath.Dir(dir); root != filepath.Clean(r.home) {
			return root
		}
		return ""
	}
	return ""
}

func reasonOf(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
