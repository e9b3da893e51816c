package journal

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// HookStats is how one hook did, as `tenterhook stats --json` prints it. Times
// are exact to 5 %; a run that was skipped counts as no run, one in the background when it has ended.
type HookStats struct {
	Hook     string                 `json:"hook"`
	Runs     int64                  `json:"runs"`
	Denied   int64                  `json:"denied"`
	Failed   int64                  `json:"failed"`
	Skipped  int64                  `json:"skipped"`
	Failures map[hook.Failure]int64 `json:"failures"`
	P50MS    float64                `json:"p50_ms"`
	P95MS    float64                `json:"p95_ms"`
	P99MS    float64                `json:"p99_ms"`
	Last     time.Time              `json:"last"`
	Hourly   []int64                `json:"hourly,omitempty"` // runs in each hour of the last day, the oldest first; nil = they are not known by the hour
}

// hoursShown is how many hours Hourly has.
const hoursShown = 24

// Stats returns how each hook did since a time, by the hour in which that lies,
// in the order of their IDs; hookID "" = all.
func (j *Journal) Stats(ctx context.Context, hookID string, since time.Time) ([]HookStats, error) {
	return j.StatsBetween(ctx, hookID, since, time.Time{})
}

// StatsBetween returns what Stats does, without the hour in which until lies and
// later ones; a zero until is no bound.
func (j *Journal) StatsBetween(ctx context.Context, hookID string, since, until time.Time) ([]HookStats, error) {
	query := `SELECT hook, hour, last_us, counts FROM tally WHERE hour >= ?`
	args := []any{hourOf(since.UnixMicro())}
	if !until.IsZero() {
		query, args = query+` AND hour < ?`, append(args, hourOf(until.UnixMicro()))
	}
	if hookID != "" {
		query, args = query+` AND hook = ?`, append(args, hookID)
	}
	all := make(map[string]*Tally)
	now := hourOf(time.Now().UnixMicro())
	err := sqlitefile.Each(ctx, j.db, query, args, func(scan sqlitefile.Scan) error {
		var id string
		var hour, last int64
		var text sql.RawBytes
		if err := scan(&id, &hour, &last, &text); err != nil {
			return err
		}
		c := all[id]
		if c == nil {
			c = NewTally(id)
			c.stats.Hourly = make([]int64, hoursShown)
			all[id] = c
		}
		runs := c.stats.Runs
		if err := eachCount(text, func(k countKey, n int64) { c.Add(k.status, k.failure, k.verdict, k.bucket, n, last) }); err != nil {
			return err
		}
		if ago := now - hour; ago >= 0 && ago < hoursShown {
			c.stats.Hourly[hoursShown-1-ago] += c.stats.Runs - runs
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	stats := []HookStats{}
	for _, c := range all {
		stats = append(stats, c.Stats())
	}
	slices.SortFunc(stats, func(a, b HookStats) int { return cmp.Compare(a.Hook, b.Hook) })
	return stats, nil
}

// Tally adds up how one hook did.
type Tally struct {
	stats HookStats
	times map[int64]int64 // how often each bucket of time occurred
}

// NewTally begins the tally of a hook.
func NewTally(hookID string) *Tally {
	return &Tally{HookStats{Hook: hookID, Failures: map[hook.Failure]int64{}}, map[int64]int64{}}
}

// BucketsPerOctave says how times are told apart: bucket 0 is less than a microsecond,
// and n the times from 2^((n-1)/BucketsPerOctave) microseconds on.
const BucketsPerOctave = bucketsPerOctave

// Add counts n results that are alike. bucket says how long each took, last when the
// newest came, in microseconds since 1970.
func (t *Tally) Add(status hook.Status, failure hook.Failure, verdict string, bucket, n, last int64) {
	s := &t.stats
	if at := time.UnixMicro(last).UTC(); at.After(s.Last) {
		s.Last = at
	}
	if failure != "" {
		s.Failed += n
		s.Failures[failure] += n
	}
	switch status {
	case hook.StatusSkipped:
		s.Skipped += n
		return
	case hook.StatusAsync: // a run in the background counts when it has ended
		return
	}
	s.Runs += n
	if verdict == hook.Deny.String() && failure == "" {
		s.Denied += n
	}
	t.times[bucket] += n
}

// Stats returns what was added up.
func (t *Tally) Stats() HookStats {
	s := t.stats
	s.P50MS, s.P95MS, s.P99MS = t.quantile(0.50), t.quantile(0.95), t.quantile(0.99)
	return s
}

// quantile is the time in milliseconds that a share q of the runs did not exceed.
func (t *Tally) quantile(q float64) float64 {
	var all, seen int64
	for _, n := range t.times {
		all += n
	}
	for _, bucket := range slices.Sorted(maps.Keys(t.times)) {
		if seen += t.times[bucket]; float64(seen) >= q*float64(all) {
			return bucketTime(bucket) / 1000
		}
	}
	return 0
}
