package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// ingestTurn is how long an ingester waits for other processes.
const ingestTurn = 2 * time.Second

// Ingest moves the spool into the database and returns how many lines it moved.
// Where another process is moving lines it waits for up to two seconds, and then
// returns: that one moves them.
// The rows of a spool and the note that it was moved are one transaction, so that
// a kill at any moment neither loses nor doubles a line.
func (j *Journal) Ingest(ctx context.Context) (moved int, err error) {
	lock := safefile.Lock(filepath.Join(j.dir, ingestName))
	turn, cancel := context.WithTimeout(ctx, ingestTurn)
	defer cancel()
	got, err := lock.TryLockContext(turn, 2*time.Millisecond)
	if !got {
		if turn.Err() != nil && ctx.Err() == nil {
			err = nil
		}
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if now, err := os.Stat(filepath.Join(j.dir, dataName)); err != nil || !os.SameFile(now, j.file) {
		return 0, ErrReplaced
	}
	s, err := newSpool(j.dir)
	if err != nil {
		return 0, err
	}
	taking, stop := context.WithTimeout(ctx, ingestTurn)
	defer stop()
	files, err := s.take(taking, time.Now())
	if err != nil && taking.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("another process has held %s for long", filepath.Join(j.dir, lockName))
	}
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		n, err := j.move(ctx, path)
		moved += n
		if err != nil {
			return moved, err
		}
		if err := os.Remove(path); err != nil {
			return moved, err
		}
		if _, err := j.db.ExecContext(ctx, `DELETE FROM meta WHERE k = ?`, "file:"+filepath.Base(path)); err != nil {
			return moved, err
		}
	}
	if moved > 0 || !j.retained.Load() { // keep and max_size may be others than the last time
		err = j.retain(ctx)
		j.retained.Store(err == nil)
	}
	return moved, err
}

