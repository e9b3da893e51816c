package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// Journal is the database of a folder. It is safe for concurrent use, and the
// folder may be used by several processes.
type Journal struct {
	// ID is the database's own name: a database that was begun again has another.
	ID string
	// SetAside is the path of a damaged database that Open put out of the way;
	// "" = none.
	SetAside string

	dir  string
	opts Options
	db   *sql.DB
	file os.FileInfo // of the database, as it was opened

	retained atomic.Bool // since it was opened
}

// AsideGlob matches the damaged databases that were set aside in a journal's folder.
const AsideGlob = dataName + ".damaged-*[0-9]"

// ErrNewer is returned for a journal that a newer version of tenterhook made.
var ErrNewer = errors.New("a newer version of tenterhook made the journal")

// ErrExposed is returned for a folder that other users could put another in the
// place of.
var ErrExposed = errors.New("others can write")

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
// it returns; "" = it is sound, such as a database that another process has begun again.
// Close the journal before.
func SetAside(ctx context.Context, dir string) (aside string, err error) {
	lock := safefile.Lock(filepath.Join(dir, ingestName)) // no process moves lines into it meanwhile
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
	_ = os.Rename(path+"-wal", aside+"-wal") // it may be missing
	_ = os.Remove(path + "-shm")
	return aside, nil
}

func open(ctx context.Context, dir string, o Options) (*Journal, error) {
	path := filepath.Join(dir, dataName)
	db, err := sqlitefile.Open(path, safefile.NoFollow, 2,
		"busy_timeout(5000)", // first, so that it holds while the others are set
		"auto_vacuum(2)", "journal_mode(WAL)", "synchronous(NORMAL)", "journal_size_limit(8388608)")
	if err != nil {
		return nil, err
	}
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
	if version < len(migrations) {
		if err := j.migrate(ctx); err != nil {
			return err
		}
	}
	if err := j.db.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = 'id'`).Scan(&j.ID); err != nil {
		return err
	}
	return nil
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
	_, err := j.Stats(ctx, "", time.Time{}) // reads what quick_check cannot judge
	return err
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
