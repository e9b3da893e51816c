// Package recording writes what a registry decides to the journal of a state
// directory, as the settings in force say.
//
// Stage: after a dispatch. The command line and the daemon hand a [Recorder] to
// their registries. It imports journal, dialect and hook.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/journal"
)

// Dir is the folder of the journal in a state directory.
func Dir(stateDir string) string { return filepath.Join(stateDir, "journal") }

// Recorder is a [hook.Recorder] that the settings configure. It is safe for
// concurrent use, and several registries may share it: the settings that came
// last count.
type Recorder struct {
	// Always keeps everything, also where the settings keep less or nothing. It is set
	// before the settings are known.
	Always bool

	dir    string
	env    []string
	logger *slog.Logger

	to atomic.Pointer[journal.Recorder] // nil = nothing is kept; stored with mu held

	mu       sync.Mutex // guards all below
	settings dialect.JournalSettings
	dropped  int64 // by closed recorders
	last     error // why
	closed   bool
	failed   bool // to begin, and the logger knows
}

// New returns a Recorder for the journal of a state directory. env has the
// variables whose secret values are masked; a nil logger is silence. Nothing is
// written, and no folder made, before the settings are known.
func New(stateDir string, env []string, logger *slog.Logger) *Recorder {
	return &Recorder{dir: Dir(stateDir), env: env, logger: logger}
}

// Writable fails if the journal of a state directory is there and cannot be written:
// the disk is full, or the directory is another user's.
func Writable(stateDir string) error {
	if _, err := os.Stat(Dir(stateDir)); err != nil {
		return nil // nothing was recorded yet
	}
	f, err := os.CreateTemp(Dir(stateDir), ".room-*")
	if err == nil {
		_, err = f.Write(make([]byte, 4096)) // an empty file has room on a full disk
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if about := (*fs.PathError)(nil); errors.As(err, &about) {
		return fmt.Errorf("what hooks do is not recorded in %s: %w", Dir(stateDir), about.Err)
	}
	return err
}

// Options are those of a journal that settings describe.
func Options(s dialect.JournalSettings) journal.Options {
	return journal.Options{Level: journal.Level(s.Record), Keep: s.Keep, MaxSize: s.MaxSize, Redact: s.Redact}
}

// Options are those in force.
func (r *Recorder) Options() journal.Options {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Options(r.settings)
}

// Configure begins to write as the settings say. Where the journal cannot be
// written, dispatches continue without, and a diagnostic says so.
func (r *Recorder) Configure(s dialect.Settings) []hook.Diagnostic {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.to.Load() != nil && reflect.DeepEqual(r.settings, s.Journal) {
		return nil
	}
	r.stop()
	r.settings = s.Journal
	o := Options(s.Journal)
	if r.Always {
		o.Level = journal.LevelFull
	}
	if o.Level == journal.LevelOff {
		return nil
	}
	o.Env, o.Logger = r.env, r.logger
	to, err := journal.NewRecorder(r.dir, o)
	if err != nil {
		if r.logger != nil && !r.failed {
			r.failed = true
			r.logger.Error("the journal cannot be written", "err", err)
		}
		return []hook.Diagnostic{{Severity: hook.SeverityWarning, Code: "not_recorded", Path: r.dir,
			Message: "what hooks do is not recorded: " + err.Error(), Hint: "make the directory writable, or set record = \"off\" under [journal]"}}
	}
	r.to.Store(to)
	return nil
}

// Recording reports whether records are kept.
func (r *Recorder) Recording() bool { return r.to.Load() != nil }

// Record keeps a record.
func (r *Recorder) Record(rec hook.Record) {
	if to := r.to.Load(); to != nil {
		to.Record(rec)
	}
}

// RecordNow keeps a record, and returns once it is written, or why it was not.
func (r *Recorder) RecordNow(ctx context.Context, rec hook.Record) error {
	to := r.to.Load()
	if to == nil {
		return fmt.Errorf("nothing is recorded in %s: [journal] says record = \"off\", or it cannot be written", r.dir)
	}
	return to.RecordNow(ctx, rec)
}

// Prompt returns the recorder: Record never waits.
func (r *Recorder) Prompt() hook.Recorder { return r }

// Flush waits until what was recorded is written, or for the end of ctx.
func (r *Recorder) Flush(ctx context.Context) error {
	to := r.to.Load()
	if to == nil {
		return nil
	}
	return to.Flush(ctx)
}

// Ingest moves what processes have written so far into the journal, and calls told
// with what is wrong.
func (r *Recorder) Ingest(ctx context.Context, told func(error)) {
	if err := use(ctx, r.dir, r.Options(), told, nil); err != nil {
		told(err)
	}
}

// Dropped counts the records that could not be written.
func (r *Recorder) Dropped() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to := r.to.Load(); to != nil {
		return r.dropped + to.Dropped()
	}
	return r.dropped
}

// Close writes what waits. It returns an error if records were dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.stop()
	if r.dropped > 0 {
		return &journal.DroppedError{Count: r.dropped, Err: r.last}
	}
	return nil
}

// CloseWithin is Close, but gives up after a time: another process may hold the lock
// of the journal.
func (r *Recorder) CloseWithin(limit time.Duration) error {
	closed := make(chan error, 1)
	go func() { closed <- r.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(limit):
		return fmt.Errorf("another process holds the lock of the journal in %s", r.dir)
	}
}

// stop ends the recorder that writes now. The caller holds mu.
func (r *Recorder) stop() {
	to := r.to.Swap(nil)
	if to == nil {
		return
	}
	_ = to.Close() // what it says is its count
	r.dropped += to.Dropped()
	if err := to.LastError(); err != nil {
		r.last = err
	}
}