// move brings one spool into the database.
func (j *Journal) move(ctx context.Context, path string) (moved int, err error) {
	f, err := safefile.Open(path)
	if err != nil {
		return 0, safefile.Named(path, err)
	}
	defer func() { _ = f.Close() }() // read only
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return 0, err
	}
	if err := known(version); err != nil { // upgraded since it was opened
		return 0, err
	}
	note, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO meta VALUES(?, 'moved')`, "file:"+filepath.Base(path))
	if err != nil {
		return 0, err
	}
	if n, _ := note.RowsAffected(); n == 0 {
		return 0, nil // a kill came between the transaction and the removal
	}
	w, err := newWriter(ctx, tx)
	if err != nil {
		return 0, err
	}
	bad, err := readLines(f, func(line []byte) error {
		var l loss
		if json.Unmarshal(line, &l) == nil && l.Dropped > 0 {
			return w.count("dropped", l.Dropped)
		}
		var e Entry
		if json.Unmarshal(line, &e) != nil || e.Run == "" {
			return w.count("damaged", 1)
		}
		moved++
		return w.add(&e)
	})
	if err != nil {
		return 0, err
	}
	if bad > 0 {
		if err := w.count("damaged", int64(bad)); err != nil {
			return 0, err
		}
	}
	if err := w.tallies.save(ctx, tx); err != nil {
		return 0, err
	}
	return moved, tx.Commit()
}

// writer has the statements of one transaction, and what it counted.
type writer struct {
	ctx              context.Context
	dispatch, result *sql.Stmt
	record           *sql.Stmt
	counter, find    *sql.Stmt
	tallies          tallies
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{ctx: ctx, tallies: make(tallies)}
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&w.dispatch, `INSERT INTO dispatch(run, at_us, agent, session, workspace, event, tool, verdict, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.result, `INSERT INTO result(dispatch, at_us, session, agent, event, hook, status, failure, verdict, elapsed_us, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.record, `INSERT INTO record(dispatch, first, last) VALUES(?, ?, ?)`},
		{&w.counter, `UPDATE meta SET v = CAST(v AS INTEGER) + ? WHERE k = ?`},
		{&w.find, `SELECT seq FROM dispatch WHERE run = ? ORDER BY seq LIMIT 1`},
	} {
		stmt, err := tx.PrepareContext(ctx, s.text)
		if err != nil {
			return nil, err
		}
		*s.to = stmt // closed with the transaction
	}
	return w, nil
}

func (w *writer) count(key string, n int64) error {
	_, err := w.counter.ExecContext(w.ctx, n, key)
	return err
}

// add adds an entry. A background hook belongs to its dispatch, which was written
// before it, or is one of its own where that is gone.
func (w *writer) add(e *Entry) error {
	at := e.Time.UnixMicro()
	seq := int64(-1)
	if len(e.Results) == 1 && e.Results[0].Background {
		if err := w.find.QueryRowContext(w.ctx, e.Run).Scan(&seq); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	if seq < 0 {
		head := *e
		head.Results = nil
		body, err := json.Marshal(head)
		if err != nil {
			return err
		}
		added, err := w.dispatch.ExecContext(w.ctx, e.Run, at, e.Agent, e.Session, e.Workspace, string(e.Event), e.Tool, e.Verdict.String(), body)
		if err != nil {
			return err
		}
		if seq, err = added.LastInsertId(); err != nil {
			return err
		}
	}
	var first, last int64
	for i := range e.Results {
		var err error
		if last, err = w.addResult(seq, at, e, &e.Results[i]); err != nil {
			return err
		}
		if i == 0 {
			first = last
		}
	}
	_, err := w.record.ExecContext(w.ctx, seq, first, last)
	return err
}

func (w *writer) addResult(dispatch, at int64, e *Entry, r *Result) (seq int64, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	elapsed := int64(r.ElapsedMS * 1000)
	added, err := w.result.ExecContext(w.ctx, dispatch, at, e.Session, e.Agent, string(e.Event), r.Hook, string(r.Status), string(r.Failure),
		r.Verdict.String(), elapsed, body)
	if err != nil {
		return 0, err
	}
	w.tallies.add(hookHour{r.Hook, hourOf(at)}, countKey{r.Status, r.Failure, r.Verdict.String(), bucketOf(elapsed)}, 1, at)
	return added.LastInsertId()
}

// hourOf is the hour of a time in microseconds since 1970.
func hourOf(us int64) int64 { return us / int64(time.Hour/time.Microsecond) }

// bucketsPerOctave is how finely times are distinguished: 16 steps from one power of
// two to the next, each 4.4 % wide.
const bucketsPerOctave = 16

// bucketOf is the bucket of a time in microseconds.
func bucketOf(us int64) int64 {
	if us < 1 {
		return 0
	}
	return 1 + int64(math.Log2(float64(us))*bucketsPerOctave)
}

// bucketTime is the middle of a bucket, in microseconds.
func bucketTime(bucket int64) float64 {
	if bucket == 0 {
		return 0
	}
	return math.Exp2((float64(bucket-1) + 0.5) / bucketsPerOctave)
}

// retain deletes what is older than Keep and was shipped, if anything ships it, and
// the oldest runs while the database is larger than MaxSize, in small steps, so that
// no other process waits long.
func (j *Journal) retain(ctx context.Context) error {
	cutoff := time.Now().Add(-j.opts.Keep).UnixMicro()
	shipped, err := j.mayAge(ctx)
	if err != nil {
		return err
	}
	for {
		size, err := j.size(ctx)
		if err != nil {
			return err
		}
		before, upTo := cutoff, shipped
		if size > j.opts.MaxSize {
			before, upTo = math.MaxInt64, math.MaxInt64
		}
		n, err := j.deleteOldest(ctx, before, upTo)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	_, err = j.db.ExecContext(ctx, `DELETE FROM tally WHERE hour < ?`, hourOf(cutoff))
	return err
}

// size is the size of the database without its free pages, in bytes.
func (j *Journal) size(ctx context.Context) (int64, error) {
	var pages, free, page int64
	err := j.db.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&pages, &free, &page)
	return (pages - free) * page, err
}

// deleteOldest deletes up to 500 of the dispatches that began before a time and
// whose records are not after a number, and gives their room back.
func (j *Journal) deleteOldest(ctx context.Context, before, upTo int64) (deleted int64, err error) {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	if _, err := tx.ExecContext(ctx, `CREATE TEMP TABLE IF NOT EXISTS oldest(seq INTEGER PRIMARY KEY); DELETE FROM temp.oldest`); err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO temp.oldest SELECT seq FROM dispatch WHERE at_us < ?
		AND NOT EXISTS (SELECT 1 FROM record WHERE record.dispatch = dispatch.seq AND record.seq > ?) ORDER BY at_us LIMIT 500`, before, upTo); err != nil {
		return 0, err
	}
	for _, table := range []string{"result", "record"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE dispatch IN (SELECT seq FROM temp.oldest)`); err != nil {
			return 0, err
		}
	}
	gone, err := tx.ExecContext(ctx, `DELETE FROM dispatch WHERE seq IN (SELECT seq FROM temp.oldest)`)
	if err != nil {
		return 0, err
	}
	deleted, err = gone.RowsAffected()
	if err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	if deleted > 0 {
		if _, err := j.db.ExecContext(ctx, `PRAGMA incremental_vacuum`); err != nil {
			return deleted, fmt.Errorf("give room back: %w", err)
		}
	}
	return deleted, nil
}
