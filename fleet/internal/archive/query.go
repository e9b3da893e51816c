package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/sqlitefile"
	"github.com/tenterhook/tenterhook/journal"
)

// Source is a journal of a machine, as far as it is archived.
type Source struct {
	Machine  string    `json:"machine"`
	Journal  string    `json:"journal"`
	First    int64     `json:"first"`    // number of the first record that is expected
	Last     int64     `json:"last"`     // of the newest that is there
	Records  int64     `json:"records"`  // with different numbers
	Missing  int64     `json:"missing"`  // before the newest
	Twice    int64     `json:"twice"`    // numbers that the machine used again: it was restored from a copy
	Received time.Time `json:"received"` // of the newest
}

// Sources returns the journals, by machine.
func (a *Archive) Sources(ctx context.Context) ([]Source, error) {
	return sqlitefile.All(ctx, a.db, `SELECT s.machine, s.journal, s.first, max(p.hi), sum(p.hi - p.lo + 1), s.twice, s.received_us
		FROM source s JOIN span p ON p.source = s.id GROUP BY s.id ORDER BY s.machine, s.received_us`, nil, func(scan sqlitefile.Scan) (s Source, err error) {
		var at int64
		err = scan(&s.Machine, &s.Journal, &s.First, &s.Last, &s.Records, &s.Twice, &at)
		s.Missing, s.Received = s.Last-s.First+1-s.Records, time.UnixMicro(at).UTC()
		return s, err
	})
}

// Refusal counts messages that were no records.
type Refusal struct {
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	Count   int64     `json:"count"`
	Last    time.Time `json:"last"`
}

// Refused returns what came and was no record, the latest first.
func (a *Archive) Refused(ctx context.Context) ([]Refusal, error) {
	return sqlitefile.All(ctx, a.db, `SELECT subject, why, n, last_us FROM refused ORDER BY last_us DESC LIMIT 100`, nil, func(scan sqlitefile.Scan) (r Refusal, err error) {
		var at int64
		err = scan(&r.Subject, &r.Why, &r.Count, &at)
		r.Last = time.UnixMicro(at).UTC()
		return r, err
	})
}

// Filter chooses lines of the log. The zero value chooses all.
type Filter struct {
	Machine string // "" = all
	journal.Filter
}

// Line is one hook's result, on one machine.
type Line struct {
	Machine string `json:"machine"`
	journal.Line
}

// where is the condition that a filter comes to.
func (f *Filter) where() (condition string, args []any) {
	var parts []string
	and := func(part string, arg ...any) { parts, args = append(parts, part), append(args, arg...) }
	for _, c := range []struct{ column, value string }{{"s.machine", f.Machine}, {"r.hook", f.Hook}, {"d.event", f.Event}, {"d.agent", f.Agent}, {"d.session", f.Session}, {"r.verdict", f.Verdict}} {
		if c.value != "" {
			and(c.column+" = ?", c.value)
		}
	}
	if f.Failed {
		and("r.failure <> ''")
	}
	if f.Failed || slices.Contains([]string{"deny", "ask", "defer"}, f.Verdict) {
		and("(r.failure <> '' OR r.verdict IN ('deny', 'ask', 'defer'))") // as the index has it
	}
	if !f.Since.IsZero() {
		and("r.at_us >= ?", micros(f.Since))
	}
	if f.After > 0 {
		and("r.id > ?", f.After)
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(parts, " AND "), args
}

// Log returns the lines that a filter chooses, the newest first; with After, the
// ones that came after that one, in the order in which they came.
func (a *Archive) Log(ctx context.Context, f Filter) ([]Line, error) {
	where, args := f.where()
	order, limit := "r.at_us DESC, r.id DESC", f.Limit
	if f.After > 0 {
		order = "r.id"
	}
	if limit <= 0 {
		limit = 50
	}
	return sqlitefile.All(ctx, a.db, fmt.Sprintf(`SELECT r.id, s.machine, d.run, r.at_us, d.event, d.tool, d.agent, d.session, r.place, d.body
		FROM result r JOIN record d ON d.id = r.record JOIN source s ON s.id = r.source%s ORDER BY %s LIMIT %d`, where, order, limit), args, func(scan sqlitefile.Scan) (l Line, err error) {
		var at int64
		var place int
		var body []byte
		var e journal.Entry
		if err := scan(&l.Seq, &l.Machine, &l.Run, &at, &l.Event, &l.Tool, &l.Agent, &l.Session, &place, &body); err != nil {
			return l, err
		}
		if err := json.Unmarshal(body, &e); err != nil || place >= len(e.Results) {
			return l, fmt.Errorf("line %d of the archive is damaged: %w", l.Seq, err)
		}
		l.Result = e.Results[place]
		l.Policy, l.Hook, l.Time, l.Output = e.Policy, l.Result.Hook, time.UnixMicro(at).UTC(), nil
		return l, nil
	})
}

// Last is the number of the newest line; 0 = there is none.
func (a *Archive) Last(ctx context.Context) (id int64, err error) {
	err = a.db.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM result`).Scan(&id)
	return id, err
}

// Stats is how a hook did, on one machine or on all.
type Stats struct {
	journal.HookStats
	Machine  string `json:"machine,omitempty"` // "" = all
	Machines int    `json:"machines"`          // how many it ran on
}

// Stats returns how each hook did since a time, by its ID and, if asked for, by
// machine; a zero since is no bound. Of a filter, Machine, Hook and Since count.
func (a *Archive) Stats(ctx context.Context, f Filter, byMachine bool) ([]Stats, error) {
	chosen := Filter{Machine: f.Machine, Filter: journal.Filter{Hook: f.Hook, Since: f.Since}}
	where, args := chosen.where()
	type group struct {
		*journal.Tally
		machines map[string]bool
	}
	all := map[[2]string]group{}
	err := sqlitefile.Each(ctx, a.db, fmt.Sprintf(`SELECT r.hook, s.machine, r.status, r.failure, r.verdict,
		CASE WHEN r.elapsed_us < 1 THEN 0 ELSE 1 + CAST(log2(r.elapsed_us) * %d AS INTEGER) END AS bucket, count(*), max(r.at_us)
		FROM result r JOIN source s ON s.id = r.source%s GROUP BY 1, 2, 3, 4, 5, 6`, journal.BucketsPerOctave, where), args, func(scan sqlitefile.Scan) error {
		var id, machine, verdict string
		var status hook.Status
		var failure hook.Failure
		var bucket, n, last int64
		if err := scan(&id, &machine, &status, &failure, &verdict, &bucket, &n, &last); err != nil {
			return err
		}
		key := [2]string{id}
		if byMachine {
			key[1] = machine
		}
		g, ok := all[key]
		if !ok {
			g = group{journal.NewTally(id), map[string]bool{}}
			all[key] = g
		}
		g.machines[machine] = true
		g.Add(status, failure, verdict, bucket, n, last)
		return nil
	})
	if err != nil {
		return nil, err
	}
	list := []Stats{}
	for key, g := range all {
		list = append(list, Stats{g.Tally.Stats(), key[1], len(g.machines)})
	}
	slices.SortFunc(list, func(a, b Stats) int { return strings.Compare(a.Hook+"\x00"+a.Machine, b.Hook+"\x00"+b.Machine) })
	return list, nil
}
