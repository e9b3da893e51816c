package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The streams and buckets of a fleet.
const (
	AuditStream    = "AUDIT"    // audit.MACHINE.JOURNAL: what happened, until it is archived
	JobStream      = "JOBS"     // jobs.MACHINE.QUEUE.…: work, until it is done
	DeadStream     = "DEAD"     // dead.MACHINE.QUEUE: jobs that nobody could do, and what the server says of them
	PolicyBucket   = "policy"   // signed documents; published as policy.CHANNEL as well, once they are stored
	ResultBucket   = "results"  // MACHINE.…: what became of jobs; published as results.MACHINE.… as well
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
	Replicas   int // of a cluster
}

// Declare makes the streams and buckets of a fleet, or brings them up to date.
// A full stream refuses what comes next, so that who sends it keeps it.
func Declare(ctx context.Context, js jetstream.JetStream, l Limits) error {
	if l.AuditBytes <= 0 {
		l.AuditBytes = 8 << 30
	}
	if l.JobBytes <= 0 {
		l.JobBytes = 2 << 30
	}
	l.Replicas = max(l.Replicas, 1)
	for _, c := range []jetstream.StreamConfig{
		{Name: AuditStream, Subjects: []string{"audit.>"}, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: l.AuditBytes,
			DenyDelete: true, DenyPurge: true, Compression: jetstream.S2Compression},
		{Name: JobStream, Subjects: []string{"jobs.>"}, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: l.JobBytes, Duplicates: time.Hour},
		{Name: DeadStream, Subjects: []string{"dead.>", Undelivered}, MaxAge: 90 * 24 * time.Hour, MaxBytes: l.JobBytes},
	} {
		c.Replicas = l.Replicas
		if _, err := js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("stream %s: %w", c.Name, err)
		}
	}
	for _, c := range []jetstream.KeyValueConfig{
		{Bucket: PolicyBucket, History: 16,
			// A machine that subscribes first and asks then misses nothing: what the answer
			// does not have yet is published later. That of $KV.policy comes before the store.
			RePublish: &jetstream.RePublish{Source: "$KV." + PolicyBucket + ".>", Destination: "policy.>"}},
		{Bucket: ResultBucket, TTL: 7 * 24 * time.Hour, MaxBytes: l.JobBytes,
			// What comes from the account of workers crosses to that of machines only so.
			RePublish: &jetstream.RePublish{Source: "$KV." + ResultBucket + ".>", Destination: "results.>"}},
		{Bucket: MachinesBucket},
	} {
		c.Replicas = l.Replicas
		if _, err := js.CreateOrUpdateKeyValue(ctx, c); err != nil {
			return fmt.Errorf("bucket %s: %w", c.Bucket, err)
		}
	}
	return nil
}
