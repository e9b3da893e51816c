// Package fleetstate is how the agent of a fleet, in a program of its own, says on
// its machine how it does: a file that tenterhook and tenterhook-fleet read.
//
// Stage: beside everything: a dispatch needs none of it. It imports the standard
// library alone.
package fleetstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// State is what an agent says of itself and its machine.
type State struct {
	Fleet   string    `json:"fleet"`
	Machine string    `json:"machine"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	At      time.Time `json:"at"` // when it said so
	Stopped bool      `json:"stopped,omitempty"`
	// Connected says whether it reaches the hub, and Contact when it did last; the
	// zero time = never.
	Connected bool      `json:"connected"`
	Contact   time.Time `json:"contact,omitzero"`
	Audit     Audit     `json:"audit"`
	// Parts is what else it does, by name.
	Parts map[string]json.RawMessage `json:"parts,omitempty"`
}

// Audit is how far the journal was shipped.
type Audit struct {
	Journal string    `json:"journal,omitempty"` // its ID
	Shipped int64     `json:"shipped"`           // number of the last record that the hub has
	Last    int64     `json:"last"`              // of the last record that there is
	Contact time.Time `json:"contact,omitzero"`  // when the hub took one last
	Error   string    `json:"error,omitempty"`   // why it does not ship now; "" = it does
	Full    bool      `json:"full,omitempty"`    // the hub has no room: records wait here
}

// Backlog is how many records wait.
func (a Audit) Backlog() int64 { return max(a.Last-a.Shipped, 0) }

// Beat is how often an agent says how it does, at least.
const Beat = 15 * time.Second

// Silent is how long an agent that runs may say nothing.
const Silent = 4 * Beat

// Dir is the folder of what a machine knows of its fleet, in its state directory.
func Dir(stateDir string) string { return filepath.Join(stateDir, "fleet") }

// ConnectionFile is where the credential of a machine lies.
func ConnectionFile(stateDir string) string { return filepath.Join(Dir(stateDir), "connection.json") }

// File is where an agent says how it does.
func File(stateDir string) string { return filepath.Join(Dir(stateDir), "agent.json") }

// Enrolled reports whether a machine is of a fleet.
func Enrolled(stateDir string) bool {
	_, err := os.Lstat(ConnectionFile(stateDir))
	return err == nil
}

// Read returns what the agent said last; nil = it never ran.
func Read(stateDir string) (*State, error) {
	var s State
	switch err := safefile.ReadJSON(File(stateDir), &s); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &s, nil
}

// Running reports whether the agent said something of late. What it says of a time
// to come is of before the clock was set back.
func (s *State) Running(now time.Time) bool {
	return s != nil && !s.Stopped && now.Sub(s.At).Abs() < Silent
}

// Trouble is something that does not work between a machine and its fleet.
type Trouble struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// Troubles returns what does not work on a machine that is of a fleet; nil = all
// does, or it is of none. Decisions do not depend on it.
func Troubles(stateDir string, now time.Time) []Trouble {
	if !Enrolled(stateDir) {
		return nil
	}
	s, err := Read(stateDir)
	const start = "start it: tenterhook fleet agent; 'tenterhook fleet agent unit' prints a service"
	switch {
	case err != nil:
		return []Trouble{{"fleet_state", err.Error(), "restart the agent: tenterhook fleet agent"}}
	case s == nil:
		return []Trouble{{"fleet_agent", "this machine is of a fleet, and its agent never ran: nothing is shipped, and no policy comes", start}}
	case !s.Running(now):
		since := s.At.Format(time.RFC3339)
		if s.At.After(now) {
			since = "this machine's clock was set back"
		}
		return []Trouble{{"fleet_agent", fmt.Sprintf("the agent of the fleet %s does not run since %s: nothing is shipped, and no policy comes; %s", s.Fleet, since, waiting(s)), start}}
	}
	var list []Trouble
	if !s.Connected {
		since := "never could be reached"
		if !s.Contact.IsZero() {
			since = "cannot be reached since " + s.Contact.Format(time.RFC3339)
		}
		list = append(list, Trouble{"fleet_hub", fmt.Sprintf("the hub of the fleet %s %s; %s", s.Fleet, since, waiting(s)), "see whether the hub runs; this machine decides without it"})
	} else if s.Audit.Full {
		list = append(list, Trouble{"fleet_full", "the hub has no room; " + waiting(s), "see whether the archive runs: tenterhook fleet archive"})
	} else if s.Audit.Error != "" && s.Audit.Backlog() > 0 {
		list = append(list, Trouble{"fleet_audit", fmt.Sprintf("the journal is not shipped: %s; %s", s.Audit.Error, waiting(s)), "the agent tries again by itself"})
	}
	return list
}

func waiting(s *State) string {
	if n := s.Audit.Backlog(); n != 1 {
		return fmt.Sprintf("%d records wait on this machine", n)
	}
	return "1 record waits on this machine"
}
