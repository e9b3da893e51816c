package journal

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tenterhook/tenterhook/hook"
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
	Hourly   []int64                `json:"hourly"` // runs in each hour of the last day, the oldest first
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
	rows, err := j.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	all := make(map[string]*counted)
	now := hourOf(time.Now().UnixMicro())
	for rows.Next() {
		var id string
		var hour, last int64
		var text sql.RawBytes
		if err := rows.Scan(&id, &hour, &last, &text); err != nil {
			return nil, err
		}
		c := all[id]
		if c == nil {
			c = &counted{HookStats: HookStats{Hook: id, Failures: map[hook.Failure]int64{}, Hourly: make([]int64, hoursShown)}, times: map[int64]int64{}}
			all[id] = c
		}
		runs := c.Runs
		if err := eachCount(text, c.add); err != nil {
			return nil, err
		}
		if at := time.UnixMicro(last).UTC(); at.After(c.Last) {
			c.Last = at
		}
		if ago := now - hour; ago >= 0 && ago < hoursShown {
			c.Hourly[hoursShown-1-ago] += c.Runs - runs
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	stats := []HookStats{}
	for _, c := range all {
		c.P50MS, c.P95MS, c.P99MS = c.quantile(0.50), c.quantile(0.95), c.quantile(0.99)
		stats = append(stats, c.HookStats)
	}
	slices.SortFunc(stats, func(a, b HookStats) int { return cmp.Compare(a.Hook, b.Hook) })
	return stats, nil
}

// counted is a hook's counts, with how often each bucket of time occurred.
type counted struct {
	HookStats
	times map[int64]int64
}

func (c *counted) add(k countKey, n int64) {
	if k.failure != "" {
		c.Failed += n
		c.Failures[k.failure] += n
	}
	switch k.status {
	case hook.StatusSkipped:
		c.Skipped += n
		return
	case hook.StatusAsync: // a run in the background counts when it has ended
		return
	}
	c.Runs += n
	if k.verdict == hook.Deny.String() && k.failure == "" {
		c.Denied += n
	}
	c.times[k.bucket] += n
}

// quantile is the time in milliseconds that a share q of the runs did not exceed.
func (c *counted) quantile(q float64) float64 {
	var all int64
	for _, n := range c.times {
		all += n
	}
	var seen int64
	for _, bucket := range slices.Sorted(maps.Keys(c.times)) {
		if seen += c.times[bucket]; float64(seen) >= q*float64(all) {
			return bucketTime(bucket) / 1000
		}
	}
	return 0
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}
