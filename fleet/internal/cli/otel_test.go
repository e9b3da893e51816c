package cli_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tenterhook/tenterhook/fleet/internal/telemetry"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// collector is an OTLP collector that keeps each span by its ID, and the newest sum
// of each series.
type collector struct {
	url string

	mu       sync.Mutex // guards all below
	spans    map[string]*trace.Span
	copies   int               // spans that came once more
	sums     map[string]uint64 // how many observations, by metric and attributes
	from     map[string]string // the attributes of the resource
	refuse   string            // the path that is refused; "" = none
	requests int
}

func collect(t *testing.T) *collector {
	c := &collector{spans: make(map[string]*trace.Span), sums: make(map[string]uint64)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		if err := c.take(r.URL.Path, body); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *collector) take(path string, body []byte) error {
	if path == c.refuse {
		return errors.New("refused")
	}
	switch path {
	case "/v1/traces":
		var q tracecollector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &q); err != nil {
			return err
		}
		for _, r := range q.ResourceSpans {
			c.from = texts(r.Resource.Attributes)
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					if c.spans[string(span.SpanId)] != nil {
						c.copies++
					}
					c.spans[string(span.SpanId)] = span
				}
			}
		}
		return nil
	case "/v1/metrics":
		var q metricscollector.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &q); err != nil {
			return err
		}
		for _, m := range q.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range m.GetHistogram().GetDataPoints() {
				c.sums[fmt.Sprint(m.Name, texts(p.Attributes))] = p.Count
			}
			for _, p := range m.GetSum().GetDataPoints() {
				c.sums[m.Name] = uint64(p.GetAsInt())
			}
		}
		return nil
	}
	return errors.New("no such path")
}

func texts(list []*common.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, kv := range list {
		m[kv.Key] = kv.Value.GetStringValue()
		if b, ok := kv.Value.Value.(*common.AnyValue_BoolValue); ok {
			m[kv.Key] = fmt.Sprint(b.BoolValue)
		}
		if n, ok := kv.Value.Value.(*common.AnyValue_IntValue); ok {
			m[kv.Key] = fmt.Sprint(n.IntValue)
		}
	}
	return m
}

