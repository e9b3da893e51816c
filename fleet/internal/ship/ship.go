package ship

import (
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

// The headers of a record.
const (
	HeaderSeq   = "Tenterhook-Seq"   // its number
	HeaderFirst = "Tenterhook-First" // the number of the first one that is ever shipped of its journal
)

// Subject is where the records of a journal go.
func Subject(machine, journalID string) string { return "audit." + machine + "." + journalID }

// Shipper ships the journal of a folder. The fields are not changed once it runs.
type Shipper struct {
	Machine string
	Conn    *nats.Conn
	JS      jetstream.JetStream // with [Options]
	Dir     string              // of the journal
	Options journal.Options

	state atomic.Pointer[fleetstate.Audit]
}

// State returns how far it is. It is safe for concurrent use.
func (s *Shipper) State() fleetstate.Audit {
	if state := s.state.Load(); state != nil {
		return *state
	}
	return fleetstate.Audit{}
}

// Pending is how many records are sent before the first acknowledgement has to come.
const Pending = 1024

// Options are those of the JetStream of a shipper.
func Options() []jetstream.JetStreamOpt {
	return []jetstream.JetStreamOpt{jetstream.WithPublishAsyncMaxPending(2 * Pending), jetstream.WithPublishAsyncTimeout(ackWait)}
}

const (
	batchBytes = 4 << 20
	ackWait    = 5 * time.Second
	idle       = 300 * time.Millisecond // between two looks for new records
	maxWait    = 30 * time.Second       // between two attempts
)

// Run ships until ctx ends. After a failure it waits longer each time, up to half a
// minute, with a random part: a fleet does not come back at once.
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
				if n < Pending {
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

// Once moves the spool into the journal, and ships what waits there: up to Pending
// records. It returns how many were acknowledged.
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
	records, err := j.Records(ctx, at.Seq, Pending, batchBytes)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 {
		s.change(func(state *fleetstate.Audit) { state.Error, state.Full = "", false })
		return 0, ingestErr
	}
	done, err := s.send(ctx, j.ID, at.First, records)
	if done > 0 {
		seq := records[done-1].Seq
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
	return done, errors.Join(err, ingestErr)
}

// noRoom is the code of JetStream's answer for a stream that is full.
const noRoom = 10077

func full(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == noRoom
}

// send publishes records and returns how many, from the first on, the hub has. A
// record behind one that was not acknowledged is sent again the next time.
func (s *Shipper) send(ctx context.Context, journalID string, first int64, records []journal.Record) (done int, err error) {
	subject, begin := Subject(s.Machine, journalID), []string{strconv.FormatInt(first, 10)}
	limit := int(s.Conn.MaxPayload())
	acks := make([]jetstream.PubAckFuture, 0, len(records))
	for _, r := range records {
		m := nats.NewMsg(subject)
		m.Header[HeaderSeq], m.Header[HeaderFirst] = []string{strconv.FormatInt(r.Seq, 10)}, begin
		if m.Data, err = fit(r.Body, limit-headerBytes); err != nil {
			return 0, err
		}
		ack, err := s.JS.PublishMsgAsync(m, jetstream.WithRetryAttempts(0))
		if err != nil && len(acks) == 0 {
			return 0, err
		}
		if err != nil {
			break // what was sent is waited for
		}
		acks = append(acks, ack)
	}
	timer := time.NewTimer(ackWait)
	defer timer.Stop()
	for _, ack := range acks {
		select {
		case <-ack.Ok():
			done++
		case err := <-ack.Err():
			return done, err
		case <-timer.C:
			return done, errors.New("the hub does not acknowledge")
		case <-ctx.Done():
			return done, ctx.Err()
		}
	}
	return done, nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
