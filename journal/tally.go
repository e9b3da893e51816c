package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tenterhook/tenterhook/hook"
)

// hookHour names a row of the table tally. hour counts from 1970.
type hookHour struct {
	hook string
	hour int64
}

// countKey is a kind of result that is counted by itself.
type countKey struct {
	status  hook.Status
	failure hook.Failure
	verdict string
	bucket  int64 // of how long it took
}

// tally counts the results of a hook in an hour.
type tally struct {
	last   int64 // when the newest came, in microseconds since 1970
	counts map[countKey]int64
}

type tallies map[hookHour]*tally

func (ts tallies) add(at hookHour, k countKey, n, last int64) {
	t := ts[at]
	if t == nil {
		t = &tally{counts: make(map[countKey]int64)}
		ts[at] = t
	}
	t.counts[k] += n
	t.last = max(t.last, last)
}

// save adds the counts to those of the database.
func (ts tallies) save(ctx context.Context, tx *sql.Tx) error {
	find, err := tx.PrepareContext(ctx, `SELECT last_us, counts FROM tally WHERE hook = ? AND hour = ?`)
	if err != nil {
		return err
	}
	put, err := tx.PrepareContext(ctx, `INSERT OR REPLACE INTO tally(hook, hour, last_us, counts) VALUES(?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for at, t := range ts {
		var last int64
		var text []byte
		err := find.QueryRowContext(ctx, at.hook, at.hour).Scan(&last, &text)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil {
			if err := eachCount(text, func(k countKey, n int64) { ts.add(at, k, n, last) }); err != nil {
				return err
			}
		}
		if _, err := put.ExecContext(ctx, at.hook, at.hour, t.last, packed(t.counts)); err != nil {
			return err
		}
	}
	return nil
}

// packed writes counts as one text: each kind of result with how many buckets it
// has, and for each bucket by how much it is more than the last, and its count.
func packed(counts map[countKey]int64) []byte {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b countKey) int {
		return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.failure, b.failure), cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.bucket, b.bucket))
	})
	var text []byte
	for len(keys) > 0 {
		first := keys[0]
		same := func(k countKey) bool { k.bucket = first.bucket; return k == first }
		n := 0
		for n < len(keys) && same(keys[n]) {
			n++
		}
		for _, word := range []string{string(first.status), string(first.failure), first.verdict} {
			text = append(binary.AppendUvarint(text, uint64(len(word))), word...)
		}
		text = binary.AppendUvarint(text, uint64(n))
		var bucket int64
		for _, k := range keys[:n] {
			text = binary.AppendUvarint(text, uint64(k.bucket-bucket))
			text = binary.AppendUvarint(text, uint64(counts[k]))
			bucket = k.bucket
		}
		keys = keys[n:]
	}
	return text
}

// eachCount calls take with each count of a text that packed wrote.
func eachCount(text []byte, take func(countKey, int64)) error {
	damaged := fmt.Errorf("%w: the counts of an hour cannot be read", ErrDamaged)
	number := func() uint64 {
		v, n := binary.Uvarint(text)
		if n <= 0 {
			text = nil
			return math.MaxUint64
		}
		text = text[n:]
		return v
	}
	for len(text) > 0 {
		var words [3]string
		for i := range words {
			n := number()
			if n > uint64(len(text)) {
				return damaged
			}
			words[i], text = string(text[:n]), text[n:]
		}
		k := countKey{status: hook.Status(words[0]), failure: hook.Failure(words[1]), verdict: words[2]}
		n := number()
		if n > uint64(len(text)) {
			return damaged
		}
		for range n {
			more, count := number(), number()
			if more > math.MaxInt32 || count > math.MaxInt64 {
				return damaged
			}
			k.bucket += int64(more)
			take(k, int64(count))
		}
	}
	return nil
}
