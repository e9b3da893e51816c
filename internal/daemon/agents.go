package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

// agents are the processes of agents that hook entries came from. They are kept
// in a file of the daemon's place, for commands that ask whether an agent
// started them.
type agents struct {
	path string

	mu    sync.Mutex // guards all below
	known []knownAgent
}

type knownAgent struct {
	Agent string `json:"agent"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// maxAgents bounds the processes that are remembered. Those that ended go first.
const maxAgents = 256

// openAgents reads the file of a place. One that cannot be read is empty: the
// next call of each agent fills it.
func openAgents(place client.Place) *agents {
	a := &agents{path: filepath.Join(place.Dir, "agents.json")}
	if data, err := os.ReadFile(a.path); err == nil {
		_ = json.Unmarshal(data, &a.known)
	}
	return a
}

// note remembers the process of an agent.
func (a *agents) note(name string, p ancestry.Process) {
	now := knownAgent{name, p.PID, p.Start}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.known {
		if k == now {
			return
		}
	}
	alive := a.known[:0]
	for _, k := range a.known {
		if chain := ancestry.Of(k.PID); len(chain) > 0 && chain[0].Start == k.Start {
			alive = append(alive, k)
		}
	}
	if len(alive) >= maxAgents {
		alive = alive[1:]
	}
	a.known = append(alive, now)
	data, err := json.Marshal(a.known)
	if err != nil {
		return
	}
	fresh := a.path + ".new"
	if os.WriteFile(fresh, data, 0o600) == nil {
		_ = os.Rename(fresh, a.path)
	}
}

// below returns the agent that a process descends from.
func (a *agents) below(chain []ancestry.Process) (agent string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range chain {
		for _, k := range a.known {
			if k.PID == p.PID && k.Start == p.Start {
				return k.Agent, true
			}
		}
	}
	return "", false
}
