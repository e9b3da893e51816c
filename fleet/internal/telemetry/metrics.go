package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/tenterhook/tenterhook/journal"
)

// bounds are those of the buckets, in seconds.
var bounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// maxSeries bounds the series of a metric. What has no place is counted in a series that
// says so, as OpenTelemetry has it.
const maxSeries = 2000

const overflow = "otel.metric.overflow"

// state is how far a sink is in the journal, and the sums of all
// entries until there. It is what a cursor stores.
type state struct {
	At     journal.Position   `json:"at"`
	Since  time.Time          `json:"since"` // when the sums began
	Missed int64              `json:"missed,omitzero"`
	Series map[string]*series `json:"series"`
}

// series is a histogram with certain attributes.
type series struct {
	Metric string            `json:"metric"`
	Labels map[string]string `json:"labels"`
	Counts []uint64          `json:"counts"` // of each bucket
	Sum    float64           `json:"sum"`    // in seconds
}

// add takes an entry into the sums.
func (s *state) add(n *journal.Numbered) {
	if n.Seq > s.At.Dispatch { // else what came after its dispatch
		if s.At.Dispatch > 0 {
			s.Missed += n.Seq - s.At.Dispatch - 1
		}
		s.At.Dispatch = n.Seq
	}
	if len(n.Results) != 1 || !n.Results[0].Background {
		labels := map[string]string{Event: string(n.Event), Verdict: verdict(n.Verdict), Agent: n.Agent}
		if n.Error != "" {
			labels[ErrorType] = undecided
		}
		s.observe(DispatchDuration, labels, n.ElapsedMS/1000)
	}
	for _, r := range n.Results {
		labels := map[string]string{Event: string(n.Event), HookID: r.Hook, HookStatus: string(r.Status)}
		if r.Failure != "" {
			labels[ErrorType] = string(r.Failure)
		}
		s.observe(HookDuration, labels, r.ElapsedMS/1000)
	}
}

func (s *state) observe(metric string, labels map[string]string, seconds float64) {
	if s.Series == nil {
		s.Series = make(map[string]*series)
	}
	key := fmt.Sprintf("%s %q", metric, labels) // maps are printed in order
	if s.Series[key] == nil && len(s.Series) >= maxSeries {
		labels = map[string]string{overflow: "true"}
		key = fmt.Sprintf("%s %q", metric, labels)
	}
	one := s.Series[key]
	if one == nil {
		one = &series{Metric: metric, Labels: labels, Counts: make([]uint64, len(bounds)+1)}
		s.Series[key] = one
	}
	one.Counts[sort.SearchFloat64s(bounds, seconds)]++
	one.Sum += seconds
}

// metrics are the sums as OTLP has them.
func (s *state) metrics(of *resource.Resource, now time.Time) *metricdata.ResourceMetrics {
	histograms := make(map[string][]metricdata.HistogramDataPoint[float64])
	for _, key := range slices.Sorted(maps.Keys(s.Series)) {
		one := s.Series[key]
		var attrs []attribute.KeyValue
		for k, v := range one.Labels {
			if k == overflow {
				attrs = append(attrs, attribute.Bool(k, true))
			} else {
				attrs = append(attrs, attribute.String(k, v))
			}
		}
		p := metricdata.HistogramDataPoint[float64]{Attributes: attribute.NewSet(attrs...), StartTime: s.Since, Time: now, Bounds: bounds, BucketCounts: one.Counts, Sum: one.Sum}
		for _, n := range one.Counts {
			p.Count += n
		}
		histograms[one.Metric] = append(histograms[one.Metric], p)
	}
	list := []metricdata.Metrics{{Name: JournalMissed, Unit: "{entry}", Description: "Entries that the journal gave up before they were sent.",
		Data: metricdata.Sum[int64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true,
			DataPoints: []metricdata.DataPoint[int64]{{StartTime: s.Since, Time: now, Value: s.Missed}}}}}
	for name, what := range map[string]string{DispatchDuration: "How long an event and all its hooks took.", HookDuration: "How long a hook took."} {
		if len(histograms[name]) > 0 {
			list = append(list, metricdata.Metrics{Name: name, Unit: "s", Description: what,
				Data: metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality, DataPoints: histograms[name]}})
		}
	}
	return &metricdata.ResourceMetrics{Resource: of, ScopeMetrics: []metricdata.ScopeMetrics{{Scope: scope, Metrics: list}}}
}
