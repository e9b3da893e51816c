package telemetry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

var scope = instrumentation.Scope{Name: "github.com/tenterhook/tenterhook"}

// spans are those of entries: one of each dispatch, and below it one of each hook.
// A hook that ran in the background has its span below the dispatch that began it.
type spans struct {
	journal  string // its ID, so that runs of two machines have spans of their own
	resource *resource.Resource
	list     []sdktrace.ReadOnlySpan
}

// add makes the spans of an entry, unless the agent's trace is not sampled.
func (s *spans) add(n *journal.Numbered) {
	traceID, agent, sampled := s.traceOf(&n.Entry)
	if !sampled {
		return
	}
	in := trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: s.spanID(n.Run), TraceFlags: trace.FlagsSampled})
	if len(n.Results) != 1 || !n.Results[0].Background {
		s.dispatch(n, in, agent)
	}
	start, turn, longest := n.Time, 0, time.Duration(0)
	for i, r := range n.Results {
		if r.Turn != turn { // hooks of one turn ran side by side, after those of the turn before
			start, turn, longest = start.Add(longest), r.Turn, 0
		}
		longest = max(longest, milliseconds(r.ElapsedMS))
		s.hook(n, &r, start, in, i)
	}
}

func (s *spans) dispatch(n *journal.Numbered, own, agent trace.SpanContext) {
	attrs := append(common(&n.Entry), attribute.String(Verdict, verdict(n.Verdict)), attribute.String(Agent, n.Agent), attribute.String(Run, n.Run))
	status := sdktrace.Status{}
	if n.Error != "" {
		attrs = append(attrs, attribute.String(ErrorType, undecided))
		status = sdktrace.Status{Code: codes.Error, Description: n.Error}
	}
	s.put(tracetest.SpanStub{Name: "hook.dispatch " + string(n.Event), SpanContext: own, Parent: agent, StartTime: n.Time,
		EndTime: n.Time.Add(milliseconds(n.ElapsedMS)), Attributes: attrs, Status: status})
}

func (s *spans) hook(n *journal.Numbered, r *journal.Result, start time.Time, parent trace.SpanContext, i int) {
	attrs := append(common(&n.Entry), attribute.String(HookID, r.Hook), attribute.String(HookStatus, string(r.Status)),
		attribute.String(HookKind, string(r.Kind)), attribute.String(Verdict, verdict(r.Verdict)))
	status := sdktrace.Status{}
	if r.Background {
		attrs = append(attrs, attribute.Bool(Background, true))
	}
	if r.Failure != "" { // a denial is no error: the hook did its work
		attrs = append(attrs, attribute.String(ErrorType, string(r.Failure)))
		status = sdktrace.Status{Code: codes.Error, Description: string(r.Failure)}
	}
	own := trace.NewSpanContext(trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: trace.FlagsSampled,
		SpanID: s.spanID(n.Run, fmt.Sprint(i), r.Hook, fmt.Sprint(r.Background), n.Time.String())})
	s.put(tracetest.SpanStub{Name: "hook.run " + r.Hook, SpanContext: own, Parent: parent, StartTime: start,
		EndTime: start.Add(milliseconds(r.ElapsedMS)), Attributes: attrs, Status: status})
}

func (s *spans) put(stub tracetest.SpanStub) {
	stub.SpanKind, stub.Resource, stub.InstrumentationScope = trace.SpanKindInternal, s.resource, scope
	s.list = append(s.list, stub.Snapshot())
}

// common are the attributes that a dispatch and its hooks share.
func common(e *journal.Entry) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(Event, string(e.Event))}
	if e.Session != "" {
		attrs = append(attrs, attribute.String(Conversation, e.Session))
	}
	if e.Tool != "" {
		attrs = append(attrs, attribute.String(OperationName, "execute_tool"), attribute.String(ToolName, e.Tool))
	}
	for _, channel := range slices.Sorted(maps.Keys(e.Policy)) {
		attrs = append(attrs, attribute.Int64(Policy+channel, e.Policy[channel]))
	}
	var call struct {
		ID string `json:"tool_use_id"`
	}
	if json.Unmarshal(e.Payload, &call) == nil && call.ID != "" {
		attrs = append(attrs, attribute.String(ToolCallID, call.ID))
	}
	return attrs
}

// traceOf is the trace of an entry, the agent's span in it, and whether the agent
// wants it to be kept. Without one from the agent each run is a trace.
func (s *spans) traceOf(e *journal.Entry) (trace.TraceID, trace.SpanContext, bool) {
	if parts := strings.Split(e.Trace, "-"); len(parts) == 4 {
		id, badID := trace.TraceIDFromHex(parts[1])
		span, badSpan := trace.SpanIDFromHex(parts[2])
		flags, badFlags := hex.DecodeString(parts[3])
		if badID == nil && badSpan == nil && badFlags == nil && len(flags) == 1 {
			c := trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.TraceFlags(flags[0]), Remote: true}
			return id, trace.NewSpanContext(c), c.TraceFlags.IsSampled()
		}
	}
	var id trace.TraceID
	sum := sha256.Sum256([]byte("trace\x00" + s.journal + "\x00" + e.Run))
	copy(id[:], sum[:])
	return id, trace.SpanContext{}, true
}

// spanID is always the same for the same parts.
func (s *spans) spanID(parts ...string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("span\x00" + s.journal + "\x00" + strings.Join(parts, "\x00")))
	copy(id[:], sum[:])
	return id
}

const undecided = "undecided" // a dispatch that ended without a decision

func verdict(v hook.Verdict) string { return cmp.Or(v.String(), "none") }

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
