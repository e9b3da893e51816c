package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/sqlitefile"
)

// Filter chooses lines of the log. The zero value chooses all.
type Filter struct {
	Hook, Event, Agent, Session string
	Failed                      bool   // failures only
	Verdict                     string // "deny", "ask", …; "" = any
	Since                       time.Time
	After                       int64 // lines after this number, the oldest first; 0 = the newest first
	Limit                       int   // 0 = 50
}

// Line is one hook's result, as `tenterhook log --json` prints it. It has no Output:
// [Journal.Run] returns that.
type Line struct {
	Seq     int64      `json:"seq"`
	Run     string     `json:"run"`
	Time    time.Time  `json:"time"`
	Hook    string     `json:"hook"`
	Event   hook.Event `json:"event"`
	Tool    string     `json:"tool"`
	Agent   string     `json:"agent"`
	Session string     `json:"session"`
	// Policy has the versions of the fleet's documents that were in force.
	Policy hook.Versions `json:"policy,omitempty"`
	Result
}

const defaultLimit = 50

// notable is what the index result_notable holds.
const notable = "(r.failure <> '' OR r.verdict IN ('deny', 'ask', 'defer'))"

// policyOf is the policy of a dispatch. A body without one is not parsed.
const policyOf = `CASE WHEN instr(d.body, '"policy":{') > 0 AND json_valid(CAST(d.body AS TEXT)) THEN json_extract(CAST(d.body AS TEXT), '$.policy') END`

// Log returns the lines that a filter chooses, the newest first.
func (j *Journal) Log(ctx context.Context, f Filter) ([]Line, error) {
	var where []string
	var args []any
	and := func(condition string, arg ...any) { where, args = append(where, condition), append(args, arg...) }
	for column, value := range map[string]string{"hook": f.Hook, "event": f.Event, "agent": f.Agent, "session": f.Session, "verdict": f.Verdict} {
		if value != "" {
			and("r."+column+" = ?", value)
		}
	}
	if f.Failed {
		and("r.failure <> ''")
	}
	if f.Verdict == "deny" || f.Verdict == "ask" || f.Verdict == "defer" {
		and(notable) // which the index knows by these words alone
	}
	if !f.Since.IsZero() {
		and("r.at_us >= ?", f.Since.UnixMicro())
	}
	order := "r.at_us DESC, r.seq DESC"
	if f.After > 0 {
		and("r.seq > ?", f.After)
		order = "r.seq"
	}
	limit := f.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	query := `SELECT r.seq, d.run, r.at_us, d.event, d.tool, d.agent, d.session, r.hook, r.body, ` + policyOf + ` FROM result r JOIN dispatch d ON d.seq = r.dispatch`
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query = fmt.Sprintf("%s ORDER BY %s LIMIT %d", query, order, limit)
	return sqlitefile.All(ctx, j.db, query, args, func(scan sqlitefile.Scan) (l Line, err error) {
		var at int64
		var body, policy []byte
		var id string
		if err := scan(&l.Seq, &l.Run, &at, &l.Event, &l.Tool, &l.Agent, &l.Session, &id, &body, &policy); err != nil {
			return l, err
		}
		if len(policy) > 0 {
			_ = json.Unmarshal(policy, &l.Policy) // the line can be read without it
		}
		if err := json.Unmarshal(body, &l.Result); err != nil { // the others can be read
			l.Result = Result{Hook: id, Reason: fmt.Sprintf("line %d of the journal is damaged: %v", l.Seq, err)}
		}
		l.Hook, l.Time, l.Output = l.Result.Hook, time.UnixMicro(at).UTC(), nil
		return l, nil
	})
}

// ParseSince reads a time of the flag --since: how long ago ("90s", "2h", "7d"), a date or an RFC 3339
// time.
func ParseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 36500 {
			return time.Now().Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf(`--since: expected a duration such as 90s, 2h or 7d, or a date such as 2026-01-31, got %q`, text)
}

