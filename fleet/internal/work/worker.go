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
	"github.com/tenterhook/tenterhook/registry"
)

// Worker runs jobs of one queue, one after the other.
type Worker struct {
	Name, Queue string
	JS          jetstream.JetStream
	// Run runs a hook of a pack on an event.
	Run    func(ctx context.Context, j *jobs.Job, in hook.Input) (hook.Result, error)
	Logger *slog.Logger

	silence time.Duration // of the queue
}

// Work takes jobs until ctx ends.
func (w *Worker) Work(ctx context.Context) error {
	for ctx.Err() == nil {
		consumer, err := w.consumer(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if !errors.Is(err, jetstream.ErrConsumerNotFound) { // there is none before the queue's first job
				w.Logger.Warn("no jobs can be taken", "queue", w.Queue, "err", err)
			}
			pause(ctx, time.Second)
			continue
		}
		for err == nil && ctx.Err() == nil {
			err = w.next(ctx, consumer)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			w.Logger.Warn("the connection to the hub failed", "queue", w.Queue, "err", err)
			pause(ctx, time.Second)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// consumer is that of the queue, which the hub's keeper makes.
func (w *Worker) consumer(ctx context.Context) (jetstream.Consumer, error) {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	consumer, err := w.JS.Consumer(within, hub.JobStream, w.Queue)
	if err != nil {
		return nil, err
	}
	w.silence = consumer.CachedInfo().Config.AckWait
	return consumer, nil
}

// next takes one job, if there is one. What is fetched and not begun would wait for
// nothing, so it is one.
func (w *Worker) next(ctx context.Context, consumer jetstream.Consumer) error {
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(2*time.Second))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		if err := w.do(ctx, m); err != nil {
			w.Logger.Warn("a job is given back", "subject", m.Subject(), "err", err)
			tries := time.Duration(1)
			if meta, err := m.Metadata(); err == nil {
				tries = time.Duration(meta.NumDelivered)
			}
			_ = m.NakWithDelay(tries * time.Second) // after its time another worker gets it anyway
		}
	}
	return batch.Error()
}

// do runs a job, unless it has a result, and confirms it after its result is there.
func (w *Worker) do(ctx context.Context, m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	var j jobs.Job
	machine, ok := strings.CutSuffix(strings.TrimPrefix(m.Subject(), "jobs."), "."+w.Queue)
	if err := json.Unmarshal(m.Data(), &j); err != nil || !ok || hub.CheckName(machine) != nil || j.Valid() != nil || j.Queue != w.Queue {
		return m.TermWithReason("not a job") // the server vouches for the subject, and not for its content
	}
	in, err := hook.DecodeInput(j.Input)
	if err != nil || in.Event() != j.Event {
		return w.finish(ctx, m, machine, &jobs.Result{Job: j.ID, Worker: w.Name, Try: int(meta.NumDelivered), Status: hook.StatusFailed, Failure: hook.FailureInvalid, Reason: fmt.Sprintf("the event of the job cannot be read: %v", err)})
	}
	stop := w.beat(m)
	defer stop()
	result, err := w.Run(ctx, &j, in)
	if ctx.Err() != nil { // interrupted: another worker does it
		return ctx.Err()
	}
	if err != nil && !(errors.Is(err, registry.ErrNotInForce) && meta.NumDelivered >= MaxTries) {
		return err
	}
	if err != nil {
		result = hook.Result{Status: hook.StatusFailed, Failure: hook.FailureUntrusted, Reason: fmt.Sprintf("worker %s: %v: %s of %s", w.Name, err, j.File, j.Digest)}
	}
	return w.finish(ctx, m, machine, jobs.Of(j.ID, w.Name, int(meta.NumDelivered), &result))
}

// finish writes the result, which counts if it is the first, and then confirms the job.
func (w *Worker) finish(ctx context.Context, m jetstream.Msg, machine string, r *jobs.Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// An update of what is not there: a key that has a value stays as it is.
	_, err = w.JS.Publish(within, "$KV."+hub.ResultBucket+"."+key(machine, r.Job), data, jetstream.WithExpectLastSequencePerSubject(0))
	if err != nil && !exists(err) {
		return err
	}
	w.Logger.Info("job done", "machine", machine, "job", r.Job, "try", r.Try, "status", r.Status, "failure", r.Failure, "first", err == nil)
	return m.DoubleAck(within)
}

// beat says that the job is under way, so that no other worker gets it.
func (w *Worker) beat(m jetstream.Msg) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(max(w.silence/3, 100*time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = m.InProgress() // the connection comes back, or another worker does it
			}
		}
	}()
	return func() { close(done); <-ended }
}
