// Package sqlitefile opens SQLite databases that several processes use.
//
// Stage: below the journal of a machine and the archive of a fleet. It imports the
// driver and nothing of ours.
package sqlitefile

import (
	"context"
	"database/sql"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Open opens the database in a file, and makes the file where it is missing, for its
// owner alone. flags are more ones of os.OpenFile. A transaction takes the lock of the
// writer when it begins. pragmas hold for each connection, in their order. Close the
// database.
func Open(path string, flags, connections int, pragmas ...string) (*sql.DB, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flags, 0o600) // SQLite would make it readable for others
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": append(pragmas, "cell_size_check(1)", "trusted_schema(0)")}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	return db, nil
}

// Queryer is a database or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Scan reads the columns of a row, as [sql.Rows.Scan] does.
type Scan = func(columns ...any) error

// Each calls row for each row of a query, up to the first error.
func Each(ctx context.Context, db Queryer, query string, args []any, row func(Scan) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// All returns what read makes of each row of a query.
func All[T any](ctx context.Context, db Queryer, query string, args []any, read func(Scan) (T, error)) (list []T, err error) {
	err = Each(ctx, db, query, args, func(scan Scan) error {
		one, err := read(scan)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
