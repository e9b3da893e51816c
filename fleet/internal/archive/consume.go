package archive

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/ship"
)

const (
	batch   = 32 // messages, of up to a thousand records each
	ackWait = time.Minute
	// absent is how long an archive may ask for nothing before another may take its place:
	// only one at a time takes from the stream.
	absent = 5 * time.Second
)

// Release takes the stream from an archive that was killed, when no other can run.
func Release(ctx context.Context, js jetstream.JetStream) error {
	stream, err := js.Stream(ctx, hub.AuditStream)
	if err != nil {
		return err
	}
	names := stream.ConsumerNames(ctx)
	for name := range names.Name() {
		if err := stream.DeleteConsumer(ctx, name); err != nil {
			return err
		}
	}
	return names.Err()
}

// Consume moves the audit stream into the archive until ctx ends, or, with once,
// until the stream has nothing more. Messages are acknowledged when they are on disk,
// and leave the stream then. log gets what goes wrong; with once it is not used.
func (a *Archive) Consume(ctx context.Context, js jetstream.JetStream, once bool, log *slog.Logger) (total Added, err error) {
	wait := 100 * time.Millisecond
	for ctx.Err() == nil {
		n, err := a.turn(ctx, js, once)
		total.plus(n)
		if ctx.Err() != nil {
			break
		}
		if err == nil || once {
			return total, err
		}
		log.Error("the archive does not get on", "err", err)
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
		}
		wait = min(2*wait, 10*time.Second)
		if n.New > 0 {
			wait = 100 * time.Millisecond
		}
	}
	return total, nil
}

// otherConsumer is the code of JetStream's answer for a stream that another consumer
// takes from.
const otherConsumer = 10099

// turn consumes until something goes wrong.
func (a *Archive) turn(ctx context.Context, js jetstream.JetStream, once bool) (total Added, err error) {
	setup, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	consumer, err := js.CreateConsumer(setup, hub.AuditStream, jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 4 * batch, InactiveThreshold: absent,
	})
	if taken := (*jetstream.APIError)(nil); errors.As(err, &taken) && taken.ErrorCode == otherConsumer {
		return total, problem.New("archive_runs", "another archive takes from the hub", "end it, or wait some seconds if it was killed; a hub archives by itself", err)
	}
	if err != nil {
		return total, err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = js.DeleteConsumer(ending, hub.AuditStream, consumer.CachedInfo().Name) // or it ends by itself
	}()
	for ctx.Err() == nil {
		got, err := fetch(consumer)
		if err != nil {
			return total, err
		}
		if len(got) == 0 {
			if done, err := finished(ctx, consumer); once && (done || err != nil) {
				return total, err
			}
			continue
		}
		n, err := a.keep(ctx, got)
		total.plus(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// finished reports whether nothing waits, and nothing is on its way.
func finished(ctx context.Context, c jetstream.Consumer) (bool, error) {
	info, err := c.Info(ctx)
	if err != nil {
		return false, err
	}
	return info.NumPending == 0 && info.NumAckPending == 0, nil
}

func fetch(c jetstream.Consumer) (got []jetstream.Msg, err error) {
	batch, err := c.Fetch(batch, jetstream.FetchMaxWait(500*time.Millisecond))
	if err != nil {
		return nil, err
	}
	for m := range batch.Messages() {
		got = append(got, m)
	}
	if err := batch.Error(); err != nil && len(got) == 0 && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return got, nil
}

// keep archives messages and acknowledges them. A message whose acknowledgement is
// lost comes again, and is a copy. Where all together fail, each is tried alone: one
// that the tables refuse keeps no other out.
func (a *Archive) keep(ctx context.Context, got []jetstream.Msg) (added Added, err error) {
	if added, err = a.Add(ctx, messagesOf(got)); err == nil {
		for _, m := range got {
			err = errors.Join(err, m.Ack())
		}
		return added, err
	}
	if len(got) == 1 {
		_ = got[0].NakWithDelay(time.Second) // or it comes after AckWait
		return Added{}, err
	}
	err = nil
	for i := range got {
		one, failed := a.keep(ctx, got[i:i+1])
		added.plus(one)
		err = errors.Join(err, failed)
	}
	return added, err
}

func messagesOf(got []jetstream.Msg) []Message {
	messages := make([]Message, 0, len(got))
	for _, m := range got {
		one := Message{Subject: m.Subject(), First: m.Headers().Get(ship.HeaderFirst), Body: m.Data(), Received: time.Now()}
		if meta, err := m.Metadata(); err == nil {
			one.Received = meta.Timestamp
		}
		messages = append(messages, one)
	}
	return messages
}
