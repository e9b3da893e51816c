package ship_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/archive"
	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/ship"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// station is a machine that is enrolled at a hub, and its journal.
type station struct {
	*ship.Shipper
	journal *journal.Journal
	admin   jetstream.JetStream
}

func newStation(t testing.TB) *station {
	t.Helper()
	d, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(t.Context(), hub.Options{Listen: "127.0.0.1:0", Enroll: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	c, err := d.Credential(hub.Machine, "m1", 0)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := c.JetStream(nc, ship.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	own, err := s.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Close)
	admin, err := jetstream.New(own)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return &station{&ship.Shipper{Machine: "m1", Conn: nc, JS: js, Dir: dir}, j, admin}
}

// record adds records to the journal, each with a reason of so many bytes.
func (s *station) record(t testing.TB, n, bytes int) {
	t.Helper()
	r, err := journal.NewRecorder(s.Dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r.Record(hook.Record{Run: fmt.Sprintf("r%d", i), Time: time.Now(), Event: hook.EventPreToolUse, Tool: "Bash", Payload: fmt.Appendf(nil, "%q", strings.Repeat("x", bytes)),
			Outcome: &hook.Outcome{Results: []hook.Result{{Hook: &hook.Hook{ID: "managed/guard"}, Status: hook.StatusSuccess, Reason: "fine"}}}})
		if i%1000 == 999 {
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFullHubKeepsRecordsOnTheMachine(t *testing.T) {
	s := newStation(t)
	stream, err := s.admin.Stream(t.Context(), hub.AuditStream)
	if err != nil {
		t.Fatal(err)
	}
	c := stream.CachedInfo().Config
	c.MaxBytes = 1 << 20
	if _, err := s.admin.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.record(t, 1000, 2<<10)
	var last error
	for range 3 {
		_, last = s.Once(t.Context(), s.journal)
	}
	state := s.State()
	if last == nil || !state.Full || state.Shipped == 0 || state.Backlog() == 0 {
		t.Fatalf("the hub has no room: %v, %+v", last, state)
	}
	c.MaxBytes = 64 << 20
	if _, err := s.admin.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Once(t.Context(), s.journal); err != nil {
		t.Fatal(err)
	}
	if state := s.State(); state.Full || state.Backlog() != 0 {
		t.Errorf("it has room again: %+v", state)
	}
	a, err := archive.Open(t.Context(), t.TempDir()+"/archive.db")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	added, err := a.Consume(t.Context(), s.admin, true, nil)
	if err != nil || added.New != 1000 || added.Refused != 0 {
		t.Errorf("%+v, %v", added, err)
	}
}

func TestARecordThatIsTooLargeIsShippedWithoutItsPayload(t *testing.T) {
	s := newStation(t)
	bodies, err := s.admin.CreateConsumer(t.Context(), hub.AuditStream, jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	for limit, payload := range map[int]bool{200 << 10: true, 20 << 10: false} {
		s.record(t, 1, 100<<10)
		s.Limit = limit
		if _, err := s.Once(t.Context(), s.journal); err != nil {
			t.Fatal(err)
		}
		m, err := bodies.Next()
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(m.Data()), " ")
		var e journal.Entry
		if err := json.Unmarshal([]byte(body), &e); err != nil || len(m.Data()) > limit || (e.Payload != nil) != payload || (e.Omitted == "") != payload || len(e.Results) != 1 {
			t.Errorf("in %d bytes: %d bytes, %v, omitted %q, %d results", limit, len(m.Data()), err, e.Omitted, len(e.Results))
		}
	}
}

func TestWithoutAConnectionRecordsWait(t *testing.T) {
	s := newStation(t)
	s.record(t, 3, 10)
	s.Conn.Close()
	if _, err := s.Once(t.Context(), s.journal); err == nil || s.State().Backlog() != 3 {
		t.Errorf("%v, %+v", err, s.State())
	}
}

// TENTERHOOK_SHIP_RECORDS is how many records a turn has.
func BenchmarkShipper(b *testing.B) {
	n := 2000
	if text := os.Getenv("TENTERHOOK_SHIP_RECORDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	s := newStation(b)
	for b.Loop() {
		b.StopTimer()
		s.record(b, n, 600)
		if _, err := s.journal.Ingest(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for {
			got, err := s.Once(b.Context(), s.journal)
			if err != nil {
				b.Fatal(err)
			}
			if got == 0 {
				break
			}
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
