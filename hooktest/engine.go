package hooktest

import (
	"context"
	"encoding/json"
)

// Engine is what runs hooks: the thing under test. Its method is called from
// many goroutines at once.
type Engine interface {
	// Open makes an engine ready for the events of one case. An error that is
	// errors.ErrUnsupported skips the case: the engine has no such option.
	Open(ctx context.Context, s Setup) (Session, error)
}

// Session takes the events of one case, one after the other.
type Session interface {
	// Select says who would run, as the JSON of `tenterhook why --json`, and
	// runs nothing.
	Select(ctx context.Context, payload []byte) ([]byte, error)
	// Dispatch fires an event and returns its outcome, as the JSON of
	// `tenterhook run --json`.
	Dispatch(ctx context.Context, payload []byte) ([]byte, error)
	// Close waits for the hooks that run in the background and returns what
	// became of them: a JSON list of {hook, event, session_id, status, verdict,
	// failure, reason, rewake, message, context}, by hook; nil from an engine
	// that cannot tell, which is then not asked.
	Close() (background []byte, err error)
}

// Setup is the world of a case.
type Setup struct {
	Dirs      []string        // folders of NAME/HOOK.md, the nearest last; trusted
	Workspace string          // the project's root, which may hold a .tenterhook
	Home      string          // the user's home, empty
	Env       []string        // all that hooks inherit, as "key=value"
	Schema    json.RawMessage // of every tool's input; nil = none
	Options   Options
}

// Options are how a case wants the host to be. The zero value is a host that
// does nothing special.
type Options struct {
	NoHooks        bool              `json:"no_hooks"`        // the switch that turns hooks off
	Serial         bool              `json:"serial"`          // one hook after the other
	StrictCompat   bool              `json:"strict_compat"`   // `if` rules see no more than Claude Code's
	NonInteractive bool              `json:"non_interactive"` // no person is there to ask
	StopLimit      *int              `json:"stop_limit"`      // nil = 8, 0 = off
	OneProcess     bool              `json:"one_process"`     // what is remembered between events counts
	Env            map[string]string `json:"env"`             // also inherited
}
