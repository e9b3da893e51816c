package registry

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/selection"
)

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
	bare.Without, bare.Dirs = load.OwnScopes, nil
	r, err := Open(ctx, bare)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Workspace: r.Workspace()}
	for _, path := range paths {
		definitions, notes, err := load.At(ctx, path)
		if err != nil {
			return nil, err
		}
		report.Diagnostics = append(report.Diagnostics, notes...)
		for _, d := range definitions {
			report.Files++
			report.Diagnostics = append(report.Diagnostics, d.Notes...)
			for _, h := range d.Hooks {
				e := r.hooks.Prepare(&r.hooks.Snap.Load().Policy, h)
				e.Project = r.projectOf(d.Path)
				r.examine(report, e, true)
			}
		}
	}
	report.Diagnostics = selection.Once(report.Diagnostics)
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
	for _, e := range r.hooks.Snap.Load().Generation.Entries {
		if !slices.Contains(files, e.Hook.Source.Path) {
			files = append(files, e.Hook.Source.Path)
		}
		r.examine(report, e, false)
	}
	report.Files, report.Diagnostics = len(files), selection.Once(report.Diagnostics)
	return report, nil
}

// ofMachine are the codes of handlers for what a machine or its settings lack and
// another may have, so that the definition is not wrong.
var ofMachine = []string{"cannot_start", "no_model", "plugin_missing",
	"http_url_not_allowed", "http_local_target", "http_proxy", "http_url_variable"}

// examine adds to a report what is wrong with one hook, whose file the caller of
// Check has named or which Open has loaded. Open told its matchers' problems.
func (r *Registry) examine(report *Report, e *selection.Entry, named bool) {
	if e.Hook.State != hook.StateInvalid && hook.Info(e.Event).Plain != hook.PlainResult {
		report.Hooks++
	}
	if named {
		report.Diagnostics = append(report.Diagnostics, e.Problems()...)
	}
	note := func(sev hook.Severity, code, message, hint string) {
		report.Diagnostics = append(report.Diagnostics, hook.Diagnostic{Severity: sev, Code: code, Hook: e.Hook.ID,
			Path: e.Hook.Source.Path, Line: e.Hook.Source.Line, Message: message, Hint: hint})
	}
	s, notes := r.hooks.Outlook(e, nil)
	if hook.HasErrors(notes) || s.State == hook.StateUnsupported {
		report.Unable++
	}
	for _, d := range notes {
		if named && slices.Contains(ofMachine, d.Code) {
			d.Severity = hook.SeverityWarning
		}
		report.Diagnostics = append(report.Diagnostics, d)
	}
	severity, consequence := hook.SeverityWarning, ""
	if e.Refuses(s) {
		severity, consequence = hook.SeverityError, fmt.Sprintf(" and blocks every %s that it concerns", e.Event)
	}
	switch {
	case s.State == hook.StateInvalid && e.State == hook.StateReady && len(e.Matcher.Problems()) == 0 && e.NoRule == nil && len(notes) == 0:
		note(hook.SeverityError, "matcher_invalid", s.Why, s.Hint)
	case s.State == hook.StateUnsupported, s.State == hook.StateUntrusted, s.State == hook.StateIneligible && len(notes) == 0:
		note(severity, string(s.State), "it cannot run"+consequence+": "+s.Why, s.Hint)
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
		if root := filepath.Dir(dir); root != filepath.Clean(r.hooks.Home) {
			return root
		}
		return ""
	}
	return ""
}
