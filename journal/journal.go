package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// schemaVersion is the version of the tables below. A journal of a newer version
// is left as it is: its lines wait in the spool.
const schemaVersion = 1

// One row of dispatch is one event; one of result is one hook of it. tally holds
// what stats needs, by hook and hour, so that it reads hundreds of rows and not
// millions. A row's number never comes back, and no number is missing between
// two that are there, so that a copy elsewhere can tell that it is complete.
const schema = `
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

// Journal is the database of a folder. It is safe for concurrent use, and the
// folder may be used by several processes.
type Journal struct {
	// ID is the database's own name: one that was begun anew has another.
	ID string
	// SetAside is the path of a damaged database that Open put out of the way;
	// "" = none.
	SetAside string

	dir  string
	opts Options
	db   *sql.DB
	file os.FileInfo // of the database, as it was opened
}

// AsideGlob matches the damaged databases that were set aside in a journal's folder.
const AsideGlob = dataName + ".damaged-*[0-9]"

// ErrNewer is returned for a journal that a newer version of tenterhook made.
var ErrNewer = errors.New("a newer version of tenterhook made the journal")

// ErrDamaged is returned by Check for a database that cannot be relied on.
var ErrDamaged = errors.New("the journal is damaged")

// ErrReplaced is returned where another process set the database aside.
var ErrReplaced = errors.New("the journal was set aside by another process: open it again")

// Open opens the journal of a folder, or begins one. A damaged database is set
// aside under another name, and a new one begins. Close ends it.
func Open(ctx context.Context, dir string, o Options) (*Journal, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	j, err := open(ctx, dir, o)
	if err == nil || !Damaged(err) {
		return j, err
	}
	aside, err := SetAside(ctx, dir)
	if err != nil {
		return nil, err
	}
	if j, err = open(ctx, dir, o); err != nil {
		return nil, err
	}
	j.SetAside = aside
	return j, nil
}

// SetAside puts a damaged database of a folder out of the way, under the name that
// it returns; "" = it is sound, such as one that another process has begun anew.
// Close the journal before.
func SetAside(ctx context.Context, dir string) (aside string, err error) {
	lock := flock.New(filepath.Join(dir, ingestName), flock.SetPermissions(0o600)) // nobody moves lines into it meanwhile
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	j, err := open(ctx, dir, Options{})
	if err == nil {
		err = errors.Join(j.Check(ctx), j.Close())
	}
	if err == nil || !Damaged(err) {
		return "", err
	}
	path := filepath.Join(dir, dataName)
	aside = path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	_ = os.Rename(path+"-wal", aside+"-wal") // it need not be there
	_ = os.Remove(path + "-shm")
	return aside, nil
}

func open(ctx context.Context, dir string, o Options) (*Journal, error) {
	path := filepath.Join(dir, dataName)
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600); err != nil { // SQLite would make it readable for others
		return nil, err
	} else if err := f.Close(); err != nil {
		return nil, err
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", // first, so that it holds while the others are set
		"auto_vacuum(2)", "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(8388608)", "cell_size_check(1)", "trusted_schema(0)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2)
	j := &Journal{dir: dir, opts: o.withDefaults(), db: db}
	err = j.begin(ctx)
	if err == nil {
		j.file, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// begin makes the tables of a new database and checks an old one.
func (j *Journal) begin(ctx context.Context) error {
	var version int
	if err := j.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if err := known(version); err != nil {
		return err
	}
	if version == 0 {
		if err := j.create(ctx); err != nil {
			return err
		}
	}
	if err := j.db.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = 'id'`).Scan(&j.ID); err != nil {
		return err
	}
	return nil
}

// known fails for the version of tables that this program does not know.
func known(version int) error {
	if version > schemaVersion {
		return fmt.Errorf("%w: its tables have version %d, this one knows %d; upgrade tenterhook", ErrNewer, version, schemaVersion)
	}
	return nil
}

func (j *Journal) create(ctx context.Context) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil || version != 0 {
		return err // another process was faster
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	for _, statement := range []string{schema, `INSERT INTO meta VALUES('id', '` + hex.EncodeToString(id[:]) + `'), ('dropped', '0'), ('damaged', '0')`,
		fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion)} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close closes the database.
func (j *Journal) Close() error { return j.db.Close() }

// Check reads the whole database and reports damage.
func (j *Journal) Check(ctx context.Context) error {
	var said string
	if err := j.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return fmt.Errorf("%w: %s: %s", ErrDamaged, filepath.Join(j.dir, dataName), said)
	}
	return nil
}

// Damaged reports whether an error says that the file is no good database. One
// that is busy, or has no room, is fine. [SetAside] looks closer.
func Damaged(err error) bool {
	var s *sqlite.Error
	if errors.Is(err, ErrDamaged) {
		return true
	}
	if !errors.As(err, &s) {
		return false
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	case sqlite3.SQLITE_ERROR: // a table that the version promises is not there
		return true
	}
	return false
}
