package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/recording"
	"github.com/tenterhook/tenterhook/journal"
	"github.com/tenterhook/tenterhook/registry"
)

// The bounds beyond which doctor complains about a hook's runs.
const (
	doctorSince   = 7 * 24 * time.Hour
	doctorRecent  = 24 * time.Hour // in which a hook got slow
	failedInARow  = 5
	slowMS        = 2000
	slowerTimes   = 3   // than before
	slowerMS      = 100 // at least
	slowerRuns    = 20  // before and since
	unmatchedFrom = 50  // events without a match
)

// journalExam asks the journal about hooks.
type journalExam struct {
	j        *journal.Journal
	root     string
	list     []registry.Listed
	problems []problem
}

func (e *journalExam) say(s hook.Severity, code, subject, message, hint string) {
	e.problems = append(e.problems, problem{Severity: s, Code: code, Subject: subject, Message: message, Hint: hint})
}

// examineJournal says which hooks fail, are slow or never match, and what was
// lost.
func (a *app) examineJournal(ctx context.Context, reg *registry.Registry, list []registry.Listed) []problem {
	e := &journalExam{root: reg.Workspace(), list: list}
	err := a.withJournal(ctx, func(j *journal.Journal) error {
		e.j = j
		if err := j.Check(ctx); err != nil {
			return err
		}
		return errors.Join(e.losses(ctx), e.runs(ctx), e.unmatched(ctx))
	})
	switch {
	case errors.Is(err, journal.ErrNewer):
		e.say(hook.SeverityWarning, "journal_newer", "journal", err.Error(), "upgrade tenterhook; until then, runs wait in the spool")
	case err != nil: // what it says of hooks is not known
		message, hint := err.Error(), a.journalHint(err)
		if l := (*located)(nil); errors.As(err, &l) {
			message, hint = l.message, l.hint
		}
		e.say(hook.SeverityError, "journal", "journal", message, hint)
	}
	dir := recording.Dir(a.stateDir())
	aside, _ := filepath.Glob(filepath.Join(journal.GlobEscape(dir), journal.AsideGlob))
	for _, path := range aside {
		e.say(hook.SeverityWarning, "journal_damaged", "journal", "a damaged journal was set aside: "+path, "remove it if it is not needed")
	}
	return e.problems
}

func (e *journalExam) losses(ctx context.Context) error {
	l, err := e.j.Losses(ctx)
	if err == nil && l.Dropped+l.Damaged > 0 {
		e.say(hook.SeverityWarning, "journal_lost", "journal", lossWords(l), "look for a full disk, or hooks that run very often")
	}
	return err
}

// runs says which hooks always fail, are slow, or got slow.
func (e *journalExam) runs(ctx context.Context) error {
	now := time.Now()
	stats, err := e.j.Stats(ctx, "", now.Add(-doctorSince))
	if err != nil {
		return err
	}
	before, err := e.j.StatsBetween(ctx, "", now.Add(-doctorSince), now.Add(-doctorRecent))
	if err != nil {
		return err
	}
	recent, err := e.j.Stats(ctx, "", now.Add(-doctorRecent))
	if err != nil {
		return err
	}
	for _, s := range stats {
		path, last, err := e.last(ctx, s.Hook)
		if err != nil {
			return err
		}
		if len(last) == 0 || !e.exists(s.Hook, path) {
			continue // it was removed
		}
		found := len(e.problems)
		if len(last) == failedInARow && !slices.ContainsFunc(last, func(l journal.Line) bool { return l.Failure == "" }) {
			newest := last[max(slices.IndexFunc(last, func(l journal.Line) bool { return l.Failure != hook.FailureBreakerOpen }), 0)]
			e.say(hook.SeverityError, "always_fails", s.Hook, fmt.Sprintf("its last %d runs failed; the newest (%s): %s", failedInARow, newest.Failure, newest.Reason),
				cmp.Or(newest.Hint, "tenterhook show "+newest.Run))
		}
		const faster = "make it faster, or a worker, or set async = true if its answer is not needed at once"
		was, is := statsOf(before, s.Hook), statsOf(recent, s.Hook)
		switch {
		case was.Runs >= slowerRuns && is.Runs >= slowerRuns && is.P95MS >= slowerTimes*was.P95MS && is.P95MS >= was.P95MS+slowerMS:
			e.say(hook.SeverityWarning, "got_slow", s.Hook, fmt.Sprintf("one run in twenty took longer than %s in the last day, and than %s in the week before",
				duration(is.P95MS), duration(was.P95MS)), faster)
		case s.P95MS > slowMS:
			e.say(hook.SeverityWarning, "slow", s.Hook, fmt.Sprintf("one run in twenty takes longer than %s", duration(s.P95MS)), faster)
		}
		for i := range e.problems[found:] {
			e.problems[found+i].path = path
		}
	}
	return nil
}

func statsOf(all []journal.HookStats, id string) journal.HookStats {
	for _, s := range all {
		if s.Hook == id {
			return s
		}
	}
	return journal.HookStats{}
}

func duration(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// last are the newest runs of a hook, and the file that declares it: of the one
// that is loaded, if one of this name is.
func (e *journalExam) last(ctx context.Context, id string) (path string, last []journal.Line, err error) {
	lines, err := e.j.Log(ctx, journal.Filter{Hook: id, Limit: 20 * failedInARow})
	if err != nil || len(lines) == 0 {
		return "", nil, err
	}
	fileOf := func(l journal.Line) string {
		if i := strings.LastIndexByte(l.Source, ':'); i >= 0 {
			return l.Source[:i]
		}
		return ""
	}
	path = fileOf(lines[0])
	for _, l := range e.list {
		if l.Hook.ID == id {
			path = l.Hook.Source.Path
		}
	}
	lines = slices.DeleteFunc(lines, func(l journal.Line) bool { return fileOf(l) != path })
	return path, lines[:min(len(lines), failedInARow)], nil
}

// exists reports whether a hook is loaded, or its file is still there.
func (e *journalExam) exists(id, path string) bool {
	if slices.ContainsFunc(e.list, func(l registry.Listed) bool { return l.Hook.ID == id }) {
		return true
	}
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// unmatched says which hooks no event concerned, though there were many.
func (e *journalExam) unmatched(ctx context.Context) error {
	for _, l := range e.list {
		h := l.Hook
		info, err := os.Stat(h.Source.Path)
		if err != nil || l.State != hook.StateReady || h.Matcher == "" && len(h.If) == 0 {
			continue
		}
		since := time.Now().Add(-doctorSince)
		if info.ModTime().After(since) {
			since = info.ModTime() // it may have matched nothing else before
		}
		root := e.root
		if h.Scope == hook.ScopeUser || h.Scope == hook.ScopeManaged {
			root = ""
		}
		n, err := e.j.Dispatches(ctx, h.Event, root, since, unmatchedFrom)
		if err != nil {
			return err
		}
		had, err := e.j.Concerned(ctx, h.ID, since)
		if err != nil {
			return err
		}
		if n >= unmatchedFrom && !had {
			e.problems = append(e.problems, problem{Severity: hook.SeverityInfo, Code: "never_matches", Subject: h.ID,
				Message: fmt.Sprintf("none of %d events %s since %s concerned it", n, h.Event, since.Format(time.DateOnly)),
				Hint:    "tenterhook why " + string(h.Event) + " … says what it waits for", path: h.Source.Path, line: h.Source.Line})
		}
	}
	return nil
}

func lossWords(l journal.Losses) string {
	return fmt.Sprintf("%s dropped and %s damaged since the journal began", was(l.Dropped, "record"), was(l.Damaged, "line"))
}

func was(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}
