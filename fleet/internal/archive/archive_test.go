package archive_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/journal"
)

func begun(t *testing.T) *archive.Archive {
	t.Helper()
	a, err := archive.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// records is a message with records of these numbers, each of a run of its own.
func records(machine, runs string, first int, seqs ...int) archive.Message {
	m := archive.Message{Subject: "audit." + machine + ".j1", First: fmt.Sprint(first), Received: time.Now()}
	for _, seq := range seqs {
		m.Body = fmt.Appendf(m.Body, `%d {"run":"%s%d","time":"2026-01-02T03:04:05Z","event":"PreToolUse","tool":"Bash","verdict":"deny","elapsed_ms":1,`+
			`"results":[{"hook":"managed/guard","status":"blocked","verdict":"deny","failure":"","reason":"no","exit_code":null,"elapsed_ms":%d,"stderr":""}]}`+"\n", seq, runs, seq, seq)
	}
	return m
}

func add(t *testing.T, a *archive.Archive, messages ...archive.Message) archive.Added {
	t.Helper()
	added, err := a.Add(t.Context(), messages)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func gaps(t *testing.T, a *archive.Archive) (list []string) {
	t.Helper()
	found, err := a.Gaps(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range found {
		list = append(list, fmt.Sprintf("%s %d-%d", g.Machine, g.From, g.To))
	}
	return list
}

func TestGapsAreReportedWhileTheyExist(t *testing.T) {
	a := begun(t)
	for _, step := range []struct {
		m    archive.Message
		gaps []string
	}{
		{records("m1", "r", 1, 3, 4), []string{"m1 1-2"}},
		{records("m1", "r", 1, 9), []string{"m1 1-2", "m1 5-8"}},
		{records("m2", "r", 100, 101), []string{"m1 1-2", "m1 5-8", "m2 100-100"}},
		{records("m1", "r", 1, 6, 7), []string{"m1 1-2", "m1 5-5", "m1 8-8", "m2 100-100"}},
		{records("m1", "r", 1, 1, 2, 5, 8), []string{"m2 100-100"}},
		{records("m2", "r", 100, 100), nil},
	} {
		add(t, a, step.m)
		if diff := cmp.Diff(step.gaps, gaps(t, a)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestARecordIsKeptOnce(t *testing.T) {
	a := begun(t)
	if added := add(t, a, records("m1", "r", 1, 1, 2, 3), records("m1", "r", 1, 2, 3, 4)); added != (archive.Added{New: 4, Copies: 2}) {
		t.Errorf("%+v", added)
	}
	if added := add(t, a, records("m1", "r", 1, 1, 2, 3, 4)); added != (archive.Added{Copies: 4}) {
		t.Errorf("again: %+v", added)
	}
	lines, err := a.Log(t.Context(), archive.Filter{})
	if err != nil || len(lines) != 4 || lines[0].Machine != "m1" || lines[0].Hook != "managed/guard" || lines[0].Reason != "no" {
		t.Errorf("%+v, %v", lines, err)
	}
}

// What another machine says, or an earlier copy of this one, takes no one's place.
func TestNumbersThatCameTwiceLoseNothing(t *testing.T) {
	a := begun(t)
	add(t, a, records("m1", "r", 1, 1, 2, 3))
	add(t, a, records("m2", "forged", 1, 1, 2, 3)) // the same journal's name
	add(t, a, records("m1", "after-restore", 1, 3, 4))
	sources, err := a.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []archive.Source{{Machine: "m1", Records: 4, Twice: 1}, {Machine: "m2", Records: 3}} {
		if s := sources[i]; s.Machine != want.Machine || s.Records != want.Records || s.Twice != want.Twice || s.Missing != 0 {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if lines, err := a.Log(t.Context(), archive.Filter{Machine: "m1"}); len(lines) != 5 || err != nil {
		t.Errorf("%d lines of m1, want 5: %v", len(lines), err)
	}
}

func TestWhatIsNoRecordIsRefusedAndCounted(t *testing.T) {
	a := begun(t)
	half := records("m1", "r", 1, 1)
	half.Body = append(half.Body, "x {}\n2 nonsense\n\n-1 {}\n"...)
	if added := add(t, a, half, archive.Message{Subject: "audit.m1.j.k", First: "1", Body: []byte("1 {}\n")}, archive.Message{Subject: "audit.m1.j1", Body: []byte(`{"stream":"AUDIT"}`)}); added != (archive.Added{New: 1, Refused: 6}) {
		t.Errorf("%+v", added)
	}
	refused, err := a.Refused(t.Context())
	if err != nil || len(refused) != 4 {
		t.Errorf("%+v, %v", refused, err)
	}
}

// One machine cannot stop the archive of all: no number makes a table refuse.
func TestNumbersThatNoJournalReachesAreRefused(t *testing.T) {
	a := begun(t)
	for _, seq := range []int{math.MaxInt64, math.MaxInt64 - 1, 1 << 53} {
		for _, runs := range []string{"r", "again"} {
			if added := add(t, a, records("m1", runs, 1, seq), records("m2", runs, 1, 1, 2)); added.Refused != 1 {
				t.Errorf("%d: %+v", seq, added)
			}
		}
	}
	if added := add(t, a, records("m1", "r", 1, 1<<53-1)); added.New != 1 {
		t.Errorf("%+v", added)
	}
	if diff := cmp.Diff([]string{"m1 1-9007199254740990"}, gaps(t, a)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestStatsCountEachMachine(t *testing.T) {
	a := begun(t)
	add(t, a, records("m1", "r", 1, 10, 20), records("m2", "r", 1, 30))
	all, err := a.Stats(t.Context(), archive.Filter{}, false)
	if err != nil || len(all) != 1 || all[0].Runs != 3 || all[0].Denied != 3 || all[0].Machines != 2 || all[0].P50MS < 19 || all[0].P50MS > 21 {
		t.Errorf("%+v, %v", all, err)
	}
	each, err := a.Stats(t.Context(), archive.Filter{Filter: journal.Filter{Hook: "managed/guard"}}, true)
	if err != nil || len(each) != 2 || each[0].Machine != "m1" || each[0].Runs != 2 || each[1].Runs != 1 {
		t.Errorf("%+v, %v", each, err)
	}
	if none, err := a.Stats(t.Context(), archive.Filter{Filter: journal.Filter{Since: time.Now()}}, false); len(none) != 0 || err != nil {
		t.Errorf("since now: %+v, %v", none, err)
	}
}
