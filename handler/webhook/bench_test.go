package webhook_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// BenchmarkPost holds a hook against what any program would write: a POST of
// the same body to the same server, on a connection that is kept open, by the
// client of net/http. They take turns, so that the machine's noise falls on
// both; "ratio" is ours to theirs.
func BenchmarkPost(b *testing.B) {
	answers := map[string]string{
		"no opinion": "",
		"denied":     `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on main"}}`,
	}
	for name, answer := range answers {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, answer)
			}))
			defer server.Close()
			h := local(b, server.URL+"/*")
			c := call(b, posts(server.URL+"/hook"))
			c.Payload = bytes.Repeat([]byte{'x'}, 1024)
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			versus(b, func() {
				res, err := client.Post(server.URL+"/hook", "application/json", bytes.NewReader(c.Payload))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(res.Body); err != nil {
					b.Fatal(err)
				}
				_ = res.Body.Close()
			}, func() {
				if _, err := h.Handle(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// versus runs a floor and ours in turn and reports the medians and their ratio.
func versus(b *testing.B, floor, ours func()) {
	var floors, all []time.Duration
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for n := 0; b.Loop(); n++ {
		if n%2 == 0 {
			floors, all = append(floors, timed(floor)), append(all, timed(ours))
		} else {
			all, floors = append(all, timed(ours)), append(floors, timed(floor))
		}
	}
	slices.Sort(floors)
	slices.Sort(all)
	f, o := floors[len(floors)/2], all[len(all)/2]
	b.ReportMetric(0, "ns/op") // of both together: it says nothing
	b.ReportMetric(float64(f.Nanoseconds())/1e3, "floor-µs")
	b.ReportMetric(float64(o.Nanoseconds())/1e3, "ours-µs")
	b.ReportMetric(float64(o)/float64(f), "ratio")
}
