package work_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/work"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/jobs"
)

// A cluster that another user runs may take less than a hub does.
func TestAJobThatTheHubDoesNotTakeKeepsNoOtherWaiting(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1 << 40, MaxPayload: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	c := &hub.Connection{URL: s.ClientURL(), Name: "m1", Role: hub.Machine}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Declare(t.Context(), js, hub.Limits{}, false); err != nil {
		t.Fatal(err)
	}
	spool := jobs.In(t.TempDir())
	put := func(name string, size int, at time.Time) string {
		input, err := json.Marshal(map[string]string{"hook_event_name": "PostToolUse", "x": strings.Repeat("x", size)})
		if err != nil {
			t.Fatal(err)
		}
		id := jobs.NewID(name)
		w := &jobs.Waiting{Job: jobs.Job{ID: id, Queue: "q", File: "h/HOOK.md", Digest: "sha256:x", Event: hook.EventPostToolUse, Input: input}, Local: jobs.Local{Hook: "h", Time: at}}
		if err := spool.Put(w); err != nil {
			t.Fatal(err)
		}
		return id
	}
	large := put("large", 100<<10, time.Now().Add(-time.Hour))
	put("small", 10, time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- (&work.Courier{Connection: c, Spool: spool, Logger: slog.New(slog.DiscardHandler)}).Run(ctx, nc)
	}()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		waiting, sent := spool.Count()
		if done := spool.Done(time.Now().Add(time.Hour)); waiting+sent == 2 && sent == 1 && len(done) == 1 && done[0] == large {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d wait and %d are at the hub", waiting, sent)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r, _, ok := spool.Take(large)
	if !ok || r.Status != hook.StatusFailed || !strings.Contains(r.Reason, "bytes") {
		t.Errorf("%+v", r)
	}
	if waiting, sent := spool.Count(); waiting != 0 || sent != 1 {
		t.Errorf("%d wait and %d are at the hub, want the small one there", waiting, sent)
	}
}