// Last is the number of the newest line; 0 = there is none.
func (j *Journal) Last(ctx context.Context) (seq int64, err error) {
	err = j.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM result`).Scan(&seq)
	return seq, err
}

// ErrNoRun is returned for a run that the journal does not have.
var ErrNoRun = errors.New("the journal has no such run")

// Run returns a dispatch with the results of all its hooks. A prefix of its name
// that no other run has will do.
func (j *Journal) Run(ctx context.Context, run string) (*Entry, error) {
	rows, err := j.db.QueryContext(ctx, `SELECT seq, run, body FROM dispatch WHERE run >= ? AND run < ? ORDER BY run, seq LIMIT 3`, run, run+"\U0010FFFF")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	var seqs []int64
	var e Entry
	for rows.Next() {
		var seq int64
		var name string
		var body []byte
		if err := rows.Scan(&seq, &name, &body); err != nil {
			return nil, err
		}
		if len(seqs) > 0 && name != e.Run {
			if e.Run == run {
				break // a whole name goes before a longer one
			}
			return nil, fmt.Errorf("%q is the beginning of several runs: write more of it", run)
		}
		if len(seqs) == 0 {
			if err := json.Unmarshal(body, &e); err != nil {
				return nil, fmt.Errorf("run %s: %w", name, err)
			}
		}
		seqs = append(seqs, seq)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(seqs) == 0 {
		return nil, fmt.Errorf("%q: %w", run, ErrNoRun)
	}
	for _, seq := range seqs {
		if err := j.results(ctx, seq, &e); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

func (j *Journal) results(ctx context.Context, dispatch int64, e *Entry) error {
	return sqlitefile.Each(ctx, j.db, `SELECT body FROM result WHERE dispatch = ? ORDER BY seq`, []any{dispatch}, func(scan sqlitefile.Scan) error {
		var body []byte
		var r Result
		if err := scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &r); err != nil {
			return fmt.Errorf("a result of run %s: %w", e.Run, err)
		}
		e.Results = append(e.Results, r)
		return nil
	})
}

// Runs returns the names of the runs since a time in which a hook had a result,
// the oldest first; hook "" = any.
func (j *Journal) Runs(ctx context.Context, hookID string, since time.Time) ([]string, error) {
	query, args := `SELECT run FROM dispatch WHERE at_us >= ? ORDER BY at_us, seq`, []any{since.UnixMicro()}
	if hookID != "" {
		query = `SELECT d.run FROM dispatch d WHERE d.seq IN (SELECT dispatch FROM result WHERE hook = ? AND at_us >= ?) ORDER BY d.at_us, d.seq`
		args = []any{hookID, since.UnixMicro()}
	}
	return sqlitefile.All(ctx, j.db, query, args, func(scan sqlitefile.Scan) (run string, err error) {
		err = scan(&run)
		return run, err
	})
}

// Concerned reports whether a hook had a result since a time.
func (j *Journal) Concerned(ctx context.Context, hookID string, since time.Time) (had bool, err error) {
	err = j.db.QueryRowContext(ctx, `SELECT EXISTS(SELECT 1 FROM result WHERE hook = ? AND at_us >= ?)`, hookID, since.UnixMicro()).Scan(&had)
	return had, err
}

// Dispatches counts the events of a kind since a time, up to a bound; workspace ""
// = of all.
func (j *Journal) Dispatches(ctx context.Context, event hook.Event, workspace string, since time.Time, atMost int) (n int, err error) {
	err = j.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM dispatch WHERE at_us >= ? AND event = ? AND (? = '' OR workspace = ?) LIMIT ?)`,
		since.UnixMicro(), string(event), workspace, workspace, atMost).Scan(&n)
	return n, err
}

// Losses are what never reached the database.
type Losses struct {
	Dropped int64 `json:"dropped"` // records that found no room
	Damaged int64 `json:"damaged"` // lines of the spool that could not be read
}

// Losses returns what was lost since the journal began.
func (j *Journal) Losses(ctx context.Context) (l Losses, err error) {
	for key, to := range map[string]*int64{"dropped": &l.Dropped, "damaged": &l.Damaged} {
		err := j.db.QueryRowContext(ctx, `SELECT CAST(v AS INTEGER) FROM meta WHERE k = ?`, key).Scan(to)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return l, err
		}
	}
	return l, nil
}
