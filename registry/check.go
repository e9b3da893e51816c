package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenterhook/tenterhook/discovery"
	"github.com/tenterhook/tenterhook/hook"
)

// ownScopes are the scopes that nobody has to name.
var ownScopes = []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopeProject, hook.ScopePlugin}

// Report is what Check found.
type Report struct {
	Files       int // definitions that were read
	Hooks       int // (handler, event) pairs that load
	Diagnostics []hook.Diagnostic
}

// Check reads definitions without running anything, and tells all that is
// wrong with them, matchers that do not compile and programs that are not there
// included. A path is a HOOK.md, the folder of one, or a folder of such
// folders; without paths it is everything that Open loads.
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
	report := &Report{}
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
				r.examine(report, r.prepare(h), true)
			}
		}
	}
	return report, nil
}

func checkScopes(ctx context.Context, opts Options) (*Report, error) {
	r, err := Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Diagnostics: r.Diagnostics()}
	var files []string
	for _, e := range r.loaded {
		if !slices.Contains(files, e.hook.Source.Path) {
			files = append(files, e.hook.Source.Path)
		}
		r.examine(report, e, false)
	}
	report.Files = len(files)
	return report, nil
}

// checkPath finds the definitions that a path means.
func checkPath(ctx context.Context, path string) ([]definition, []hook.Diagnostic, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, []hook.Diagnostic{{Severity: hook.SeverityError, Code: "unreadable", Path: path,
			Message: "it cannot be read: " + reasonOf(err), Hint: "check the path"}}, nil
	}
	if info.IsDir() {
		manifestPath := filepath.Join(path, "HOOK.md")
		if _, err := os.Lstat(manifestPath); err != nil {
			scopes, notes := discovery.Scopes(discovery.Options{Without: ownScopes, Dirs: []string{path}})
			definitions, found, err := discovery.Walk(ctx, nil, scopes, define)
			return definitions, append(notes, found...), err
		}
		path = manifestPath
	}
	f := discovery.File(nil, path)
	d := define(&f)
	if f.Problem != nil {
		d.notes = append(d.notes, *f.Problem)
	}
	return []definition{d}, nil, nil
}

// examine adds to a report what is wrong with one hook.
func (r *Registry) examine(report *Report, e *entry, withMatcher bool) {
	if e.state != hook.StateInvalid {
		report.Hooks++
	}
	if withMatcher {
		report.Diagnostics = append(report.Diagnostics, e.problems()...)
	}
	note := func(sev hook.Severity, code, message, hint string) {
		report.Diagnostics = append(report.Diagnostics, hook.Diagnostic{Severity: sev, Code: code, Hook: e.hook.ID,
			Path: e.hook.Source.Path, Line: e.hook.Source.Line, Message: message, Hint: hint})
	}
	if err := e.matcher.Valid(); err != nil && len(e.matcher.Problems()) == 0 {
		note(hook.SeverityError, "matcher_invalid", err.Error(), "matchers are names, lists of names, or JavaScript regular expressions")
	}
	if v := e.check.Verdict(); !v.Eligible {
		note(hook.SeverityWarning, "ineligible", v.Why, v.Hint)
	}
	if e.state == hook.StateUnsupported {
		note(hook.SeverityWarning, "unsupported", fmt.Sprintf("it cannot run here: %s", e.why), "")
	}
	if checker, ok := e.handler.(hook.Checker); ok && e.state == hook.StateReady {
		report.Diagnostics = append(report.Diagnostics, checker.Check(e.hook)...)
	}
}

func reasonOf(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
