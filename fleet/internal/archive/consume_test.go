package archive_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/ship"
)

func TestAMessageThatTheTablesRefuseKeepsNoOtherOut(t *testing.T) {
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(t.Context(), hub.Options{Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	nc, err := s.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive.db")
	a, err := archive.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TRIGGER no BEFORE INSERT ON record WHEN NEW.run = 'poison7' BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []archive.Message{records("m1", "r", 1, 1, 2), records("m2", "poison", 7, 7), records("m3", "r", 1, 1)} {
		m := nats.NewMsg(r.Subject)
		m.Header[ship.HeaderFirst] = []string{r.First}
		m.Data = r.Body
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := a.Consume(ctx, js, false, slog.New(slog.DiscardHandler))
		ended <- err
	}()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		last, err := a.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last == 3 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d lines came, want 3", last)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
