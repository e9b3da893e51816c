package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// migrations bring the tables from one version to the next. Their number is the
// version that this program writes. A journal of a newer version is left as it
// is: its lines wait in the spool.
var migrations = []func(context.Context, *sql.Tx) error{makeTables, packTally, indexAgents, numberRecords}

// One row of dispatch is one event; one of result is one hook of it. A row's
// number never comes back, and no number is missing between two that are there,
// so that a copy elsewhere can tell that it is complete. packTally replaces the
// table tally.
const firstTables = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE dispatch(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL, at_us INTEGER NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, workspace TEXT NOT NULL,
  event TEXT NOT NULL, tool TEXT NOT NULL, verdict TEXT NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX dispatch_run ON dispatch(run);
CREATE INDEX dispatch_at ON dispatch(at_us);
CREATE TABLE result(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  dispatch INTEGER NOT NULL, at_us INTEGER NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, event TEXT NOT NULL,
  hook TEXT NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, verdict TEXT NOT NULL, elapsed_us INTEGER NOT NULL,
  body BLOB NOT NULL) STRICT;
CREATE INDEX result_at ON result(at_us);
CREATE INDEX result_dispatch ON result(dispatch);
CREATE INDEX result_session ON result(session, at_us);
CREATE INDEX result_hook ON result(hook, at_us);
CREATE INDEX result_failed ON result(hook, at_us) WHERE failure <> '';
CREATE INDEX result_notable ON result(at_us) WHERE failure <> '' OR verdict IN ('deny', 'ask', 'defer');
CREATE TABLE tally(
  hook TEXT NOT NULL, hour INTEGER NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, verdict TEXT NOT NULL, bucket INTEGER NOT NULL,
  n INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY(hook, hour, status, failure, verdict, bucket)) STRICT, WITHOUT ROWID;
`

func makeTables(ctx context.Context, tx *sql.Tx) error {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	if _, err := tx.ExecContext(ctx, firstTables); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO meta VALUES('id', ?), ('dropped', '0'), ('damaged', '0')`, hex.EncodeToString(id[:]))
	return err
}

// A row of tally is what stats needs of one hook in one hour: stats then reads
// hundreds of rows, not millions.
const packedTally = `CREATE TABLE tally(
  hook TEXT NOT NULL, hour INTEGER NOT NULL, last_us INTEGER NOT NULL, counts BLOB NOT NULL,
  PRIMARY KEY(hook, hour)) STRICT, WITHOUT ROWID`

// packTally replaces a row for each kind of result by one for each hour.
func packTally(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `ALTER TABLE tally RENAME TO tally_of_rows; `+packedTally); err != nil {
		return err
	}
	all := make(tallies)
	err := sqlitefile.Each(ctx, tx, `SELECT hook, hour, status, failure, verdict, bucket, n, last_us FROM tally_of_rows`, nil, func(scan sqlitefile.Scan) error {
		var at hookHour
		var k countKey
		var n, last int64
		if err := scan(&at.hook, &at.hour, &k.status, &k.failure, &k.verdict, &k.bucket, &n, &last); err != nil {
			return err
		}
		all.add(at, k, n, last)
		return nil
	})
	if err != nil {
		return err
	}
	if err := all.save(ctx, tx); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DROP TABLE tally_of_rows`)
	return err
}

// indexAgents lets the log of a rare agent or event be found without a look at all.
func indexAgents(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `CREATE INDEX result_agent ON result(agent, at_us); CREATE INDEX result_event ON result(event, at_us)`)
	return err
}

// A row of record is one line of the spool: a dispatch with its results, or one
// result of the background that came later. first and last are its results'
// numbers; 0 = it has none. Its own number is the one by which copies elsewhere
// tell that they are complete.
const recordTable = `CREATE TABLE record(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, dispatch INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
CREATE INDEX record_dispatch ON record(dispatch);
INSERT INTO record(dispatch, first, last)
  SELECT d.seq, coalesce(min(r.seq), 0), coalesce(max(r.seq), 0) FROM dispatch d LEFT JOIN result r ON r.dispatch = d.seq GROUP BY d.seq ORDER BY d.seq;
`

// numberRecords numbers what is there: each dispatch with all its results.
func numberRecords(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, recordTable)
	return err
}

// known fails for the version of tables that this program does not know.
func known(version int) error {
	if version > len(migrations) {
		return fmt.Errorf("%w: its tables have version %d, this one knows %d; upgrade tenterhook", ErrNewer, version, len(migrations))
	}
	return nil
}

// migrate brings the tables to this program's version, in one transaction.
func (j *Journal) migrate(ctx context.Context) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if err := known(version); err != nil || version == len(migrations) {
		return err // another process was faster
	}
	for _, step := range migrations[version:] {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations))); err != nil {
		return err
	}
	return tx.Commit()
}
