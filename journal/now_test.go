package journal_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/tenterhook/tenterhook/journal"
)

func TestWhoWaitsForARecordKnowsWhetherItWasWritten(t *testing.T) {
	dir := t.TempDir()
	r, err := journal.NewRecorder(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.RecordNow(t.Context(), line("written", time.Now(), false, "a")); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(dir, "spool.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	r.Record(line("waits", time.Now(), false, "a")) // the writer waits for the lock with it
	for r.Flush(short(t)) == nil {
		t.Fatal("the lock holds nobody")
	}
	if err := r.RecordNow(short(t), line("given-up", time.Now(), false, "a")); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("behind another process: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := r.RecordNow(t.Context(), line("later", time.Now(), false, "a")); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.RecordNow(t.Context(), line("closed", time.Now(), false, "a")); err == nil {
		t.Error("a recorder that was closed keeps records")
	}
	j, err := journal.Open(t.Context(), dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if _, err := j.Ingest(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs, err := j.Runs(t.Context(), "", time.Time{})
	if err != nil || strings.Join(runs, " ") != "written waits later" {
		t.Errorf("the journal has %v, %v", runs, err)
	}
}

func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
