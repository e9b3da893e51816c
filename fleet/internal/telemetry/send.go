package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/tenterhook/tenterhook/journal"
)

// batch is how many entries are sent at once.
const batch = 500

// refresh is how old sums become before they are sent again, though nothing is new:
// collectors forget a series that is silent for five minutes.
const refresh = time.Minute

// ErrElsewhere is returned by [Sender.Step] where another process sends the same
// journal to the same place.
var ErrElsewhere = errors.New("another process sends this journal there")

// Sender sends what a journal holds to one collector. It is not safe for concurrent
// use; several processes with the same journal and collector are.
type Sender struct {
	sink    string
	version string
	spans   *otlptrace.Exporter
	metrics *otlpmetrichttp.Exporter
	sums    time.Time // when they were sent last
}

// New returns a Sender to the collector at an address such as
// http://127.0.0.1:4318. The variables OTEL_EXPORTER_OTLP_* count for headers,
// certificates, compression and time limits. version is that of this program. Close
// ends it.
func New(ctx context.Context, endpoint, version string) (*Sender, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no address of a collector: it is http://HOST:4318 or https://HOST", endpoint)
	}
	base := strings.TrimSuffix(u.String(), "/")
	s := &Sender{sink: "otlp " + u.Redacted(), version: version}
	// What fails is tried again from the journal, and not from memory.
	if s.spans, err = otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})); err != nil {
		return nil, err
	}
	s.metrics, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	return s, err
}

// Close closes connections.
func (s *Sender) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(s.spans.Shutdown(ctx), s.metrics.Shutdown(ctx))
}

// Step sends the next entries, and notes that they were. sent is their number; 0 =
// everything was sent before. missed counts the entries that the journal gave up first,
// since the sink began.
func (s *Sender) Step(ctx context.Context, j *journal.Journal) (sent int, missed int64, err error) {
	stored, err := j.Cursor(ctx, s.sink)
	if err != nil {
		return 0, 0, err
	}
	at := state{Since: time.Now().UTC()}
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &at); err != nil {
			return 0, 0, fmt.Errorf("the cursor of %s in the journal is damaged: %w", s.sink, err)
		}
	}
	entries, next, err := j.Entries(ctx, at.At, batch)
	if err != nil || len(entries) == 0 && time.Since(s.sums) < refresh {
		return 0, at.Missed, err
	}
	all := spans{journal: j.ID, resource: s.resource(j)}
	for i := range entries {
		all.add(&entries[i])
		at.add(&entries[i])
	}
	at.At = next
	if len(all.list) > 0 {
		if err := s.spans.ExportSpans(ctx, all.list); err != nil {
			return 0, at.Missed, err
		}
	}
	if err := s.metrics.Export(ctx, at.metrics(all.resource, time.Now())); err != nil {
		return 0, at.Missed, err
	}
	s.sums = time.Now()
	if len(entries) == 0 {
		return 0, at.Missed, nil
	}
	text, err := json.Marshal(at)
	if err != nil {
		return 0, at.Missed, err
	}
	if ours, err := j.SetCursor(ctx, s.sink, stored, string(text)); err != nil || !ours {
		if err == nil {
			err = ErrElsewhere
		}
		return 0, at.Missed, err
	}
	return len(entries), at.Missed, nil
}

// resource says where spans and metrics come from: a journal is what services are
// told apart by, since its sums begin with it.
func (s *Sender) resource(j *journal.Journal) *resource.Resource {
	host, _ := os.Hostname()
	return resource.NewSchemaless(attribute.String("service.name", "tenterhook"), attribute.String("service.version", s.version),
		attribute.String("service.instance.id", j.ID), attribute.String("host.name", host))
}

// All sends everything that the journal holds.
func (s *Sender) All(ctx context.Context, j *journal.Journal) (sent int, missed int64, err error) {
	for {
		n, lost, err := s.Step(ctx, j)
		sent, missed = sent+n, lost
		if err != nil || n == 0 {
			return sent, missed, err
		}
	}
}

// Forward sends what is new in a journal, each time that every has passed, until ctx
// ends. use opens the journal. Where that or sending fails, the next try comes later
// and later, up to a minute. told gets each failure, and nil after one when it works
// again.
func (s *Sender) Forward(ctx context.Context, every time.Duration, use func(ctx context.Context, ask func(*journal.Journal) error) error, told func(error)) {
	later := backoff.NewExponentialBackOff()
	later.InitialInterval, later.MaxInterval = every, time.Minute
	failed := false
	for {
		err := use(ctx, func(j *journal.Journal) error {
			_, _, err := s.All(ctx, j)
			return err
		})
		pause := every
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			told(err)
			pause = later.NextBackOff()
		case failed:
			told(nil)
			later.Reset()
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
