package journal

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
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
	LevelFull    Level = "full"    // the event as well: the run can be replayed
	LevelResults Level = "results" // what hooks said, without the event
	LevelOff     Level = "off"     // nothing
)

const (
	defaultKeep    = 14 * 24 * time.Hour
	defaultMaxSize = 256 << 20
	queueLength    = 4096
	batchLength    = 256
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
// the record into a queue of 4,096 and returns; one goroutine writes. What finds
// the queue full, or cannot be written, is dropped, counted and written down as
// soon as writing works again. A Recorder is safe for concurrent use.
type Recorder struct {
	opts  Options
	mask  func(string) string
	spool *spool
	queue chan hook.Record
	done  chan struct{}

	dropped atomic.Int64
	failed  sync.Once             // logs the first failure
	last    atomic.Pointer[error] // to write

	mu     sync.RWMutex // guards closed: nobody sends on a closed queue
	closed bool
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
	r := &Recorder{opts: o, mask: mask, spool: s, queue: make(chan hook.Record, queueLength), done: make(chan struct{})}
	go r.work()
	return r, nil
}

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
	case r.queue <- rec:
	default:
		r.dropped.Add(1)
	}
}

// Dropped counts the records that were not written.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Close writes what is in the queue. It returns an error if records were dropped
// since the last line that was written. Later records are dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
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
	text := plural(e.Count, "record") + " could not be written to the journal"
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns why.
func (e *DroppedError) Unwrap() error { return e.Err }

func (r *Recorder) work() {
	defer close(r.done)
	for rec := range r.queue {
		batch := [][]byte{r.line(rec)}
	more:
		for len(batch) < batchLength {
			select {
			case rec, ok := <-r.queue:
				if !ok {
					break more
				}
				batch = append(batch, r.line(rec))
			default:
				break more
			}
		}
		r.write(batch)
	}
}

// line is a record as it stands in the spool.
func (r *Recorder) line(rec hook.Record) []byte {
	own := maskValues(rec.Env)
	e := entryOf(rec, r.opts.Level == LevelFull, func(s string) string { return r.mask(own(s)) })
	text, err := json.Marshal(e)
	if err != nil { // the payload alone is not ours
		e.Payload, e.Omitted = nil, "the event is not JSON"
		text, _ = json.Marshal(e)
	}
	return text
}

// write appends a batch, and how many records were dropped before it.
func (r *Recorder) write(batch [][]byte) {
	before := r.dropped.Swap(0)
	if before > 0 {
		note, _ := json.Marshal(loss{Dropped: before, Time: time.Now().UTC()})
		batch = append(batch, note)
	}
	if err := r.spool.append(batch); err != nil {
		lost := int64(len(batch))
		if before > 0 {
			lost += before - 1
		}
		r.dropped.Add(lost)
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
