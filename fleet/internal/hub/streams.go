package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
)

// The streams and buckets of a fleet.
const (
	AuditStream    = "AUDIT"    // audit.MACHINE.JOURNAL: what happened, until it is archived
	JobStream      = "JOBS"     // jobs.MACHINE.QUEUE.…: work, until it is done
	DeadStream     = "DEAD"     // dead.MACHINE.QUEUE: jobs that no worker could do, and what the server says of them
	PolicyBucket   = "policy"   // signed documents; also published as policy.CHANNEL, once they are stored
	ResultBucket   = "results"  // MACHINE.…: what became of jobs; also published as results.MACHINE.…
	MachinesBucket = "machines" // MACHINE: what it says of itself
)

// Undelivered is where the server says that a job was given to workers as often as it
// may be. A stream keeps it, so that none gets lost.
const Undelivered = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + JobStream + ".>"

// Limits bound what a hub keeps. The zero value is 8 GiB of audit and 2 GiB of jobs,
// in one copy.
type Limits struct {
	AuditBytes int64
	JobBytes   int64
	Replicas   int // of a cluster; 0 = as many as there are, and 1 of what is made
}

func (l Limits) withDefaults() Limits {
	if l.AuditBytes <= 0 {
		l.AuditBytes = 8 << 30
	}
	if l.JobBytes <= 0 {
		l.JobBytes = 2 << 30
	}
	return l
}

// streams are those of a fleet. A full one refuses what comes next, so that who sends
// it keeps it.
func (l Limits) streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{Name: AuditStream, Subjects: []string{"audit.>"}, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: l.AuditBytes,
			DenyDelete: true, DenyPurge: true, Compression: jetstream.S2Compression, Replicas: l.Replicas},
		{Name: JobStream, Subjects: []string{"jobs.>"}, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: l.JobBytes, Duplicates: time.Hour, Replicas: l.Replicas},
		{Name: DeadStream, Subjects: []string{"dead.>", Undelivered}, MaxAge: 90 * 24 * time.Hour, MaxBytes: l.JobBytes, Replicas: l.Replicas},
	}
}

// buckets are those of a fleet.
func (l Limits) buckets() []jetstream.KeyValueConfig {
	return []jetstream.KeyValueConfig{
		{Bucket: PolicyBucket, History: 16, Replicas: l.Replicas,
			// A machine that subscribes first and asks then misses nothing: what the answer
			// does not have yet is published later. That of $KV.policy comes before the store.
			RePublish: &jetstream.RePublish{Source: "$KV." + PolicyBucket + ".>", Destination: "policy.>"}},
		{Bucket: ResultBucket, TTL: 7 * 24 * time.Hour, MaxBytes: l.JobBytes, Replicas: l.Replicas,
			// What comes from the account of workers crosses to that of machines only so.
			RePublish: &jetstream.RePublish{Source: "$KV." + ResultBucket + ".>", Destination: "results.>"}},
		{Bucket: MachinesBucket, Replicas: l.Replicas},
	}
}

// Declare makes the streams and buckets of a fleet, or brings them up to date, and
// returns what became of each. Settings that tenterhook does not need stay as an
// operator made them. With dry nothing is changed.
func Declare(ctx context.Context, js jetstream.JetStream, l Limits, dry bool) (list []Declared, err error) {
	l = l.withDefaults()
	for _, want := range l.streams() {
		d, err := declareStream(ctx, js, want, dry)
		if err != nil {
			return list, err
		}
		list = append(list, d)
	}
	for _, want := range l.buckets() {
		d, err := declareBucket(ctx, js, want, dry)
		if err != nil {
			return list, err
		}
		list = append(list, d)
	}
	return list, nil
}

func declareStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, dry bool) (Declared, error) {
	return Reconcile("stream", want.Name, want, dry, func() (have jetstream.StreamConfig, err error) {
		stream, err := js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return have, ErrMissing
		}
		if err != nil {
			return have, err
		}
		have = stream.CachedInfo().Config
		if !slices.ContainsFunc(have.Subjects, func(s string) bool { return slices.Contains(want.Subjects, s) }) {
			err = problem.New("stream_taken", fmt.Sprintf("the account has a stream %s of something else: its subjects are %v", want.Name, have.Subjects), "give tenterhook an account of its own in the cluster", nil)
		}
		return have, err
	}, func(c jetstream.StreamConfig) error {
		_, err := js.CreateOrUpdateStream(ctx, c)
		return err
	})
}

func declareBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig, dry bool) (Declared, error) {
	return Reconcile("bucket", want.Bucket, want, dry, func() (have jetstream.KeyValueConfig, err error) {
		kv, err := js.KeyValue(ctx, want.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			return have, ErrMissing
		}
		if err != nil {
			return have, err
		}
		status, err := kv.Status(ctx)
		if err != nil {
			return have, err
		}
		return status.Config(), nil
	}, func(c jetstream.KeyValueConfig) error {
		_, err := js.CreateOrUpdateKeyValue(ctx, c)
		return err
	})
}
