package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
)

// recordCase makes a case of a recorded run, for one of its hooks.
func (a *app) recordCase(ctx context.Context, f testFlags, args []string) error {
	if len(args) > 1 {
		return &located{"usage", "--record makes the case of one hook", "give one ID"}
	}
	o, err := a.journalOptions(ctx)
	if err != nil {
		return err
	}
	mask, err := journal.Mask(o.Redact, os.Environ())
	if err != nil {
		return err
	}
	var e *journal.Entry
	err = a.withJournal(ctx, func(j *journal.Journal) (err error) {
		if e, err = j.Run(ctx, f.record); errors.Is(err, journal.ErrNoRun) {
			return &located{"unknown_run", err.Error(), "'tenterhook log' lists runs"}
		}
		return err
	})
	if err != nil {
		return err
	}
	if e.Payload == nil {
		return &located{"no_event", fmt.Sprintf("the event of run %s was not recorded", e.Run), cmp.Or(e.Omitted, `set record = "full" under [journal]`)}
	}
	h, result, err := a.recordedHook(ctx, e, args)
	if err != nil {
		return err
	}
	c, err := caseOf(e, result, h.name, mask)
	if err != nil {
		return err
	}
	file := casesName + "/" + caseName(e) + caseSuffix
	path := filepath.Join(h.dir, filepath.FromSlash(file))
	if _, err := os.Lstat(path); err == nil {
		return &located{"exists", path + " exists", "remove it to record the run again"}
	}
	differences := a.tryRecorded(ctx, h, c) // before the write, which ends an approval
	if err := writeCase(h.dir, file, c.text); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"hook": h.id, "run": e.Run, "path": path, "masked": c.masked, "differences": orEmpty(differences)})
	}
	a.printRecorded(h, path, c, differences)
	return nil
}

