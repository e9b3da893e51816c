package hooktest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/hook"
)

// firedIn are the events that cases fire, sorted.
func firedIn(t *testing.T, pattern string) (events []hook.Event) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "conformance", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			var in struct {
				Event hook.Event `json:"hook_event_name"`
			}
			if strings.HasPrefix(f.Name, "event") && json.Unmarshal(f.Data, &in) == nil {
				events = append(events, in.Event)
			}
		}
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// A case that says of itself that it is about every event of a kind has each of
// them, so that one that comes to the table comes to the case.
func TestCasesAboutEveryEventHaveEachOfTheTable(t *testing.T) {
	for pattern, about := range map[string]func(*hook.EventInfo) bool{
		"matcher-*.txtar": func(e *hook.EventInfo) bool { return e.MatcherField != "" },
		"exit-2-fails-the-hook-where-nothing-can-be-blocked.txtar":  func(e *hook.EventInfo) bool { return e.Block == hook.BlockNothing },
		"on-failure-block-on-every-event-that-can-be-blocked.txtar": func(e *hook.EventInfo) bool { return e.Block != hook.BlockNothing && !e.NoPolicy },
	} {
		var want []hook.Event
		for _, e := range hook.Events() {
			if about(&e) {
				want = append(want, e.Event)
			}
		}
		slices.Sort(want)
		got := firedIn(t, pattern)
		if strings.Contains(pattern, "*") { // some of a family say what is not so
			got = slices.DeleteFunc(got, func(e hook.Event) bool { return !slices.Contains(want, e) })
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", pattern, diff)
		}
	}
}
