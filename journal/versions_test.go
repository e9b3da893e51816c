package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// forever keeps runs of any age.
var forever = journal.Options{Keep: 100 * 365 * 24 * time.Hour}

// firstVersion makes a journal as the first version of the tables kept it.
func firstVersion(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "journal")
	text, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestJournalOfTheFirstVersionKeepsAllThatItHas(t *testing.T) {
	dir := firstVersion(t)
	keep(t, dir, forever, record("r4", time.Unix(1700003601, 0)))
	for range 2 { // it is brought up once
		j := ingest(t, dir, forever)
		runs, err := j.Runs(t.Context(), "", time.Unix(1, 0))
		if diff := cmp.Diff([]string{"r1", "r2", "r3", "r4"}, runs); diff != "" || err != nil {
			t.Errorf("%v; -want +got\n%s", err, diff)
		}
		if losses, err := j.Losses(t.Context()); j.ID != "0011223344556677" || losses.Dropped != 3 || err != nil {
			t.Errorf("ID %q, %+v, %v", j.ID, losses, err)
		}
		stats, err := j.Stats(t.Context(), "", time.Unix(1, 0))
		want := []journal.HookStats{
			{Hook: "user/broken", Runs: 1, Failed: 1, Failures: map[hook.Failure]int64{hook.FailureExit: 1}, P50MS: 9, P95MS: 9, P99MS: 9, Last: time.Unix(1700003600, 0).UTC()},
			{Hook: "user/guard", Runs: 3, Denied: 2, Failures: map[hook.Failure]int64{}, P50MS: 2, P95MS: 2, P99MS: 2, Last: time.Unix(1700003601, 0).UTC()},
		}
		if diff := cmp.Diff(want, stats, cmpopts.EquateApprox(0.05, 0), cmpopts.IgnoreFields(journal.HookStats{}, "Hourly")); diff != "" || err != nil {
			t.Errorf("%v; -want +got\n%s", err, diff)
		}
		if lines, err := j.Log(t.Context(), journal.Filter{Agent: "codex"}); err != nil || len(lines) != 1 || lines[0].Run != "r3" {
			t.Errorf("%+v, %v", lines, err)
		}
		_ = j.Close()
	}
}

// A background hook leaves a result when it begins, and one when it has ended.
func TestStatsCountABackgroundRunOnce(t *testing.T) {
	dir := t.TempDir()
	began := record("r1", time.Now())
	began.Outcome.Results[0].Status, began.Outcome.Results[0].Output, began.Outcome.Results[0].Elapsed = hook.StatusAsync, nil, 0
	ended := record("r1", time.Now())
	ended.Background, ended.Outcome = &hook.Result{Hook: began.Outcome.Results[0].Hook, Status: hook.StatusSuccess, Elapsed: 9 * time.Millisecond}, nil
	keep(t, dir, journal.Options{}, began, ended)
	stats, err := ingest(t, dir, journal.Options{}).Stats(t.Context(), "", time.Now().Add(-time.Hour))
	if err != nil || len(stats) != 1 || stats[0].Runs != 1 || stats[0].Hourly[23] != 1 || stats[0].P50MS < 8 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Keep and MaxSize may have been changed although nothing ran since.
func TestOldRunsGoWhereNothingNewCame(t *testing.T) {
	dir := firstVersion(t)
	_ = ingest(t, dir, forever).Close()
	j := ingest(t, dir, journal.Options{})
	if runs, err := j.Runs(t.Context(), "", time.Unix(1, 0)); err != nil || len(runs) > 0 {
		t.Errorf("%v, %v", runs, err)
	}
}

// A command shows what ran before it, also while the daemon moves it.
func TestIngesterWaitsForAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	j := ingest(t, dir, journal.Options{})
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	other := flock.New(filepath.Join(dir, "ingest.lock"))
	if got, err := other.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = other.Unlock() })
	if n, err := j.Ingest(t.Context()); err != nil || n != 1 {
		t.Errorf("moved %d lines: %v", n, err)
	}
	if got, err := other.TryLock(); err != nil || !got { // one that takes long
		t.Fatal(got, err)
	}
	defer func() { _ = other.Unlock() }()
	keep(t, dir, journal.Options{}, record("r2", time.Now()))
	if n, err := j.Ingest(t.Context()); err != nil || n != 0 {
		t.Errorf("moved %d lines: %v", n, err)
	}
}

// Bytes that SQLite cannot judge: a line says so, and counts set the journal aside.
func TestDamagedBytesAreTold(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, journal.Options{}, record("r1", time.Now()), failure("r2", time.Now()))
	j := ingest(t, dir, journal.Options{})
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE result SET body = x'7b7b' WHERE hook = 'user/guard'`); err != nil {
		t.Fatal(err)
	}
	lines, err := j.Log(t.Context(), journal.Filter{})
	if err != nil || len(lines) != 2 {
		t.Fatalf("%+v, %v", lines, err)
	}
	for _, l := range lines {
		if damaged := strings.Contains(l.Reason, "is damaged"); damaged != (l.Hook == "user/guard") {
			t.Errorf("%+v", l)
		}
	}
	if err := j.Check(t.Context()); err != nil {
		t.Error(err)
	}
	for _, counts := range []string{"05", "0561", "ffffffffffffffffffff", "0000000a", "000000010101ff"} {
		if _, err := db.Exec(`UPDATE tally SET counts = x'` + counts + `'`); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Stats(t.Context(), "", time.Time{}); !journal.Damaged(err) {
			t.Errorf("stats of %s: %v", counts, err)
		}
		if err := j.Check(t.Context()); !journal.Damaged(err) {
			t.Errorf("check of %s: %v", counts, err)
		}
	}
}

// A process that stops with the spool's lock holds up no one who does not want to wait.
func TestIngestEndsWithItsContextWhereTheSpoolIsLocked(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, journal.Options{}, record("r1", time.Now()))
	j := ingest(t, dir, journal.Options{})
	other := flock.New(filepath.Join(dir, "spool.lock"))
	if got, err := other.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	defer func() { _ = other.Unlock() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { _, err := j.Ingest(ctx); ended <- err }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("it waits for the lock")
	}
}
