package journal

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// Options configure a Recorder and a Journal. The zero value keeps everything
// for 14 days, in at most 256 MiB.
type Options struct {
	// Level is how much of a dispatch is kept; "" = LevelFull.
	Level Level
	// Redact are regular expressions (RE2) whose matches are masked, beside the
	// shapes of well-known credentials.
	Redact []string
	// Env has variables ("key=value") whose values are masked where their names
	// say that they are secret, as those of each record's own are.
	Env []string
	// Keep is how long a run is kept; 0 = 14 days.
	Keep time.Duration
	// MaxSize bounds the database, in bytes; 0 = 256 MiB. The oldest runs go first.
	MaxSize int64
	// Logger gets the first failure to write; nil = silence.
	Logger *slog.Logger
}

// Level is how much of a dispatch is kept.
type Level string

// The levels.
const (
	LevelFull    Level = "full"    // the event too: the run can be replayed
	LevelResults Level = "results" // how hooks did, without the event and what else they said
	LevelOff     Level = "off"     // nothing
)

const (
	defaultKeep    = 14 * 24 * time.Hour
	defaultMaxSize = 256 << 20
	queueLength    = 4096
	batchLength    = 256

	// What cannot be written waits in memory, up to these bounds, and is tried again.
	keptRecords = 4096
	keptBytes   = 8 << 20
	keptAgain   = time.Second

	// restLength is how long the writer rests after a batch. Without it each
	// dispatch would wake it, which costs more than everything else of recording.
	restLength = 5 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Level == "" {
		o.Level = LevelFull
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	if o.MaxSize <= 0 {
		o.MaxSize = defaultMaxSize
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Recorder appends what a registry decided to the spool of a folder. Record puts
// the record into a queue of 4,096 and returns; one goroutine writes. What cannot be
// written waits in memory, up to 4,096 records or 8 MiB, and is tried again each
// second and at the end. What finds no room is dropped, counted and written down as
// soon as writing works again. A Recorder is safe for concurrent use.
type Recorder struct {
	opts  Options
	mask  func(string) string
	spool *spool
	queue chan item
	hurry chan struct{} // a caller waits for what is in the queue
	done  chan struct{}

	kept  [][]byte // lines that could not be written, the oldest first; of the writer alone
	bytes int      // of these

	dropped atomic.Int64
	waiting atomic.Int64          // len(kept)
	failed  sync.Once             // logs the first failure
	last    atomic.Pointer[error] // to write

	mu     sync.RWMutex // guards closed: no record is sent on a closed queue
	closed bool
}

// item is a record, or asks for a signal when all before it are written.
type item struct {
	rec     *hook.Record // nil = none
	now     *awaited     // nil = no caller waits for the record
	written chan struct{}
}

// awaited is a record that a caller waits for.
type awaited struct {
	taken atomic.Bool // by the writer, or by who waited and gave up
	err   chan error
}

// NewRecorder returns a Recorder that writes to a folder, which it makes where it
// is missing, and fails where it cannot. Close ends it.
func NewRecorder(dir string, o Options) (*Recorder, error) {
	o = o.withDefaults()
	mask, err := Mask(o.Redact, o.Env)
	if err != nil {
		return nil, err
	}
	s, err := newSpool(dir)
	if err != nil {
		return nil, err
	}
	r := &Recorder{opts: o, mask: mask, spool: s, queue: make(chan item, queueLength), hurry: make(chan struct{}, 1), done: make(chan struct{})}
	go r.work()
	return r, nil
}

// Prompt returns the recorder: Record never waits.
func (r *Recorder) Prompt() hook.Recorder { return r }

// Record keeps a record. It never waits.
func (r *Recorder) Record(rec hook.Record) {
	if r.opts.Level == LevelOff {
		return
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- item{rec: &rec}:
	default:
		r.dropped.Add(1)
	}
}

// RecordNow keeps a record, and returns once it is in the spool, or why it is not: it
// is not kept then. It waits for the end of ctx at most, so that a process which holds
// the lock delays no caller for ever.
func (r *Recorder) RecordNow(ctx context.Context, rec hook.Record) error {
	if r.opts.Level == LevelOff {
		return errors.New("nothing is recorded")
	}
	own := &awaited{err: make(chan error, 1)}
	for !r.offer(item{rec: &rec, now: own}) {
		select { // the queue is full
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return errors.New("the journal has no room in time")
		}
	}
	r.press()
	select {
	case err := <-own.err:
		return err
	case <-r.done:
		select {
		case err := <-own.err:
			return err
		default:
			return errors.New("the journal is closed")
		}
	case <-ctx.Done():
		own.taken.Store(true)
		return errors.New("the journal was not written in time: another process may hold its lock")
	}
}

// Flush waits until what was recorded before is written or dropped, or for the end
// of ctx.
func (r *Recorder) Flush(ctx context.Context) error {
	written := make(chan struct{})
	for !r.offer(item{written: written}) {
		select { // the queue is full
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.press()
	select {
	case <-written:
		return nil
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offer puts an item into the queue if there is room. A closed queue takes it, and
// nothing becomes of it.
func (r *Recorder) offer(it item) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return true
	}
	select {
	case r.queue <- it:
		return true
	default:
		return false
	}
}

// Dropped counts the records that were not written, also the ones that are tried again.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() + r.waiting.Load() }

// Close writes what is in the queue. It returns an error if records were dropped
// since the last line that was written. Later records are dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	r.press()
	<-r.done
	if n := r.dropped.Load(); n > 0 {
		return &DroppedError{Count: n, Err: r.LastError()}
	}
	return nil
}

// LastError is why a write failed last; nil = none did.
func (r *Recorder) LastError() error {
	if err := r.last.Load(); err != nil {
		return *err
	}
	return nil
}

// DroppedError says how many records could not be written.
type DroppedError struct {
	Count int64
	Err   error // why; nil = there was no room in the queue
}

// Error returns the count in words, and why.
func (e *DroppedError) Error() string {
	text := phrase.Count(int(e.Count), "record") + " could not be written to the journal"
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns why.
func (e *DroppedError) Unwrap() error { return e.Err }

func (r *Recorder) work() {
	defer close(r.done)
	defer r.giveUp()
	for {
		first, ok := r.next()
		if !ok {
			return
		}
		batch := []item{first}
	more:
		for len(batch) < batchLength {
			select {
			case next, ok := <-r.queue:
				if !ok {
					break more
				}
				batch = append(batch, next)
			default:
				break more
			}
		}
		r.write(batch)
		if len(r.queue) == 0 {
			r.rest()
		}
	}
}

// next waits for an item, and tries again meanwhile to write what could not be
// written; ok is false once the queue is closed.
func (r *Recorder) next() (it item, ok bool) {
	for len(r.kept) > 0 {
		select {
		case it, ok = <-r.queue:
			return it, ok
		case <-time.After(keptAgain):
			r.again()
		}
	}
	it, ok = <-r.queue
	return it, ok
}

// again writes what could not be written before, the oldest first, as far as it can.
func (r *Recorder) again() {
	for len(r.kept) > 0 {
		n := min(len(r.kept), batchLength)
		if err := r.spool.append(r.kept[:n]); err != nil {
			r.last.Store(&err)
			return
		}
		for _, line := range r.kept[:n] {
			r.bytes -= len(line)
		}
		r.kept = r.kept[n:]
		r.waiting.Store(int64(len(r.kept)))
	}
	r.kept = nil
}

// keep keeps lines that could not be written, and counts the ones that find no room.
func (r *Recorder) keep(lines [][]byte) {
	for _, line := range lines {
		if len(r.kept) >= keptRecords || r.bytes+len(line) > keptBytes {
			r.dropped.Add(1)
			continue
		}
		r.kept, r.bytes = append(r.kept, line), r.bytes+len(line)
	}
	r.waiting.Store(int64(len(r.kept)))
}

// giveUp tries a last time to write what could not be written, and counts the rest.
func (r *Recorder) giveUp() {
	r.again()
	r.dropped.Add(int64(len(r.kept)))
	r.waiting.Store(0)
	r.kept = nil
}

// rest waits a moment, unless a caller is in a hurry.
func (r *Recorder) rest() {
	timer := time.NewTimer(restLength)
	defer timer.Stop()
	select {
	case <-r.hurry:
	case <-timer.C:
	}
}

// press ends a rest.
func (r *Recorder) press() {
	select {
	case r.hurry <- struct{}{}:
	default:
	}
}

// line is a record as it stands in the spool.
func (r *Recorder) line(rec *hook.Record) []byte {
	own := maskValues(rec.Env)
	e := entryOf(*rec, r.opts.Level == LevelFull, func(s string) string { return r.mask(own(s)) })
	text, err := json.Marshal(e)
	if err != nil { // the payload alone is not ours
		e.Payload, e.Omitted = nil, "the event is not JSON"
		text, _ = json.Marshal(e)
	}
	return text
}

// write appends a batch after what could not be written before, and how many records
// were dropped.
func (r *Recorder) write(batch []item) {
	r.again()
	var lines, own [][]byte // own are of records that no caller waits for
	var waiting []*awaited
	for _, it := range batch {
		switch {
		case it.rec == nil:
			defer close(it.written)
		case it.now == nil:
			own = append(own, r.line(it.rec))
			lines = append(lines, own[len(own)-1])
		case it.now.taken.CompareAndSwap(false, true):
			lines, waiting = append(lines, r.line(it.rec)), append(waiting, it.now)
		}
	}
	if len(lines) == 0 {
		return
	}
	before := r.dropped.Swap(0)
	if before > 0 {
		note, _ := json.Marshal(loss{Dropped: before, Time: time.Now().UTC()})
		lines = append(lines, note)
	}
	err := r.spool.append(lines)
	for _, w := range waiting {
		w.err <- err
	}
	if err != nil {
		r.dropped.Add(before)
		r.keep(own) // who waits knows what became of the others
		r.last.Store(&err)
		r.failed.Do(func() {
			r.opts.Logger.Error("the journal cannot be written", slog.Any("err", err))
		})
	}
}

// loss is a line that says how many records are missing before it.
type loss struct {
	Dropped int64     `json:"dropped"`
	Time    time.Time `json:"time"`
}