// recorded writes records to the journal of a state directory.
func recorded(t *testing.T, state string, records ...hook.Record) {
	t.Helper()
	r, err := journal.NewRecorder(filepath.Join(state, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		r.Record(rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

var began = time.Now().Add(-time.Hour).Truncate(time.Second)

// denied is a dispatch of two hooks one after the other, the second of which failed.
func denied(run string) hook.Record {
	guard, check := &hook.Hook{ID: "user/guard", Kind: hook.KindCommand}, &hook.Hook{ID: "user/check", Kind: hook.KindHTTP}
	return hook.Record{Run: run, Time: began, Elapsed: 40 * time.Millisecond, Event: hook.EventPreToolUse, Tool: "Bash",
		Base: hook.Base{SessionID: "s1", Agent: "claude"}, Policy: hook.Versions{"guard": 3, "packs": 7}, Env: []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		Payload: []byte(`{"hook_event_name":"PreToolUse","tool_use_id":"call-1","secret":"hunter2"}`),
		Outcome: &hook.Outcome{Verdict: hook.Deny, Reason: "hunter2", Results: []hook.Result{
			{Hook: guard, Status: hook.StatusBlocked, Turn: 1, Elapsed: 10 * time.Millisecond, Reason: "hunter2", Output: &hook.Output{Verdict: hook.Deny}},
			{Hook: check, Status: hook.StatusFailed, Failure: hook.FailureTimeout, Turn: 2, Elapsed: 30 * time.Millisecond}}}}
}

func TestSpansAndMetricsComeFromTheJournal(t *testing.T) {
	state, c := home(t), collect(t)
	later := hook.Record{Run: "r1", Time: began.Add(time.Second), Elapsed: time.Second, Event: hook.EventPreToolUse, Base: hook.Base{SessionID: "s1"},
		Env: denied("").Env, Background: &hook.Result{Hook: &hook.Hook{ID: "user/audit"}, Status: hook.StatusSuccess, Elapsed: time.Second}}
	recorded(t, state, denied("r1"), later)
	if said := says(t, "otel", "--endpoint", c.url, "--once"); said["sent"] != 2.0 || said["missed"] != 0.0 {
		t.Fatalf("said %v", said)
	}
	byName := make(map[string]*trace.Span)
	for _, span := range c.spans {
		byName[span.Name] = span
		if fmt.Sprintf("%x", span.TraceId) != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is of the trace %x, not the agent's", span.Name, span.TraceId)
		}
		if strings.Contains(fmt.Sprint(span), "hunter2") {
			t.Errorf("%s tells what the event holds: %v", span.Name, span)
		}
	}
	whole := byName["hook.dispatch PreToolUse"]
	if len(c.spans) != 4 || whole == nil || fmt.Sprintf("%x", whole.ParentSpanId) != "b7ad6b7169203331" {
		t.Fatalf("spans %v", byName)
	}
	for name, want := range map[string]struct {
		span  *trace.Span
		attrs map[string]string
		start time.Duration // after the dispatch
		took  time.Duration
		fails bool
	}{
		"dispatch": {whole, map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "deny", telemetry.Conversation: "s1", telemetry.OperationName: "execute_tool",
			telemetry.ToolName: "Bash", telemetry.ToolCallID: "call-1", "tenterhook.policy.guard": "3", "tenterhook.policy.packs": "7", telemetry.Agent: "claude", telemetry.Run: "r1"}, 0, 40 * time.Millisecond, false},
		"guard": {byName["hook.run user/guard"], map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "deny", telemetry.Conversation: "s1", telemetry.OperationName: "execute_tool",
			telemetry.ToolName: "Bash", telemetry.ToolCallID: "call-1", "tenterhook.policy.guard": "3", "tenterhook.policy.packs": "7", telemetry.HookID: "user/guard", telemetry.HookStatus: "blocked", telemetry.HookKind: "command"}, 0, 10 * time.Millisecond, false},
		"check": {byName["hook.run user/check"], map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "none", telemetry.Conversation: "s1", telemetry.OperationName: "execute_tool",
			telemetry.ToolName: "Bash", telemetry.ToolCallID: "call-1", "tenterhook.policy.guard": "3", "tenterhook.policy.packs": "7", telemetry.HookID: "user/check", telemetry.HookStatus: "failed", telemetry.HookKind: "http", telemetry.ErrorType: "timeout"}, 10 * time.Millisecond, 30 * time.Millisecond, true},
		"audit": {byName["hook.run user/audit"], map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "none", telemetry.Conversation: "s1", telemetry.OperationName: "execute_tool",
			telemetry.ToolName: "Bash", telemetry.ToolCallID: "call-1", "tenterhook.policy.guard": "3", "tenterhook.policy.packs": "7", telemetry.HookID: "user/audit", telemetry.HookStatus: "success", telemetry.HookKind: "", telemetry.Background: "true"}, time.Second, time.Second, false},
	} {
		if want.span == nil {
			t.Errorf("%s: no span", name)
			continue
		}
		if got := texts(want.span.Attributes); fmt.Sprint(got) != fmt.Sprint(want.attrs) {
			t.Errorf("%s: attributes %v\nwant %v", name, got, want.attrs)
		}
		start, end := time.Unix(0, int64(want.span.StartTimeUnixNano)), time.Unix(0, int64(want.span.EndTimeUnixNano))
		if start.Sub(began) != want.start || end.Sub(start) != want.took {
			t.Errorf("%s: from %v, for %v", name, start, end.Sub(start))
		}
		if failed := want.span.Status.GetCode() == trace.Status_STATUS_CODE_ERROR; failed != want.fails {
			t.Errorf("%s: status %v", name, want.span.Status)
		}
		if name != "dispatch" && string(want.span.ParentSpanId) != string(whole.SpanId) {
			t.Errorf("%s is not below the dispatch", name)
		}
	}
	want := map[string]uint64{
		fmt.Sprint(telemetry.DispatchDuration, map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "deny", telemetry.Agent: "claude"}):                                       1,
		fmt.Sprint(telemetry.HookDuration, map[string]string{telemetry.Event: "PreToolUse", telemetry.HookID: "user/guard", telemetry.HookStatus: "blocked"}):                                1,
		fmt.Sprint(telemetry.HookDuration, map[string]string{telemetry.Event: "PreToolUse", telemetry.HookID: "user/check", telemetry.HookStatus: "failed", telemetry.ErrorType: "timeout"}): 1,
		fmt.Sprint(telemetry.HookDuration, map[string]string{telemetry.Event: "PreToolUse", telemetry.HookID: "user/audit", telemetry.HookStatus: "success"}):                                1,
		telemetry.JournalMissed: 0,
	}
	if fmt.Sprint(c.sums) != fmt.Sprint(want) {
		t.Errorf("sums %v\nwant %v", c.sums, want)
	}
	if c.from["service.name"] != "tenterhook" || c.from["service.instance.id"] == "" || c.from["host.name"] == "" {
		t.Errorf("from %v", c.from)
	}
}

