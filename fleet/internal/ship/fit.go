package ship

import (
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/journal"
)

// headerBytes is room for the headers and the subject of a message.
const headerBytes = 1 << 10

// fit makes a record small enough for a message. It leaves out first what is least
// missed, and says so.
func fit(body []byte, limit int) ([]byte, error) {
	if len(body) <= limit || limit <= 0 {
		return body, nil
	}
	var e journal.Entry
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, err
	}
	e.Omitted = fmt.Sprintf("the record has %d bytes, and the hub takes %d", len(body), limit)
	all := e.Results
	for _, leave := range []func(){
		func() { e.Payload = nil },
		func() { each(all, func(r *journal.Result) { r.Output = nil }) },
		func() { each(all, func(r *journal.Result) { r.Stderr, r.Hint = "", "" }) },
		func() { each(all, func(r *journal.Result) { r.Reason, r.Source = "", "" }) },
		func() { e.Results = all[:min(len(all), 100)] },
		func() { e.Results = nil },
	} {
		leave()
		smaller, err := json.Marshal(e)
		if err != nil || len(smaller) <= limit {
			return smaller, err
		}
	}
	return json.Marshal(journal.Entry{Run: e.Run, Time: e.Time, Event: e.Event, Verdict: e.Verdict, Policy: e.Policy, Omitted: e.Omitted})
}

func each(results []journal.Result, do func(*journal.Result)) {
	for i := range results {
		do(&results[i])
	}
}
