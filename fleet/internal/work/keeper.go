package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
)

// maxQueues bounds the queues, which machines name.
const maxQueues = 500

// Keeper makes a consumer for each queue that has jobs, and turns jobs that no worker
// survived into dead letters with a result. Beside a hub several may run.
type Keeper struct {
	JS      jetstream.JetStream // of the hub's account
	Silence time.Duration       // 0 = DefaultSilence
	Logger  *slog.Logger

	known map[string]bool
}

// Letter is a job that no worker could do, as the stream of dead jobs has it.
type Letter struct {
	Machine string    `json:"machine"`
	Job     jobs.Job  `json:"job"`
	Tries   int       `json:"tries"`
	Time    time.Time `json:"time"`
}

// Keep keeps until ctx ends.
func (k *Keeper) Keep(ctx context.Context) {
	if k.Silence <= 0 {
		k.Silence = DefaultSilence
	}
	k.known = make(map[string]bool)
	var failed string
	for ctx.Err() == nil {
		err := errors.Join(k.queues(ctx), k.bury(ctx))
		if err != nil && ctx.Err() == nil && err.Error() != failed {
			k.Logger.Warn("queues cannot be kept", "err", err)
		}
		failed = ""
		if err != nil {
			failed = err.Error()
		}
		pause(ctx, time.Second)
	}
}

// queues makes a consumer for each queue that jobs are for.
func (k *Keeper) queues(ctx context.Context) error {
	stream, err := k.JS.Stream(ctx, hub.JobStream)
	if err != nil {
		return err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("jobs.>"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		parts := strings.Split(subject, ".")
		if len(parts) != 3 || !hook.ValidQueue(parts[2]) || k.known[parts[2]] || len(k.known) >= maxQueues {
			continue
		}
		if _, err := Queue(ctx, k.JS, parts[2], k.Silence, false); err != nil {
			return err
		}
		k.known[parts[2]] = true
	}
	return nil
}

// Queue makes the consumer of a queue, or brings it up to date. silence is how long a
// worker may be silent; with dry nothing is changed.
func Queue(ctx context.Context, js jetstream.JetStream, name string, silence time.Duration, dry bool) (hub.Declared, error) {
	want := jetstream.ConsumerConfig{Durable: name, FilterSubject: "jobs.*." + name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: silence, MaxDeliver: MaxTries, MaxAckPending: 10_000}
	return hub.Reconcile("consumer", name, want, dry, func() (jetstream.ConsumerConfig, error) {
		consumer, err := js.Consumer(ctx, hub.JobStream, name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
			return jetstream.ConsumerConfig{}, hub.ErrMissing
		}
		if err != nil {
			return jetstream.ConsumerConfig{}, err
		}
		return consumer.CachedInfo().Config, nil
	}, func(c jetstream.ConsumerConfig) error {
		_, err := js.CreateOrUpdateConsumer(ctx, hub.JobStream, c)
		return err
	})
}

// bury turns each note of the server into a dead letter and a result, and takes the
// job out of its queue. Each step can be done again.
func (k *Keeper) bury(ctx context.Context) error {
	notes, err := k.JS.CreateOrUpdateConsumer(ctx, hub.DeadStream, jetstream.ConsumerConfig{Durable: "keeper", FilterSubject: hub.Undelivered, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second})
	if err != nil {
		return err
	}
	batch, err := notes.FetchNoWait(100)
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		var note struct {
			Seq   uint64 `json:"stream_seq"`
			Tries int    `json:"deliveries"`
		}
		if err := json.Unmarshal(m.Data(), &note); err != nil {
			_ = m.Term()
			continue
		}
		if err := k.buryOne(ctx, note.Seq, note.Tries); err != nil {
			return err
		}
		if err := m.DoubleAck(ctx); err != nil {
			return err
		}
	}
	return batch.Error()
}

func (k *Keeper) buryOne(ctx context.Context, seq uint64, tries int) error {
	stream, err := k.JS.Stream(ctx, hub.JobStream)
	if err != nil {
		return err
	}
	raw, err := stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil // it was done after all, or buried before
	}
	if err != nil {
		return err
	}
	letter := Letter{Tries: tries, Time: time.Now().UTC()}
	parts := strings.Split(raw.Subject, ".")
	if json.Unmarshal(raw.Data, &letter.Job) == nil && len(parts) == 3 && letter.Job.Valid() == nil {
		letter.Machine = parts[1]
		if done, err := k.done(ctx, key(letter.Machine, letter.Job.ID)); err != nil || done {
			return errors.Join(err, stream.DeleteMsg(ctx, seq)) // a worker died after its result
		}
		data, err := json.Marshal(letter)
		if err != nil {
			return err
		}
		if _, err := k.JS.Publish(ctx, "dead."+letter.Machine+"."+letter.Job.Queue, data, jetstream.WithMsgID("dead."+key(letter.Machine, letter.Job.ID))); err != nil {
			return err
		}
		dead := failed(letter.Job.ID, fmt.Sprintf("no worker of the queue %s survived it: it was tried %d times", parts[2], tries))
		dead.Try = tries
		result, err := json.Marshal(dead)
		if err != nil {
			return err
		}
		_, err = k.JS.Publish(ctx, "$KV."+hub.ResultBucket+"."+key(letter.Machine, letter.Job.ID), result, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil && !exists(err) {
			return err
		}
		k.Logger.Warn("a job is dead", "machine", letter.Machine, "queue", letter.Job.Queue, "job", letter.Job.ID, "tries", tries)
	}
	return stream.DeleteMsg(ctx, seq)
}

// done reports whether a worker wrote a result.
func (k *Keeper) done(ctx context.Context, key string) (bool, error) {
	results, err := k.JS.KeyValue(ctx, hub.ResultBucket)
	if err != nil {
		return false, err
	}
	value, err := results.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var r jobs.Result
	return json.Unmarshal(value.Value(), &r) == nil && r.Worker != "", nil
}

// exists reports whether an error says that a job has a result.
func exists(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// Letters are the dead jobs, the oldest first, at most limit of them.
func Letters(ctx context.Context, js jetstream.JetStream, limit int) (list []Letter, err error) {
	consumer, err := js.CreateConsumer(ctx, hub.DeadStream, jetstream.ConsumerConfig{FilterSubject: "dead.>", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute})
	if err != nil {
		return nil, err
	}
	batch, err := consumer.FetchNoWait(limit)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool) // one may be there twice, after a crash
	for m := range batch.Messages() {
		var l Letter
		if json.Unmarshal(m.Data(), &l) == nil && !seen[key(l.Machine, l.Job.ID)] {
			seen[key(l.Machine, l.Job.ID)] = true
			list = append(list, l)
		}
	}
	return list, batch.Error()
}
