package journal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

func TestEntriesComeInOrderWithTheirResults(t *testing.T) {
	ctx := context.Background()
	j, dir := filled(t, 7)
	var at journal.Position
	var seqs []int64
	read := func() (list []journal.Numbered) {
		t.Helper()
		list, next, err := j.Entries(ctx, at, 3)
		if err != nil {
			t.Fatal(err)
		}
		at = next
		return list
	}
	for list := read(); len(list) > 0; list = read() {
		for _, n := range list {
			if len(n.Results) != 1 || n.Results[0].Hook != "user/guard" || n.Run == "" {
				t.Errorf("%+v", n)
			}
			seqs = append(seqs, n.Seq)
		}
	}
	if fmt.Sprint(seqs) != "[1 2 3 4 5 6 7]" {
		t.Errorf("entries %v", seqs)
	}
	// What a background hook came to is part of a dispatch that was read long ago.
	background := hook.Record{Run: "rr", Time: time.Now(), Elapsed: time.Second, Event: hook.EventPreToolUse,
		Background: &hook.Result{Hook: &hook.Hook{ID: "user/audit"}, Status: hook.StatusSuccess, Elapsed: time.Second}}
	written(t, dir, background, dispatched("new"))
	if _, err := j.Ingest(ctx); err != nil {
		t.Fatal(err)
	}
	var got []string
	for list := read(); len(list) > 0; list = read() {
		for _, n := range list {
			got = append(got, fmt.Sprintf("%s of %s, %d", n.Results[0].Hook, n.Run, n.Seq))
		}
	}
	slices.Sort(got)
	if fmt.Sprint(got) != "[user/audit of rr, 2 user/guard of new, 8]" {
		t.Errorf("then %q", got)
	}
}

func TestACursorMovesForWhoeverSawItsState(t *testing.T) {
	ctx := context.Background()
	j, _ := filled(t, 1)
	for _, step := range []struct {
		sink, was, state string
		stored           bool
	}{{"a", "", "1", true}, {"a", "", "9", false}, {"b", "", "5", true}, {"a", "1", "2", true}, {"a", "1", "3", false}, {"a", "2", "2", true}} {
		if stored, err := j.SetCursor(ctx, step.sink, step.was, step.state); err != nil || stored != step.stored {
			t.Errorf("%+v: %v, %v", step, stored, err)
		}
	}
	for sink, want := range map[string]string{"a": "2", "b": "5", "c": ""} {
		if got, err := j.Cursor(ctx, sink); err != nil || got != want {
			t.Errorf("%s is at %q, %v; want %q", sink, got, err, want)
		}
	}
}

func dispatched(run string) hook.Record {
	return hook.Record{Run: run, Time: time.Now(), Event: hook.EventPreToolUse,
		Outcome: &hook.Outcome{Results: []hook.Result{{Hook: &hook.Hook{ID: "user/guard"}, Status: hook.StatusSuccess}}}}
}

func written(t *testing.T, dir string, records ...hook.Record) {
	t.Helper()
	r, err := journal.NewRecorder(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		r.Record(rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled is a journal with entries of one hook each, the runs r, rr, …
func filled(t *testing.T, n int) (*journal.Journal, string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		written(t, dir, dispatched(strings.Repeat("r", i+1)))
	}
	j, err := journal.Open(context.Background(), dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	if _, err := j.Ingest(context.Background()); err != nil {
		t.Fatal(err)
	}
	return j, dir
}

func TestTheTraceOfAnEventIsKeptWhereItIsOne(t *testing.T) {
	const of, another = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-1bf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	t.Setenv("TRACEPARENT", "")
	for name, c := range map[string]struct {
		payload string
		env     []string
		want    string
	}{
		"in the environment":         {`{}`, []string{"A=b", "TRACEPARENT=" + of}, of},
		"in the event":               {`{"traceparent":"` + of + `"}`, []string{"TRACEPARENT=" + another}, of},
		"a bad one in the event":     {`{"traceparent":"x"}`, []string{"TRACEPARENT=" + another}, another},
		"nowhere":                    {`{}`, []string{"A=b"}, ""},
		"deeper, in a tool's input":  {`{"tool_input":{"traceparent":"` + of + `"}}`, []string{}, ""},
		"no trace":                   {`{}`, []string{"TRACEPARENT=00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01"}, ""},
		"capitals":                   {`{}`, []string{"TRACEPARENT=" + strings.ToUpper(of)}, ""},
		"another version":            {`{}`, []string{"TRACEPARENT=ff" + of[2:]}, ""},
		"something behind it":        {`{}`, []string{"TRACEPARENT=" + of + "-x"}, ""},
		"an event that is no object": {`["traceparent"]`, []string{}, ""},
	} {
		dir := t.TempDir()
		r, err := journal.NewRecorder(dir, journal.Options{Level: journal.LevelResults})
		if err != nil {
			t.Fatal(err)
		}
		r.Record(hook.Record{Run: "r", Time: time.Now(), Event: hook.EventStop, Payload: []byte(c.payload), Env: c.env, Outcome: &hook.Outcome{}})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(t.Context(), dir, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Ingest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e, err := j.Run(t.Context(), "r"); err != nil || e.Trace != c.want {
			t.Errorf("%s: %q, %v; want %q", name, e.Trace, err, c.want)
		}
		_ = j.Close()
	}
}
