package daemon

import (
	"fmt"
	"time"

	"github.com/tenterhook/tenterhook/bridge/closed"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

// The kinds of frames that only the command sends.
const (
	kindStatus = 's' // answered with a Status as JSON
	kindStop   = 'q' // answered when the daemon has begun to end
	kindReset  = 'b' // a hook's ID; answered with the hooks whose breakers were closed, as JSON
)

// Status describes a running daemon.
type Status struct {
	PID        int       `json:"pid"`
	Version    string    `json:"version"`
	Program    string    `json:"program"`
	Socket     string    `json:"socket"`
	HTTP       string    `json:"http,omitempty"` // the address that takes calls over HTTP
	Started    time.Time `json:"started"`
	Calls      int64     `json:"calls"`
	UnderWay   int64     `json:"under_way"`
	Waiting    int64     `json:"waiting"`
	Sessions   int       `json:"sessions"`
	Workspaces []string  `json:"workspaces"`
	RSS        int64     `json:"rss_bytes"` // 0 = unknown
	Protection string    `json:"self_protection"`
	Breakers   []Breaker `json:"breakers"` // only breakers with failures
	Dropped    int64     `json:"dropped"`  // records that wait to be counted in the journal
}

// NothingInstalled is a Status.Protection: there is nothing to protect.
const NothingInstalled = "off: nothing is installed"

// HeldError says that a daemon runs already.
type HeldError struct{ PID int }

func (e *HeldError) Error() string {
	return fmt.Sprintf("a daemon runs already (pid %d); 'tenterhook daemon stop' ends it", e.PID)
}

// Undecided is the answer of the event's failure policy.
func Undecided(call *client.Call, why string) client.Answer {
	a := closed.Undecided(call.Agent, call.Event, why)
	return client.Answer{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), ExitCode: a.ExitCode}
}
