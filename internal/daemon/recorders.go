package daemon

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/recording"
)

// recordWithin is how long the end of a recorder may take. Another process may
// hold the lock of the journal.
const recordWithin = time.Second

// recorders are what registries write their results to, one for the directories
// of a user: the settings of a journal are the user's.
type recorders struct {
	log   *slog.Logger
	moves bool // records go into the database soon; else a command that reads them moves them

	mu   sync.Mutex // guards all below
	open map[places]*recorder
}

type recorder struct {
	*recording.Recorder
	users int
	kept  atomic.Int64
	mover *mover // nil = none
}

// Record keeps a record. That self-protection, which sees each call, had no
// objection says nothing.
func (r *recorder) Record(rec hook.Record) {
	if rec.Outcome != nil {
		own := *rec.Outcome
		own.Results = slices.DeleteFunc(slices.Clone(own.Results), func(res hook.Result) bool {
			return res.Hook.ID == protectionID && res.Status == hook.StatusSuccess && res.Verdict() == hook.NoOpinion
		})
		if len(own.Results) == 0 && len(rec.Outcome.Results) > 0 {
			return
		}
		rec.Outcome = &own
	}
	r.kept.Add(1)
	r.Recorder.Record(rec)
	if r.mover != nil && r.Recording() {
		r.mover.soon()
	}
}

// Prompt returns the recorder: Record never waits.
func (r *recorder) Prompt() hook.Recorder { return r }

// get returns a recorder. The caller puts it back when its registry is closed.
func (rs *recorders) get(p places, env []string) *recorder {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.open[p]
	if r == nil {
		if rs.open == nil {
			rs.open = make(map[places]*recorder)
		}
		r = &recorder{Recorder: recording.New(p.state, env, rs.log)}
		if rs.moves {
			r.mover = startMover(r.Recorder, rs.log)
		}
		rs.open[p] = r
	}
	r.users++
	return r
}

// dropped counts the records that could not be written.
func (rs *recorders) dropped() (n int64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		n += r.Dropped()
	}
	return n
}

// put writes what waits if no other call uses the recorder.
func (rs *recorders) put(p places, r *recorder) {
	rs.mu.Lock()
	r.users--
	last := r.users == 0
	if last {
		delete(rs.open, p)
	}
	rs.mu.Unlock()
	if !last {
		return
	}
	if r.mover != nil {
		r.mover.end()
	}
	if err := r.CloseWithin(recordWithin); err != nil {
		rs.log.Warn("not recorded", "err", err)
	}
}
