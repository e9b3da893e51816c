package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// Position is how far a reader of a journal is. The zero value is the beginning.
type Position struct {
	Dispatch int64 `json:"dispatch"` // the number of the last dispatch that was read
	Result   int64 `json:"result"`   // that of the last result
}

// Numbered is an entry with the number of its dispatch, which grows by one from
// dispatch to dispatch and never comes back.
type Numbered struct {
	Seq int64 `json:"seq"`
	Entry
}

// Entries returns what came after a position, the oldest first, and the position
// behind it: at most limit dispatches with their results, and results of the
// background that came after their dispatch was read. The latter are entries of
// their own, with one result, the time of that, and a Seq that is not after the
// position's. A body that is damaged leaves its number and an Error.
func (j *Journal) Entries(ctx context.Context, after Position, limit int) (list []Numbered, next Position, err error) {
	next = after
	list, err = sqlitefile.All(ctx, j.db, `SELECT seq, run, at_us, body FROM dispatch WHERE seq > ? ORDER BY seq LIMIT ?`, []any{after.Dispatch, limit}, func(scan sqlitefile.Scan) (n Numbered, err error) {
		var run string
		var at int64
		var body []byte
		err = scan(&n.Seq, &run, &at, &body)
		n.Entry, next.Dispatch = decoded(body, run, n.Seq, at), n.Seq
		return n, err
	})
	if err != nil {
		return nil, after, err
	}
	at := make(map[int64]int, len(list))
	for i, n := range list {
		at[n.Seq] = i
	}
	// Those of dispatches that are read next begin behind all that is read now.
	err = sqlitefile.Each(ctx, j.db, `SELECT r.seq, r.dispatch, r.at_us, r.hook, r.body, d.run, CASE WHEN d.seq <= ? THEN d.body END FROM result r JOIN dispatch d ON d.seq = r.dispatch
		WHERE r.seq > ? AND r.seq < (SELECT coalesce(min(seq), 9223372036854775807) FROM result WHERE seq > ? AND dispatch > ?) ORDER BY r.seq LIMIT ?`,
		[]any{after.Dispatch, after.Result, after.Result, next.Dispatch, limit * maxResults}, func(scan sqlitefile.Scan) error {
			var seq, dispatch, when int64
			var id, run string
			var body, head []byte
			if err := scan(&seq, &dispatch, &when, &id, &body, &run, &head); err != nil {
				return err
			}
			var r Result
			if err := json.Unmarshal(body, &r); err != nil {
				r = Result{Hook: id, Reason: fmt.Sprintf("line %d of the journal is damaged: %v", seq, err)}
			}
			next.Result = seq
			i, now := at[dispatch]
			if now && !r.Background {
				list[i].Results = append(list[i].Results, r)
				return nil
			}
			var e Entry
			if now {
				e = list[i].Entry
			} else {
				e = decoded(head, run, dispatch, when)
			}
			e.Time, e.ElapsedMS, e.Results = time.UnixMicro(when).UTC(), r.ElapsedMS, []Result{r}
			list = append(list, Numbered{dispatch, e})
			return nil
		})
	if err != nil {
		return nil, after, err
	}
	return list, next, nil
}

// decoded is the entry of a dispatch without its results.
func decoded(body []byte, run string, seq, at int64) (e Entry) {
	if err := json.Unmarshal(body, &e); err != nil {
		return Entry{Run: run, Time: time.UnixMicro(at).UTC(), Error: fmt.Sprintf("dispatch %d of the journal is damaged: %v", seq, err)}
	}
	return e
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
