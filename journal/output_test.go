package journal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/journal"
)

// What a hook said is kept with the event, masked and within bounds, and not with
// results alone.
func TestOutputsAreKept(t *testing.T) {
	for name, tt := range map[string]struct {
		said  hook.Output
		level journal.Level
		want  string
	}{
		"context":         {hook.Output{Context: "the password=hunter2hunter2 line"}, "", `{"context":"the password=[masked] line"}`},
		"rewrite":         {hook.Output{UpdatedInput: json.RawMessage(`{"command": "ls"}`), SystemMessage: "m"}, "", `{"system_message":"m","updated_input":{"command":"ls"}}`},
		"verdict alone":   {hook.Output{Verdict: hook.Deny, Reason: "no"}, "", ``},
		"variables":       {hook.Output{Env: map[string]string{"A": "b"}}, "", ``},
		"no JSON":         {hook.Output{UpdatedInput: json.RawMessage(`{`)}, "", `"it cannot be encoded"`},
		"too large":       {hook.Output{Context: strings.Repeat("x", 20<<10)}, "", `"it is larger than 16 KiB"`},
		"of results only": {hook.Output{Context: "x"}, journal.LevelResults, ``},
	} {
		dir := t.TempDir()
		r := record("r1", time.Now())
		r.Outcome.Results[0].Output, r.Outcome.Results[0].Turn = &tt.said, 2
		keep(t, dir, journal.Options{Level: tt.level}, r)
		e, err := ingest(t, dir, journal.Options{}).Run(t.Context(), "r1")
		if err != nil || string(e.Results[0].Output) != tt.want || e.Results[0].Turn != 2 {
			t.Errorf("%s: got %s, %v, want %s", name, e.Results[0].Output, err, tt.want)
		}
	}
}
