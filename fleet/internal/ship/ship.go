package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/journal"
)

// HeaderFirst is the header of a message that has the number of the first record that
// is ever shipped of its journal. The body has a line for each record: its number, a
// space and its entry in JSON. Many records go in one message, because the hub writes
// each message to disk before it acknowledges it.
const HeaderFirst = "Tenterhook-First"

// Subject is where the records of a journal go.
func Subject(machine, journalID string) string { return "audit." + machine + "." + journalID }

// Shipper ships the journal of a folder. The fields are not changed once it runs.
type Shipper struct {
	Machine string
	Conn    *nats.Conn
	JS      jetstream.JetStream // with [Options]
	Dir     string              // of the journal
	Options journal.Options
	Limit   int // of a message, in bytes; 0 = what the hub takes

	state atomic.Pointer[fleetstate.Audit]
}

// State returns how far it is. It is safe for concurrent use.
func (s *Shipper) State() fleetstate.Audit {
	if state := s.state.Load(); state != nil {
		return *state
	}
	return fleetstate.Audit{}
}

const (
	batchRecords = 8192    // that are read from the journal at once
	batchBytes   = 8 << 20 // of these
	lineBytes    = 32      // beside the entry, in a line
	messageBytes = 768 << 10
	window       = 6                      // messages that are not acknowledged yet
	patience     = 30 * time.Second       // without any acknowledgement
	idle         = 300 * time.Millisecond // between two looks for new records
	maxWait      = 10 * time.Second       // between two attempts
)

// Options are those of the JetStream of a shipper.
func Options() []jetstream.JetStreamOpt {
	return []jetstream.JetStreamOpt{jetstream.WithPublishAsyncMaxPending(4 * window), jetstream.WithPublishAsyncTimeout(patience)}
}

// Run ships until ctx ends. After a failure it waits longer each time, up to fifteen
// seconds, with a random part: a fleet does not come back at once.
func (s *Shipper) Run(ctx context.Context) {
	wait := idle
	for ctx.Err() == nil {
		err := s.use(ctx, func(j *journal.Journal) error {
			for ctx.Err() == nil {
				n, err := s.Once(ctx, j)
				if err != nil {
					return err
				}
				wait = idle
				if n < batchRecords/8 {
					sleep(ctx, idle/2+rand.N(idle))
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.change(func(state *fleetstate.Audit) { state.Error = err.Error() })
			sleep(ctx, wait/2+rand.N(wait))
			wait = min(2*wait, maxWait)
		}
	}
}

// use opens the journal, and calls ship with it.
func (s *Shipper) use(ctx context.Context, ship func(*journal.Journal) error) error {
	j, err := journal.Open(ctx, s.Dir, s.Options)
	if err != nil {
		return err
	}
	return errors.Join(ship(j), j.Close())
}

func (s *Shipper) change(do func(*fleetstate.Audit)) {
	state := s.State()
	do(&state)
	s.state.Store(&state)
}

// Once moves the spool into the journal, and ships what waits there, up to some
// thousand records. It returns how many were acknowledged.
func (s *Shipper) Once(ctx context.Context, j *journal.Journal) (int, error) {
	_, ingestErr := j.Ingest(ctx) // what is in the journal can be shipped all the same
	if errors.Is(ingestErr, journal.ErrReplaced) || journal.Damaged(ingestErr) {
		return 0, ingestErr
	}
	at, err := j.BeginShipping(ctx)
	if err != nil {
		return 0, err
	}
	_, last, err := j.Shipped(ctx)
	if err != nil {
		return 0, err
	}
	s.change(func(state *fleetstate.Audit) { state.Journal, state.Shipped, state.Last = j.ID, at.Seq, last })
	if !s.Conn.IsConnected() {
		return 0, errors.Join(errors.New("the hub cannot be reached"), ingestErr)
	}
	records, err := j.Records(ctx, at.Seq, batchRecords, batchBytes)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 {
		s.change(func(state *fleetstate.Audit) { state.Error, state.Full = "", false })
		return 0, ingestErr
	}
	seq, err := s.send(ctx, j.ID, at, records)
	if seq > at.Seq {
		_, noted, noteErr := j.Advance(ctx, at, seq)
		if noteErr != nil {
			return 0, errors.Join(err, noteErr)
		}
		if !noted {
			return 0, errors.Join(err, fmt.Errorf("another agent ships the journal in %s, too", s.Dir))
		}
		s.change(func(state *fleetstate.Audit) {
			state.Shipped, state.Contact, state.Full = seq, time.Now().UTC(), false
			if err == nil {
				state.Error = ""
			}
		})
	}
	if full(err) {
		s.change(func(state *fleetstate.Audit) { state.Full = true })
	}
	return int(seq - at.Seq), errors.Join(err, ingestErr)
}

// noRoom is the code of JetStream's answer for a stream that is full.
const noRoom = 10077

func full(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == noRoom
}

// sent is a message on its way. seq is the number of its last record.
type sent struct {
	seq int64
	ack jetstream.PubAckFuture
}

// send publishes records and returns the number up to which the hub has them all. What
// is behind a message that was not acknowledged is sent again the next time.
func (s *Shipper) send(ctx context.Context, journalID string, at journal.Shipped, records []journal.Record) (seq int64, err error) {
	seq = at.Seq
	reconnects := s.Conn.Stats().Reconnects
	lost := func() bool { return !s.Conn.IsConnected() || s.Conn.Stats().Reconnects != reconnects }
	var flying []sent
	for len(records) > 0 || len(flying) > 0 {
		if len(records) > 0 && len(flying) < window {
			m := nats.NewMsg(Subject(s.Machine, journalID))
			m.Header[HeaderFirst] = []string{strconv.FormatInt(at.First, 10)}
			n, err := s.fill(m, records)
			if err != nil {
				return seq, err
			}
			ack, err := s.JS.PublishMsgAsync(m, jetstream.WithRetryAttempts(0))
			if err != nil && len(flying) == 0 {
				return seq, err
			}
			if err == nil {
				flying = append(flying, sent{records[n-1].Seq, ack})
				records = records[n:]
				continue
			}
			records = nil // what was sent is waited for
		}
		if err := wait(ctx, flying[0].ack, lost); err != nil {
			return seq, err
		}
		seq, flying = flying[0].seq, flying[1:]
	}
	return seq, nil
}

// fill puts as many records into a message as fit well, and at least one. It returns
// how many.
func (s *Shipper) fill(m *nats.Msg, records []journal.Record) (n int, err error) {
	limit := cmp.Or(s.Limit, int(s.Conn.MaxPayload())) - headerBytes
	for n < len(records) {
		r := records[n]
		if n > 0 && len(m.Data)+len(r.Body)+lineBytes > min(limit, messageBytes) {
			break
		}
		body, err := fit(r.Body, limit-lineBytes)
		if err != nil {
			return n, err
		}
		m.Data = append(append(append(strconv.AppendInt(m.Data, r.Seq, 10), ' '), body...), '\n')
		n++
	}
	return n, nil
}

// wait waits until the hub has a message. The acknowledgement of a message that was
// sent before the connection was lost never comes.
func wait(ctx context.Context, ack jetstream.PubAckFuture, lost func() bool) error {
	timer, look := time.NewTimer(patience), time.NewTicker(idle)
	defer timer.Stop()
	defer look.Stop()
	for {
		select {
		case <-ack.Ok():
			return nil
		case err := <-ack.Err():
			return err
		case <-look.C:
			if lost() {
				return errors.New("the connection to the hub was lost")
			}
		case <-timer.C:
			return errors.New("the hub does not acknowledge")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
