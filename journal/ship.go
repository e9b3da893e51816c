package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// AuditSink is the sink of [Journal.Cursor] for [Journal.Shipped]. What was not
// shipped stays in the journal past Keep, within MaxSize.
const AuditSink = "audit"

// Record is a line of the journal as it is shipped: a dispatch with its results, or
// one result of the background that came later.
type Record struct {
	// Seq grows by one from record to record, and never comes back.
	Seq int64
	// Body is an [Entry], in JSON.
	Body []byte
}

// Records returns the records after a number, the oldest first: at most limit, and
// no more after size bytes of bodies are reached.
func (j *Journal) Records(ctx context.Context, after int64, limit, size int) (list []Record, err error) {
	rows, err := j.db.QueryContext(ctx, `SELECT c.seq, d.run, d.at_us, d.body, c.first, c.last, r.at_us, r.body
		FROM (SELECT * FROM record WHERE seq > ? ORDER BY seq LIMIT ?) c JOIN dispatch d ON d.seq = c.dispatch
		LEFT JOIN result r ON r.seq BETWEEN c.first AND c.last AND r.dispatch = c.dispatch ORDER BY c.seq, r.seq`, after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	var one joined
	bytes := 0
	for rows.Next() {
		var row joined
		var result []byte
		if err := rows.Scan(&row.seq, &row.run, &row.at, &row.head, &row.first, &row.last, &row.resultAt, &result); err != nil {
			return nil, err
		}
		if row.seq != one.seq {
			if one.seq > 0 {
				list = append(list, one.record())
				if bytes += len(list[len(list)-1].Body); bytes > size {
					return list, nil
				}
			}
			one = row
		}
		if result != nil {
			one.results = append(one.results, result)
		}
	}
	if one.seq > 0 {
		list = append(list, one.record())
	}
	return list, rows.Err()
}

// joined is a record as the tables have it.
type joined struct {
	seq, at, first, last int64
	resultAt             *int64
	run                  string
	head                 []byte
	results              [][]byte
}

// record joins a dispatch with its results, without a look into either.
func (o *joined) record() Record {
	results := append(append([]byte{'['}, bytes.Join(o.results, []byte{','})...), ']')
	head, whole := bytes.CutSuffix(o.head, []byte("null}")) // the results come last
	if whole && o.resultAt != nil && len(o.results) == 1 {
		var r Result
		if json.Unmarshal(o.results[0], &r) == nil && r.Background {
			whole = false // it has a time of its own
		}
	}
	body := append(append(head[:len(head):len(head)], results...), '}')
	if whole && json.Valid(body) {
		return Record{o.seq, body}
	}
	var e Entry
	if err := json.Unmarshal(o.head, &e); err != nil {
		e = Entry{Run: o.run, Time: time.UnixMicro(o.at).UTC(), Error: fmt.Sprintf("record %d of the journal is damaged: %v", o.seq, err)}
	}
	if err := json.Unmarshal(results, &e.Results); err != nil {
		e.Results, e.Error = nil, fmt.Sprintf("a result in record %d of the journal is damaged: %v", o.seq, err)
	}
	if len(e.Results) == 1 && e.Results[0].Background {
		e.Time, e.ElapsedMS = time.UnixMicro(*o.resultAt).UTC(), e.Results[0].ElapsedMS
		e.Payload = nil // went with its dispatch
	}
	body, _ = json.Marshal(e) // it was JSON before
	return Record{o.seq, body}
}

// Shipped is how far the records of a journal were shipped.
type Shipped struct {
	Seq   int64 // of the last one; 0 = none was
	First int64 // of the first record in the journal when shipping began; 0 = it did not begin
}

// Shipped returns how far the records were shipped, and the number of the last
// record that there is; 0 = there is none.
func (j *Journal) Shipped(ctx context.Context) (s Shipped, last int64, err error) {
	var state string
	err = j.db.QueryRowContext(ctx, `SELECT coalesce((SELECT v FROM meta WHERE k = ?), ''), coalesce(max(seq), 0) FROM record`, "cursor "+AuditSink).Scan(&state, &last)
	if err != nil || state == "" {
		return Shipped{}, last, err
	}
	if _, err := fmt.Sscanf(state, shippedFormat, &s.Seq, &s.First); err != nil {
		return Shipped{}, last, fmt.Errorf("the journal does not say how far it was shipped, but %q: %w", state, err)
	}
	return s, last, nil
}

const shippedFormat = "%d from %d"

func (s Shipped) String() string { return fmt.Sprintf(shippedFormat, s.Seq, s.First) }

// BeginShipping returns how far the records were shipped. If nothing was, it begins
// with the oldest record.
func (j *Journal) BeginShipping(ctx context.Context) (Shipped, error) {
	s, _, err := j.Shipped(ctx)
	if err != nil || s.First > 0 {
		return s, err
	}
	s.First = 1
	err = j.db.QueryRowContext(ctx, `SELECT coalesce(min(seq), 1) FROM record`).Scan(&s.First)
	s.Seq = s.First - 1
	if err == nil {
		_, err = j.SetCursor(ctx, AuditSink, "", s.String())
	}
	return s, err
}

// Advance notes that the records up to a number were shipped. It reports false if
// another process has noted something since.
func (j *Journal) Advance(ctx context.Context, from Shipped, seq int64) (Shipped, bool, error) {
	to := Shipped{seq, from.First}
	noted, err := j.SetCursor(ctx, AuditSink, from.String(), to.String())
	return to, noted, err
}

// StopShipping forgets how far the records were shipped: none waits for it any more.
func (j *Journal) StopShipping(ctx context.Context) error {
	_, err := j.db.ExecContext(ctx, `DELETE FROM meta WHERE k = ?`, "cursor "+AuditSink)
	return err
}

// mayAge is the number of the last record that may be deleted by its age.
func (j *Journal) mayAge(ctx context.Context) (int64, error) {
	s, _, err := j.Shipped(ctx)
	if err == nil && s.First == 0 {
		return math.MaxInt64, nil // nothing ships them
	}
	return s.Seq, err
}