// recordedHook is the hook of a run that a case is made for.
func (a *app) recordedHook(ctx context.Context, e *journal.Entry, args []string) (*testedHook, *journal.Result, error) {
	loaded, err := a.testedHooks(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	var found []*testedHook
	var ids []string
	for _, h := range loaded {
		asked := slices.ContainsFunc(e.Results, func(r journal.Result) bool { return r.Hook == h.id })
		if asked && (len(args) == 0 || args[0] == h.id) {
			found, ids = append(found, h), append(ids, h.id)
		}
	}
	switch {
	case len(found) > 1 && len(args) == 0:
		return nil, nil, &located{"usage", fmt.Sprintf("run %s concerns several hooks: %s", e.Run, strings.Join(ids, ", ")), "name one behind --record " + e.Run}
	case len(found) == 0 && len(args) > 0:
		return nil, nil, &located{"unknown_hook", fmt.Sprintf("run %s has no result of %s, or that hook is not loaded any more or has no folder", e.Run, args[0]),
			"'tenterhook show " + e.Run + "' lists its hooks"}
	case len(found) == 0:
		return nil, nil, &located{"unknown_hook", fmt.Sprintf("no hook of run %s is loaded and has a folder", e.Run), "'tenterhook show " + e.Run + "' lists its hooks"}
	}
	i := slices.IndexFunc(e.Results, func(r journal.Result) bool { return r.Hook == found[0].id })
	return found[0], &e.Results[i], nil
}

// caseName is a file's name for a run: the event, the tool, and the run.
func caseName(e *journal.Entry) string {
	words := strings.FieldsFunc(strings.ToLower(string(e.Event)+" "+e.Tool), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := strings.Join(words, "-")
	return name[:min(len(name), 60)] + "-" + e.Run[:min(len(e.Run), 8)]
}

// recordedCase is a run as a case: its event, and what the hook did then.
type recordedCase struct {
	text   []byte
	masked int // secrets
}

// caseOf makes a case of a run for a hook of this name. What is a fact of one
// machine or one session gets a neutral name, and secrets are masked.
func caseOf(e *journal.Entry, r *journal.Result, name string, mask func(string) string) (*recordedCase, error) {
	dec := json.NewDecoder(bytes.NewReader(e.Payload))
	dec.UseNumber()
	var event map[string]any
	if err := dec.Decode(&event); err != nil {
		return nil, fmt.Errorf("the event of run %s: %w", e.Run, err)
	}
	delete(event, "transcript_path")
	for key, neutral := range map[string]string{"session_id": "s1", "tool_use_id": "t1"} {
		if _, ok := event[key]; ok {
			event[key] = neutral
		}
	}
	home := environ.Home(os.Getenv)
	p := portable{mask, [][2]string{{e.Workspace, "$WORK"}, {e.Cwd, "$WORK"}, {home, "$HOME"}}}
	line, err := p.json(event)
	if err != nil {
		return nil, err
	}
	file, expected := expectationOf(r, name, mask)
	expectation, err := plainJSON(expected)
	if err != nil {
		return nil, err
	}
	archive := &txtar.Archive{Comment: fmt.Appendf(nil, "Run %s of %s, as it was then.\n\n", e.Run, e.Time.Format(time.DateOnly)),
		Files: []txtar.File{{Name: "event.json", Data: line}, {Name: file, Data: expectation}}}
	return &recordedCase{txtar.Format(archive), bytes.Count(line, []byte("[masked]"))}, nil
}

// expectationOf states what a hook did, and in which file of a case.
func expectationOf(r *journal.Result, name string, mask func(string) string) (file string, expected any) {
	end := map[string]any{"hook": hook.ScopeDir.String() + "/" + name, "status": r.Status}
	if r.Failure != "" {
		end["failure"] = r.Failure
	}
	if r.Background {
		return "background.json", []any{end}
	}
	if r.Failure != "" || r.Status == hook.StatusSkipped {
		return "outcome.json", map[string]any{"results": []any{end}}
	}
	outcome := map[string]any{"verdict": r.Verdict}
	if r.Verdict != hook.NoOpinion && r.Reason != "" && mask(r.Reason) == r.Reason && !strings.ContainsAny(r.Reason, "$/…") {
		outcome["reason"] = r.Reason // one with a path would hold on this machine alone
	}
	return "outcome.json", outcome
}

// portable writes an event so that it means the same on another machine.
type portable struct {
	mask   func(string) string
	places [][2]string // a folder, and the name that a case has for it
}

// json writes a value on one line. A "$" of the event's own is escaped, since a
// case would take $HOME for its home.
func (p portable) json(v any) ([]byte, error) {
	text, err := plainJSON(p.value(v))
	text = bytes.ReplaceAll(text, []byte("$"), []byte(`\u0024`))
	return bytes.ReplaceAll(text, []byte(placeMark), []byte("$")), err
}

// placeMark stands for the "$" of a place until all others are escaped. It is no
// character that JSON text has.
const placeMark = "\uFFFF"

func (p portable) value(v any) any {
	switch v := v.(type) {
	case string:
		return p.text(v)
	case []any:
		for i := range v {
			v[i] = p.value(v[i])
		}
	case map[string]any:
		made := make(map[string]any, len(v))
		for key, value := range v {
			made[p.mask(key)] = p.value(value)
		}
		return made
	}
	return v
}

func (p portable) text(s string) string {
	s = strings.ReplaceAll(p.mask(s), placeMark, "\uFFFD")
	for _, place := range p.places {
		dir, name := strings.TrimRight(place[0], "/"), placeMark+place[1][1:]
		if dir == "" {
			continue
		}
		rest := s
		s = ""
		for {
			before, after, found := strings.Cut(rest, dir)
			s += before
			if !found {
				break
			}
			if after == "" || !isNamePart(after[0]) {
				s += name
			} else {
				s += dir
			}
			rest = after
		}
	}
	return s
}

// isNamePart reports whether a byte continues with the name of a folder before it.
func isNamePart(b byte) bool {
	return b >= 0x80 || b == '.' || b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// tryRecorded says how today's hook differs from what was recorded.
func (a *app) tryRecorded(ctx context.Context, h *testedHook, c *recordedCase) []string {
	if h.why != "" {
		return []string{"the hook was not asked: " + h.why}
	}
	b, err := newBench(false)
	if err != nil {
		return []string{err.Error()}
	}
	defer b.close()
	root, err := os.OpenRoot(h.runs)
	if err != nil {
		return []string{err.Error()}
	}
	defer root.Close()
	_, report, err := b.tryText(ctx, h, root, "recorded", c.text)
	if err != nil {
		return []string{err.Error()}
	}
	return report.Differences
}

func (a *app) printRecorded(h *testedHook, path string, c *recordedCase, differences []string) {
	style := a.styleOf(a.Out)
	fmt.Fprintf(a.Out, "wrote %s\n", phrase.Printable(path))
	if c.masked > 0 {
		fmt.Fprintf(a.Out, "%s in it: the hook sees [masked] there\n", phrase.Count(c.masked, "masked secret"))
	}
	fmt.Fprintln(a.Out, "read it before you share it: it holds what the event held")
	if len(differences) > 0 {
		fmt.Fprintln(a.Out, style.yellow("today the hook decides otherwise")+", so the case does not hold:")
		for _, d := range differences {
			fmt.Fprintln(a.Out, "  "+strings.ReplaceAll(phrase.Printable(d), "\n", "\n  "))
		}
	}
	if h.needsApproval() {
		fmt.Fprintf(a.Out, "the cases of %s are a part of what is approved: tenterhook trust %s\n", oneLine(h.id), oneLine(h.id))
	}
}

// plainJSON writes a value on one line, "<" and the like as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
