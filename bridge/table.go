package bridge

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Row is what is known of one agent.
type Row struct {
	Version string           `json:"version,omitempty"` // of the client that the tests run; "" = not verified
	Cells   map[Ability]Cell `json:"cells"`
	Tried   []string         `json:"tried,omitempty"` // what else the tests show with that client
}

// matrix is the table of all agents. The tests of internal/agents that run real
// clients write versions, levels, what was seen and what was tried; notes, and
// agents without a version, are written by hand.
//
//go:embed matrix.json
var matrix []byte

// rows reads the table at its first use.
var rows = sync.OnceValue(func() map[string]Row {
	var table map[string]Row
	if err := json.Unmarshal(matrix, &table); err != nil {
		panic("bridge: matrix.json: " + err.Error()) // a test reads it
	}
	return table
})

// Row is what is known of the agent. Do not change it.
func (a *Agent) Row() Row { return rows()[a.Name] }

// Version is that of the client that the tests run. "" = the agent is not
// verified: what is known of it is from its documentation.
func (a *Agent) Version() string { return a.Row().Version }

// Can says how far the agent does what an outcome asks for.
func (a *Agent) Can(what Ability) Cell { return a.Row().Cells[what] }