func TestNothingIsSentTwiceNorLost(t *testing.T) {
	state, c := home(t), collect(t)
	total := func() (n uint64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for name, count := range c.sums {
			if strings.HasPrefix(name, telemetry.DispatchDuration) {
				n += count
			}
		}
		return n
	}
	send := func(ok bool) {
		t.Helper()
		if code, out, errs := call(t, "otel", "--endpoint", c.url, "--once"); (code == 0) != ok {
			t.Fatalf("exit code %d, %s%s", code, out, errs)
		}
	}
	var all []hook.Record
	for i := range 603 {
		all = append(all, denied(fmt.Sprintf("run-%04d", i)))
	}
	recorded(t, state, all[:350]...)
	c.refuse = "/v1/metrics" // spans arrive, and the cursor does not move
	send(false)
	if c.copies != 0 || len(c.spans) == 0 || total() != 0 {
		t.Fatalf("%d spans, %d copies, %d counted", len(c.spans), c.copies, total())
	}
	c.refuse = ""
	send(true)
	if len(c.spans) != 3*350 || total() != 350 {
		t.Errorf("%d spans, %d counted; want 1050 and 350", len(c.spans), total())
	}
	copies := c.copies // the same spans, once more
	recorded(t, state, all[350:]...)
	c.refuse = "/v1/traces"
	send(false)
	c.refuse = ""
	send(true)
	if len(c.spans) != 3*603 || total() != 603 || c.copies != copies {
		t.Errorf("%d spans, %d counted, %d copies; want 1809, 603, %d", len(c.spans), total(), c.copies, copies)
	}
	before := c.requests
	recorded(t, state) // nothing
	send(true)
	if total() != 603 || len(c.spans) != 3*603 || c.requests != before+1 { // the sums alone
		t.Errorf("with nothing new: %d spans, %d counted, %d requests", len(c.spans), total(), c.requests-before)
	}
	other := collect(t) // a second collector begins at the beginning
	if said := says(t, "otel", "--endpoint", other.url, "--once"); said["sent"] != 603.0 || len(other.spans) != 3*603 {
		t.Errorf("another collector got %v, %d spans", said, len(other.spans))
	}
}

func TestATraceThatTheAgentDoesNotSampleIsCountedAlone(t *testing.T) {
	state, c := home(t), collect(t)
	quiet := denied("r1")
	quiet.Env = []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}
	alone := denied("r2")
	alone.Env = []string{}
	recorded(t, state, quiet, alone)
	says(t, "otel", "--endpoint", c.url, "--once")
	for _, span := range c.spans {
		if span.Name == "hook.dispatch PreToolUse" && (len(span.ParentSpanId) > 0 || texts(span.Attributes)[telemetry.Run] != "r2") {
			t.Errorf("%v", span)
		}
	}
	if len(c.spans) != 3 || c.sums[fmt.Sprint(telemetry.DispatchDuration, map[string]string{telemetry.Event: "PreToolUse", telemetry.Verdict: "deny", telemetry.Agent: "claude"})] != 2 {
		t.Errorf("%d spans, sums %v", len(c.spans), c.sums)
	}
}

func TestACollectorThatIsNoneIsAnError(t *testing.T) {
	home(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	for want, args := range map[string][]string{
		"name one with --endpoint":   {"otel", "--once"},
		"is no address":              {"otel", "--endpoint", "127.0.0.1:4318", "--once"},
		"is no address of":           {"otel", "--endpoint", "grpc://x", "--once"},
		"what is in the journal wai": {"otel", "--endpoint", "http://127.0.0.1:1", "--once"},
	} {
		if want == "what is in the journal wai" {
			recorded(t, home(t), denied("r"))
		}
		if code, _, errs := call(t, args...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, %s; want %q", args, code, errs, want)
		}
	}
}
