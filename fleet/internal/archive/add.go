package archive

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/sqlitefile"
	"github.com/tenterhook/tenterhook/journal"
)

// Message is records of a journal as the stream delivers them.
type Message struct {
	Subject  string // audit.MACHINE.JOURNAL
	First    string // a header: the number of the first record that is ever shipped
	Body     []byte // a line for each record: its number, a space and its entry
	Received time.Time
}

// Added is what became of records.
type Added struct {
	New     int `json:"new"`
	Copies  int `json:"copies"`  // that the archive had
	Refused int `json:"refused"` // that are none
}

func (a *Added) plus(b Added) {
	a.New, a.Copies, a.Refused = a.New+b.New, a.Copies+b.Copies, a.Refused+b.Refused
}

// parsed is a record of a message.
type parsed struct {
	machine, journal string
	seq, first       int64
	entry            journal.Entry
	body             []byte
	received         time.Time
}

// maxSeq is the largest number of a record. The tables count beyond it without an overflow.
const maxSeq = 1<<53 - 1

// each calls take with every record of a message, and refuse with why something of
// it is none.
func (m *Message) each(take func(*parsed) error, refuse func(why string) error) error {
	parts := strings.Split(m.Subject, ".")
	if len(parts) != 3 || parts[0] != "audit" {
		return refuse("the subject is not audit.MACHINE.JOURNAL")
	}
	first, err := strconv.ParseInt(m.First, 10, 64)
	if err != nil || first < 1 {
		return refuse("it does not say where its journal begins")
	}
	for line := range bytes.Lines(m.Body) {
		p := parsed{machine: parts[1], journal: parts[2], first: first, received: m.Received}
		number, body, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		p.seq, err = strconv.ParseInt(string(number), 10, 64)
		if err != nil || p.seq < 1 || p.seq > maxSeq {
			err = refuse("a record has no number that a journal reaches")
		} else if json.Unmarshal(body, &p.entry) != nil {
			err = refuse("a record is no entry of a journal")
		} else {
			p.body, p.first = body, min(first, p.seq)
			err = take(&p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Add adds messages, all or none. It returns once they are on disk.
func (a *Archive) Add(ctx context.Context, messages []Message) (added Added, err error) {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return added, err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	w := &writer{ctx: ctx, tx: tx, sources: map[[2]string]int64{}, seqs: map[int64][]int64{}, begins: map[int64]int64{}}
	for i := range messages {
		m := &messages[i]
		err := m.each(func(p *parsed) error {
			isNew, err := w.add(p)
			if isNew {
				added.New++
			} else {
				added.Copies++
			}
			return err
		}, func(why string) error {
			added.Refused++
			return w.refuse(m.Subject, why, m.Received)
		})
		if err != nil {
			return Added{}, err
		}
	}
	if err := w.note(); err != nil {
		return Added{}, err
	}
	return added, tx.Commit()
}

// writer is one transaction.
type writer struct {
	ctx     context.Context
	tx      *sql.Tx
	record  *sql.Stmt
	result  *sql.Stmt
	sources map[[2]string]int64
	seqs    map[int64][]int64 // of each source, that are new
	begins  map[int64]int64   // the first number of each source
}

func (w *writer) prepare() (err error) {
	if w.record != nil {
		return nil
	}
	if w.record, err = w.tx.PrepareContext(w.ctx, `INSERT INTO record(source, seq, run, at_us, received_us, agent, session, event, tool, verdict, body)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	w.result, err = w.tx.PrepareContext(w.ctx, `INSERT INTO result(record, source, at_us, hook, status, failure, verdict, elapsed_us, place) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	return err
}

func (w *writer) refuse(subject, why string, at time.Time) error {
	if len(subject) > 200 {
		subject = strings.ToValidUTF8(subject[:200], "") + "…"
	}
	_, err := w.tx.ExecContext(w.ctx, `INSERT INTO refused VALUES(?, ?, 1, ?) ON CONFLICT DO UPDATE SET n = n + 1, last_us = excluded.last_us`, subject, why, micros(at))
	return err
}

// source returns the number of a machine's journal.
func (w *writer) source(p *parsed) (id int64, err error) {
	key := [2]string{p.machine, p.journal}
	if id, ok := w.sources[key]; ok {
		w.begins[id] = min(w.begins[id], p.first)
		return id, nil
	}
	if _, err := w.tx.ExecContext(w.ctx, `INSERT INTO source(machine, journal, first, received_us) VALUES(?, ?, ?, 0) ON CONFLICT DO NOTHING`, p.machine, p.journal, p.first); err != nil {
		return 0, err
	}
	var first int64
	if err := w.tx.QueryRowContext(w.ctx, `SELECT id, first FROM source WHERE machine = ? AND journal = ?`, p.machine, p.journal).Scan(&id, &first); err != nil {
		return 0, err
	}
	w.sources[key], w.begins[id] = id, min(first, p.first)
	return id, nil
}

func (w *writer) add(p *parsed) (isNew bool, err error) {
	if err := w.prepare(); err != nil {
		return false, err
	}
	source, err := w.source(p)
	if err != nil {
		return false, err
	}
	e := &p.entry
	at := micros(e.Time)
	done, err := w.record.ExecContext(w.ctx, source, p.seq, e.Run, at, micros(p.received), e.Agent, e.Session, string(e.Event), e.Tool, e.Verdict.String(), p.body)
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	id, err := done.LastInsertId()
	if err != nil {
		return false, err
	}
	w.seqs[source] = append(w.seqs[source], p.seq)
	for i := range e.Results {
		r := &e.Results[i]
		if _, err := w.result.ExecContext(w.ctx, id, source, at, r.Hook, string(r.Status), string(r.Failure), r.Verdict.String(), int64(r.ElapsedMS*1000), i); err != nil {
			return false, err
		}
	}
	return true, nil
}

// note writes down which numbers of each source there are now.
func (w *writer) note() error {
	for source, seqs := range w.seqs {
		slices.Sort(seqs)
		for len(seqs) > 0 {
			n := 1
			for n < len(seqs) && seqs[n] <= seqs[n-1]+1 {
				n++
			}
			if err := w.span(source, seqs[0], seqs[n-1], seqs[:n]); err != nil {
				return err
			}
			seqs = seqs[n:]
		}
		if _, err := w.tx.ExecContext(w.ctx, `UPDATE source SET received_us = max(received_us, ?), first = min(first, ?) WHERE id = ?`, micros(time.Now()), w.begins[source], source); err != nil {
			return err
		}
	}
	return nil
}

// span joins numbers that follow one another with the ones that are there. seqs are
// all that came: a number that came twice, or that was there, has two runs.
func (w *writer) span(source, lo, hi int64, seqs []int64) error {
	from, to := lo, hi
	twice := int64(len(seqs)) - (hi - lo + 1)
	var drop []int64
	err := sqlitefile.Each(w.ctx, w.tx, `SELECT lo, hi FROM span WHERE source = ? AND lo <= ? AND hi >= ?`, []any{source, hi + 1, lo - 1}, func(scan sqlitefile.Scan) error {
		var l, h int64
		if err := scan(&l, &h); err != nil {
			return err
		}
		twice += max(min(hi, h)-max(lo, l)+1, 0)
		from, to, drop = min(from, l), max(to, h), append(drop, l)
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range drop {
		if _, err := w.tx.ExecContext(w.ctx, `DELETE FROM span WHERE source = ? AND lo = ?`, source, l); err != nil {
			return err
		}
	}
	if _, err := w.tx.ExecContext(w.ctx, `INSERT INTO span VALUES(?, ?, ?)`, source, from, to); err != nil {
		return err
	}
	if twice > 0 {
		_, err = w.tx.ExecContext(w.ctx, `UPDATE source SET twice = twice + ? WHERE id = ?`, twice, source)
	}
	return err
}

// Gap is a range of records of a journal that did not come, though later ones did.
type Gap struct {
	Machine string `json:"machine"`
	Journal string `json:"journal"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
}

func (g Gap) String() string {
	return fmt.Sprintf("%s: records %d to %d of journal %s are missing", g.Machine, g.From, g.To, g.Journal)
}

// Gaps returns what is missing, by machine, at most limit ranges.
func (a *Archive) Gaps(ctx context.Context, limit int) ([]Gap, error) {
	return sqlitefile.All(ctx, a.db, `SELECT machine, journal, lo, hi FROM (
		SELECT s.machine, s.journal, coalesce(lag(p.hi) OVER (PARTITION BY s.id ORDER BY p.lo) + 1, s.first) AS lo, p.lo - 1 AS hi
		FROM span p JOIN source s ON s.id = p.source) WHERE lo <= hi ORDER BY machine, journal, lo LIMIT ?`, []any{limit}, func(scan sqlitefile.Scan) (g Gap, err error) {
		err = scan(&g.Machine, &g.Journal, &g.From, &g.To)
		return g, err
	})
}
