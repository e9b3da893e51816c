package hooktest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hooktest"
)

const head = "It holds.\n\nRule: tenterhook: so it is.\n\n"

func TestCaseSaysWhatHoldsWhyAndWhatComesOfIt(t *testing.T) {
	c, err := hooktest.ParseCase("x", []byte(`It holds
everywhere.

Differs: the client does not.

Unix: Windows has no such thing.

Rule: tenterhook: so
it is.
-- hooks/a/HOOK.md --
text
-- project/sub/file --
-- options.json --
{"serial": true}
-- schema.json --
{}
-- event1.json --
{"hook_event_name": "Stop"}
-- outcome2.json --
{"verdict": "deny"}
-- event3.json --
{"hook_event_name": "Setup"}
-- selection3.json --
{"selected": []}
-- after/project/log --
a
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &hooktest.Case{Name: "x", Prose: "It holds everywhere.", Rule: "tenterhook: so it is.", Differs: "the client does not.", Unix: "Windows has no such thing.",
		Files:   map[string][]byte{"hooks/a/HOOK.md": []byte("text\n"), "project/sub/file": {}},
		After:   map[string][]byte{"project/log": []byte("a\n")},
		Options: hooktest.Options{Serial: true}, Schema: []byte("{}\n"),
		Steps: []hooktest.Step{
			{Event: []byte(`{"hook_event_name": "Stop"}`), Fire: true},
			{Event: []byte(`{"hook_event_name": "Stop"}`), Fire: true, Outcome: map[string]any{"verdict": "deny"}},
			{Event: []byte(`{"hook_event_name": "Setup"}`), Fire: true, Selection: map[string]any{"selected": []any{}}},
		}}
	if diff := cmp.Diff(want, c, cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{".options", ".archive", ".nothing"}, p.Last().String())
	}, cmp.Ignore())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCaseThatIsWrongIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"without an event":      {head + "-- outcome.json --\n{}\n", "no event.json"},
		"event that is no JSON": {head + "-- event.json --\n{\n-- outcome.json --\n{}\n", "not JSON"},
		"outcome that is none":  {head + "-- event.json --\n{}\n-- outcome.json --\n[]\n", "want an object"},
		"misspelt key":          {head + "-- event.json --\n{}\n-- outcome.json --\n{\"verdcit\": \"deny\"}\n", `no key "verdcit"`},
		"misspelt inner key":    {head + "-- event.json --\n{}\n-- outcome.json --\n{\"results\": {\"contains\": {\"hok\": \"a\"}}}\n", `no key "hok"`},
		"misspelt option":       {head + "-- event.json --\n{}\n-- outcome.json --\n{}\n-- options.json --\n{\"seral\": true}\n", "seral"},
		"unknown file":          {head + "-- event.json --\n{}\n-- outcome.json --\n{}\n-- notes.txt --\n", "notes.txt"},
		"file outside":          {head + "-- event.json --\n{}\n-- outcome.json --\n{}\n-- project/../../x --\n", "no such file"},
		"file that is there twice": {
			head + "-- event.json --\n{}\n-- outcome.json --\n{}\n-- project/a --\n-- project/a --\n", "twice"},
		"too many events": {head + "-- event.json --\n{}\n-- outcome999.json --\n{}\n", "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hooktest.ParseCase("x", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// stub is an engine that answers every event with the same words.
type stub struct {
	selection, outcome, background string
	open, fail                     error
}

func (s stub) Open(context.Context, hooktest.Setup) (hooktest.Session, error) { return s, s.open }
func (s stub) Select(context.Context, []byte) ([]byte, error)                 { return []byte(s.selection), s.fail }
func (s stub) Dispatch(context.Context, []byte) ([]byte, error)               { return []byte(s.outcome), s.fail }
func (s stub) Close() ([]byte, error)                                         { return []byte(s.background), nil }

func TestEngineThatIsWrongIsCaught(t *testing.T) {
	c, err := hooktest.ParseCase("x", []byte(head+`-- project/log --
old
-- event.json --
{"cwd": "$WORK"}
-- outcome.json --
{"verdict": "deny", "reason": "in $WORK", "stop": false}
-- selection.json --
{"selected": [{"hook": "a"}]}
-- background.json --
[{"hook": "a"}]
-- after/project/log --
old
`))
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	good := stub{`{"selected": [{"hook": "a", "by": "x"}]}`, `{"verdict": "deny", "reason": "in ` + filepath.ToSlash(work) + `/project"}`, `[{"hook": "a"}]`, nil, nil}
	change := func(f func(*stub)) stub { s := good; f(&s); return s }
	for name, tt := range map[string]struct {
		engine stub
		want   string // "" = conforms
	}{
		"right":               {good, ""},
		"verdict":             {change(func(s *stub) { s.outcome = `{"verdict": "allow"}` }), `outcome.verdict: want "deny", got "allow"`},
		"no JSON":             {change(func(s *stub) { s.outcome = "panic" }), "not JSON"},
		"selection":           {change(func(s *stub) { s.selection = `{"selected": []}` }), "selection.selected: want"},
		"background":          {change(func(s *stub) { s.background = `[]` }), "background: want"},
		"error":               {change(func(s *stub) { s.fail = errors.New("broken") }), "dispatch: broken"},
		"cannot open":         {change(func(s *stub) { s.open = errors.New("locked") }), "open: locked"},
		"has no such option":  {change(func(s *stub) { s.open = errors.ErrUnsupported }), "unsupported"},
		"reason of elsewhere": {change(func(s *stub) { s.outcome = `{"verdict": "deny", "reason": "in $WORK"}` }), "outcome.reason"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Check(t.Context(), tt.engine, work)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCaseThatExpectsNothingDoesNotHoldAndCanBeUpdated(t *testing.T) {
	c, err := hooktest.ParseCase("x", []byte("-- event.json --\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Try(t.Context(), stub{outcome: `{"event": "Stop", "verdict": "deny", "reason": "no", "results": [{"hook": "a", "elapsed_ms": 3}]}`}, t.TempDir())
	if err != nil || len(r.Differences) != 1 || !strings.Contains(r.Differences[0], "expects nothing: add an outcome.json") {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := "-- event.json --\n{}\n-- outcome.json --\n{\"verdict\": \"deny\", \"reason\": \"no\"}\n"; string(r.Updated) != want {
		t.Errorf("got %s", r.Updated)
	}
}

// What holds stays as it is written, and folders have their names again.
func TestUpdateChangesOnlyWhatDoesNotHold(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := stub{`{"selected": [{"hook": "b"}]}`, `{"event": "Stop", "verdict": "deny", "reason": "in ` + filepath.ToSlash(work) + `/project, not $HOME",
		"context": ["` + filepath.ToSlash(work) + `/hooks2/x"], "results": [{"hook": "a", "status": "failed", "elapsed_ms": 1.5}, {"hook": "b", "status": "success"}]}`,
		`[{"hook": "a", "status": "failed"}]`, nil, nil}
	text := head + `-- hooks2/x --
-- project/log --
new
-- event1.json --
{}
-- event2.json --
{}
-- outcome2.json --
{"reason": "in $WORK", "verdict": {"contains": "den"}, "stop": true, "context": {"contains": ["y"]}, "results": {"contains": {"hook": "c"}}}
-- selection2.json --
{"selected": [{"hook": "a"}]}
-- background.json --
[{"hook": "a", "status": "success"}]
-- after/project/log --
old
`
	c, err := hooktest.ParseCase("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Try(t.Context(), got, work)
	if err != nil {
		t.Fatal(err)
	}
	want := head + `-- hooks2/x --
-- project/log --
new
-- event1.json --
{}
-- event2.json --
{}
-- outcome2.json --
{
  "verdict": {"contains": "den"},
  "reason": {"contains": "in $WORK, not "},
  "stop": null,
  "context": ["$DIR2/x"],
  "results": [{"hook": "a", "status": "failed"}, {"hook": "b", "status": "success"}]
}
-- selection2.json --
{"selected": [{"hook": "b"}]}
-- background.json --
[{"hook": "a", "status": "failed"}]
-- after/project/log --
new
`
	if diff := cmp.Diff(want, string(r.Updated)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	again, err := hooktest.ParseCase("x", r.Updated)
	if err != nil {
		t.Fatal(err)
	}
	work2, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got.outcome = strings.ReplaceAll(got.outcome, filepath.ToSlash(work), filepath.ToSlash(work2))
	if r, err = again.Try(t.Context(), got, work2); err != nil || len(r.Differences) > 0 || r.Updated != nil {
		t.Errorf("what was updated does not hold: %v %v", r.Differences, err)
	}
}

func FuzzParseCase(f *testing.F) {
	f.Add([]byte(head + "-- event.json --\n{}\n-- outcome3.json --\n{\"results\": [{\"reason\": {\"contains\": \"x\"}}]}\n"))
	f.Add([]byte(head + "-- hooks/a/HOOK.md --\n-- selection.json --\n{}\n-- background.json --\n[]\n"))
	f.Add([]byte(head + "\n-- --"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := hooktest.ParseCase("x", data)
		if err != nil {
			return
		}
		if len(c.Steps) == 0 {
			t.Errorf("a case without an event: %+v", c)
		}
		for _, s := range c.Steps {
			if len(s.Event) == 0 {
				t.Error("a step without an event")
			}
		}
	})
}
