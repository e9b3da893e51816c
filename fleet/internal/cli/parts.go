package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/registry"
)

// The names of what an agent does beside shipping.
const (
	jobsName   = "jobs"
	policyName = "policy"
	otelName   = "otel"
)

// jobsState counts the jobs that wait on a machine, and the jobs at the hub.
type jobsState struct {
	Waiting int `json:"waiting"`
	Sent    int `json:"sent"`
}

func (s jobsState) String() string { return fmt.Sprintf("%d wait, %d at the hub", s.Waiting, s.Sent) }

// otelState says where spans go, and why they do not.
type otelState struct {
	Endpoint string `json:"endpoint"`
	Error    string `json:"error,omitempty"`
}

func (s otelState) String() string {
	if s.Error != "" {
		return "not sent to " + s.Endpoint + ": " + s.Error
	}
	return "to " + s.Endpoint
}

// policyState says which policies are in force, and when the hub said so last.
type policyState struct {
	Answered time.Time               `json:"answered,omitzero"`
	Channels map[string]channelState `json:"channels,omitempty"`
}

// channelState is a channel as the agent says it: which version is in force, how old
// it is, and why what the hub says is not.
type channelState struct {
	State   registry.PolicyState `json:"state"`
	Version int64                `json:"version"`
	Issued  time.Time            `json:"issued,omitzero"`
	Expires time.Time            `json:"expires,omitzero"`
	Signers []string             `json:"signers"`
	Refused string               `json:"refused,omitempty"`
}

// text is the channel at a time, as in "7, 2h0m0s old".
func (c channelState) text(now time.Time) string {
	var said string
	switch state := c.at(now); state {
	case registry.PolicyUnknown:
		said = "none came yet"
	case registry.PolicyBroken:
		said = "broken, so everything is blocked"
	default:
		said = fmt.Sprintf("%d, %s old", c.Version, now.Sub(c.Issued).Round(time.Second))
		if state == registry.PolicyStale {
			said += ", stale"
		}
	}
	if c.Refused != "" {
		said += ", a newer one is refused: " + c.Refused
	}
	return said
}

// at is its state at a time: an agent that is silent does not say that it expired.
func (c channelState) at(now time.Time) registry.PolicyState {
	if c.State == registry.PolicyKnown && now.After(c.Expires) {
		return registry.PolicyStale
	}
	return c.State
}

func (s policyState) text(now time.Time) string {
	var said []string
	for _, channel := range slices.Sorted(maps.Keys(s.Channels)) {
		said = append(said, channel+" "+s.Channels[channel].text(now))
	}
	if len(said) == 0 {
		return "the settings name no fleet"
	}
	return strings.Join(said, "; ")
}

// saidOf is what an agent says of a part; the zero value = it says nothing that can be read.
func saidOf[S any](s *fleetstate.State, part string) (state S) {
	if s != nil && json.Unmarshal(s.Parts[part], &state) != nil {
		var none S
		return none
	}
	return state
}

// partText is what an agent says of a part, for people.
func partText(s *fleetstate.State, name string, now time.Time) string {
	switch name {
	case jobsName:
		return saidOf[jobsState](s, name).String()
	case policyName:
		return saidOf[policyState](s, name).text(now)
	case otelName:
		return saidOf[otelState](s, name).String()
	}
	var plain bytes.Buffer // of a newer agent
	if json.Compact(&plain, s.Parts[name]) != nil {
		return ""
	}
	return plain.String()
}

// newest are the newest versions of each channel that machines have.
func newest(machines []*machine) map[string]int64 {
	versions := map[string]int64{}
	for _, m := range machines {
		for channel, c := range saidOf[policyState](m.State, policyName).Channels {
			versions[channel] = max(versions[channel], c.Version)
		}
	}
	return versions
}

// judge says what is wrong with a machine: what its policy is behind, and whether it is
// silent.
func (m *machine) judge(versions map[string]int64, now time.Time) {
	m.Behind, m.Stale = []string{}, []string{}
	for channel, c := range saidOf[policyState](m.State, policyName).Channels {
		if c.Version < versions[channel] {
			m.Behind = append(m.Behind, channel)
		}
		if c.at(now) == registry.PolicyStale {
			m.Stale = append(m.Stale, channel)
		}
	}
	slices.Sort(m.Behind)
	slices.Sort(m.Stale)
	m.Silent = !m.Revoked && (m.State == nil || !m.State.Stopped) && now.Sub(m.Contact) > fleetstate.Silent
}

// notes are what a person should know of a machine.
func (m *machine) notes() (notes []string) {
	if m.Revoked {
		notes = append(notes, "revoked")
	}
	if m.State != nil && m.State.Stopped {
		notes = append(notes, "its agent was stopped")
	}
	if m.Silent {
		notes = append(notes, "silent")
	}
	if len(m.Behind) > 0 {
		notes = append(notes, "behind in "+strings.Join(m.Behind, ", "))
	}
	if m.State != nil && m.State.Audit.Error != "" {
		notes = append(notes, m.State.Audit.Error)
	}
	var twice int64
	for _, s := range m.Archive {
		twice += s.Twice
	}
	if twice > 0 {
		notes = append(notes, fmt.Sprintf("%d numbers were used twice: it was restored from a copy", twice))
	}
	if s := saidOf[jobsState](m.State, jobsName); s != (jobsState{}) {
		notes = append(notes, "jobs: "+s.String())
	}
	if s := saidOf[otelState](m.State, otelName); s.Error != "" {
		notes = append(notes, "spans "+s.String())
	}
	return notes
}
