package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Numbered is an entry with its number in the journal.
type Numbered struct {
	// Seq grows by one from entry to entry, and never comes back.
	Seq int64 `json:"seq"`
	Entry
}

// Entries returns the entries after a number, the oldest first, with their results:
// at most limit of them. One whose body is damaged has its number and an Error alone.
func (j *Journal) Entries(ctx context.Context, after int64, limit int) (list []Numbered, err error) {
	rows, err := j.db.QueryContext(ctx, `SELECT seq, run, at_us, body FROM dispatch WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		var n Numbered
		var run string
		var at int64
		var body []byte
		if err := rows.Scan(&n.Seq, &run, &at, &body); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &n.Entry); err != nil {
			n.Entry = Entry{Run: run, Time: time.UnixMicro(at).UTC(), Error: fmt.Sprintf("entry %d of the journal is damaged: %v", n.Seq, err)}
		}
		list = append(list, n)
	}
	if err := rows.Err(); err != nil || len(list) == 0 {
		return list, err
	}
	return list, j.resultsOf(ctx, list)
}

// resultsOf adds the results of entries that follow one another.
func (j *Journal) resultsOf(ctx context.Context, list []Numbered) error {
	at := make(map[int64]*Numbered, len(list))
	for i := range list {
		at[list[i].Seq] = &list[i]
	}
	rows, err := j.db.QueryContext(ctx, `SELECT dispatch, hook, body FROM result WHERE dispatch BETWEEN ? AND ? ORDER BY seq`, list[0].Seq, list[len(list)-1].Seq)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		var seq int64
		var id string
		var body []byte
		var r Result
		if err := rows.Scan(&seq, &id, &body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &r); err != nil {
			r = Result{Hook: id, Reason: fmt.Sprintf("a result of entry %d of the journal is damaged: %v", seq, err)}
		}
		if n := at[seq]; n != nil {
			n.Results = append(n.Results, r)
		}
	}
	return rows.Err()
}

// Cursor returns what [Journal.SetCursor] stored for a sink: how far it is; "" =
// nothing was.
func (j *Journal) Cursor(ctx context.Context, sink string) (state string, err error) {
	err = j.db.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = ?`, "cursor "+sink).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return state, err
}

// SetCursor stores how far a sink is, durably, in the place of was. It reports false
// if another process stored something since.
func (j *Journal) SetCursor(ctx context.Context, sink, was, state string) (stored bool, err error) {
	key, query, args := "cursor "+sink, `UPDATE meta SET v = ? WHERE k = ? AND v = ?`, []any(nil)
	args = []any{state, key, was}
	if was == "" {
		query, args = `INSERT INTO meta(k, v) VALUES(?, ?) ON CONFLICT DO NOTHING`, []any{key, state}
	}
	done, err := j.db.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}
