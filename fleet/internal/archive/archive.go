package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// Archive is the database of a folder. It is safe for concurrent use, and one
// process may add while others read.
type Archive struct {
	db   *sql.DB
	Path string
}

const version = 1

// place is where in its record a result stands. twice counts the numbers that came with two runs: the machine went back in time.
const tables = `
CREATE TABLE source(id INTEGER PRIMARY KEY, machine TEXT NOT NULL, journal TEXT NOT NULL, first INTEGER NOT NULL, twice INTEGER NOT NULL DEFAULT 0,
  received_us INTEGER NOT NULL, UNIQUE(machine, journal)) STRICT;
CREATE TABLE span(source INTEGER NOT NULL, lo INTEGER NOT NULL, hi INTEGER NOT NULL, PRIMARY KEY(source, lo)) STRICT, WITHOUT ROWID;
CREATE TABLE record(id INTEGER PRIMARY KEY, source INTEGER NOT NULL, seq INTEGER NOT NULL, run TEXT NOT NULL, at_us INTEGER NOT NULL, received_us INTEGER NOT NULL,
  agent TEXT NOT NULL, session TEXT NOT NULL, event TEXT NOT NULL, tool TEXT NOT NULL, verdict TEXT NOT NULL, body BLOB NOT NULL, UNIQUE(source, seq, run)) STRICT;
CREATE INDEX record_run ON record(run);
CREATE INDEX record_at ON record(at_us);
CREATE TABLE result(id INTEGER PRIMARY KEY, record INTEGER NOT NULL, source INTEGER NOT NULL, at_us INTEGER NOT NULL, hook TEXT NOT NULL,
  status TEXT NOT NULL, failure TEXT NOT NULL, verdict TEXT NOT NULL, elapsed_us INTEGER NOT NULL, place INTEGER NOT NULL) STRICT;
CREATE INDEX result_at ON result(at_us, hook, source, status, failure, verdict, elapsed_us);
CREATE INDEX result_hook ON result(hook, at_us);
CREATE INDEX result_source ON result(source, at_us);
CREATE INDEX result_record ON result(record);
CREATE INDEX result_notable ON result(at_us) WHERE failure <> '' OR verdict IN ('deny', 'ask', 'defer');
CREATE TABLE refused(subject TEXT NOT NULL, why TEXT NOT NULL, n INTEGER NOT NULL, last_us INTEGER NOT NULL, PRIMARY KEY(subject, why)) STRICT, WITHOUT ROWID;
`

// Open opens the archive at a path, or begins one. Close ends it.
func Open(ctx context.Context, path string) (*Archive, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := sqlitefile.Open(path, 0, 4,
		"busy_timeout(10000)", // first, so that it holds while the others are set
		"journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(67108864)", "cache_size(-65536)")
	if err != nil {
		return nil, err
	}
	a := &Archive{db: db, Path: path}
	if err := a.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return a, nil
}

// OpenExisting opens an archive that is there.
func OpenExisting(ctx context.Context, path string) (*Archive, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, problem.New("no_archive", "there is no archive: "+path, "name the hub's folder with --dir; 'tenterhook fleet hub' and 'tenterhook fleet archive' write it", err)
	}
	return Open(ctx, path)
}

func (a *Archive) begin(ctx context.Context) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	var is int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&is); err != nil {
		return err
	}
	switch is {
	case version:
		return nil
	case 0:
		if _, err := tx.ExecContext(ctx, tables+fmt.Sprintf(`PRAGMA user_version = %d`, version)); err != nil {
			return err
		}
		return tx.Commit()
	}
	return problem.New("newer_archive", fmt.Sprintf("its tables have version %d, this program knows %d", is, version), "upgrade tenterhook-fleet", nil)
}

// Close closes the database.
func (a *Archive) Close() error { return a.db.Close() }

// micros is a time as the tables have it.
func micros(t time.Time) int64 { return t.UnixMicro() }
