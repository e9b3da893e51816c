package registry

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
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
				e := r.prepare(&r.snap.Load().policy, h)
				e.project = r.projectOf(d.Path)
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
