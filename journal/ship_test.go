package journal_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// line is a dispatch of some hooks, or what one of them said later.
func line(run string, at time.Time, background bool, hooks ...string) hook.Record {
	rec := hook.Record{Run: run, Time: at, Event: hook.EventStop, Payload: []byte(`{"a":1}`)}
	var results []hook.Result
	for _, id := range hooks {
		results = append(results, hook.Result{Hook: &hook.Hook{ID: id}, Status: hook.StatusSuccess, Elapsed: time.Millisecond})
	}
	if background {
		rec.Background, rec.Payload = &results[0], nil
	} else {
		rec.Outcome = &hook.Outcome{Results: results}
	}
	return rec
}

func kept(t *testing.T, o journal.Options, lines ...hook.Record) *journal.Journal {
	t.Helper()
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	add(t, dir, j, lines...)
	return j
}

func add(t *testing.T, dir string, j *journal.Journal, lines ...hook.Record) {
	t.Helper()
	r, err := journal.NewRecorder(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		r.Record(l)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Ingest(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestEveryLineIsARecordWithItsOwnNumber(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	j := kept(t, journal.Options{}, line("one", now, false, "a", "b"), line("two", now, false), line("one", now.Add(time.Second), true, "late"), line("three", now, false, "c"))
	var got []string
	for after, n := int64(0), 1; n > 0; {
		list, err := j.Records(t.Context(), after, 2, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			var e journal.Entry
			if err := json.Unmarshal(r.Body, &e); err != nil {
				t.Fatalf("record %d: %v\n%s", r.Seq, err, r.Body)
			}
			text := fmt.Sprintf("%d %s payload=%s", r.Seq, e.Run, e.Payload)
			for _, result := range e.Results {
				text += " " + result.Hook
			}
			if e.Run == "one" && r.Seq == 3 && !e.Time.Equal(now.Add(time.Second)) {
				t.Errorf("the late result has the time %v", e.Time)
			}
			got = append(got, text)
			after = r.Seq
		}
		n = len(list)
	}
	want := []string{`1 one payload={"a":1} a b`, `2 two payload={"a":1}`, `3 one payload= late`, `4 three payload={"a":1} c`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if s, last, err := j.Shipped(t.Context()); s != (journal.Shipped{}) || last != 4 || err != nil {
		t.Errorf("shipped %+v of %d, %v", s, last, err)
	}
	if list, err := j.Records(t.Context(), 0, 10, 1); err != nil || len(list) != 1 {
		t.Errorf("%d records in one byte, %v", len(list), err)
	}
}

// A machine that could not ship for long loses nothing, as long as there is room.
func TestWhatWasNotShippedOutlivesItsAge(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), dir, journal.Options{Keep: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	at, err := j.BeginShipping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at, _, err = j.Advance(t.Context(), at, 1); err != nil {
		t.Fatal(err)
	}
	add(t, dir, j, line("shipped", old, false, "a"), line("waits", old, false, "a"), line("young", time.Now(), false, "a"))
	runs := func() string {
		t.Helper()
		list, err := j.Records(t.Context(), 0, 10, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var seqs []int64
		for _, r := range list {
			seqs = append(seqs, r.Seq)
		}
		return fmt.Sprint(seqs)
	}
	if got := runs(); got != "[2 3]" {
		t.Errorf("there are %s, want 2, which was not shipped, and 3, which is young", got)
	}
	before := at
	at, noted, err := j.Advance(t.Context(), at, 2)
	if !noted || err != nil {
		t.Fatal(noted, err)
	}
	if _, noted, err := j.Advance(t.Context(), before, 3); noted || err != nil {
		t.Errorf("a shipper that was overtaken noted its number: %v", err)
	}
	add(t, dir, j, line("more", time.Now(), false, "a"))
	if got := runs(); got != "[3 4]" {
		t.Errorf("there are %s, want 3 and 4", got)
	}
	if again, err := j.BeginShipping(t.Context()); again != at || err != nil {
		t.Errorf("it goes on at %v, want %v; %v", again, at, err)
	}
}
