package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Record is what a [Recorder] gets: one dispatch, or one hook that finished in
// the background. Its values are shared, so a Recorder reads them only.
type Record struct {
	Run       string        // identifies the dispatch; a background hook has its dispatch's
	Time      time.Time     // when the dispatch, or the background hook, began
	Elapsed   time.Duration // how long it took
	Workspace string        // the project's root
	Event     Event
	Base      Base     // the common fields, as the hooks got them
	Tool      string   // the tool's name; "" = the event has none
	Env       []string // of the process that caused the event, as "key=value"; nil = that of the host. It is for masking, not for keeping
	Payload   []byte   // the event as JSON as the host gave it; nil for a background hook, and where it cannot be encoded
	Policy    Versions // of the fleet's documents that were in force; nil = no fleet's are. It is shared: do not change it

	Outcome    *Outcome // nil = nothing was decided (Err), or a background hook
	Background *Result  // the background hook's result; nil = a dispatch
	Err        error    // why nothing was decided
}

// Versions are the versions of a fleet's signed documents, by channel. 0 = what was
// accepted of a channel does not count, so that everything is blocked.
type Versions map[string]int64

// String names the channels with their versions, as in "guard 3, packs 7"; "" = none.
func (v Versions) String() string {
	var parts []string
	for _, channel := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, fmt.Sprintf("%s %d", channel, v[channel]))
	}
	return strings.Join(parts, ", ")
}

// Recorder keeps what a registry decided. The registry calls Record after each
// dispatch that concerned a hook and for each result of a background hook, from
// many goroutines at once. Record returns at once and never fails a dispatch.
type Recorder interface {
	Record(Record)
}

// DurableRecorder is a Recorder that can say whether a record was written. Where the
// settings say audit.on_failure = "block", a call is denied whose record was not.
type DurableRecorder interface {
	Recorder
	// RecordNow returns once the record is written, or why it was not. A record that it
	// returned an error for was not kept.
	RecordNow(context.Context, Record) error
}

// PromptRecorder is a Recorder that says that it returns at once and does not
// panic: it is called in the dispatch's own goroutine, which saves a few
// microseconds. Prompt returns the recorder itself, so that a type which embeds one
// does not say the same by accident.
type PromptRecorder interface {
	Recorder
	Prompt() Recorder
}
