package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	Path  string `json:"path,omitempty"` // PATH of its last call
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

// note remembers the process of an agent, and the PATH that it calls with.
func (a *agents) note(name string, p ancestry.Process, path string) {
	now := knownAgent{name, p.PID, p.Start, path}
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.known, now) {
		return
	}
	alive := a.known[:0]
	for _, k := range a.known {
		if k.PID == now.PID {
			continue // it had another PATH, or has ended
		}
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

// AgentPaths are the PATHs that agents called with last, by agent.
func AgentPaths(env []string) map[string]string {
	paths := make(map[string]string)
	if place, err := Place(env); err == nil {
		for _, k := range openAgents(place).known {
			if k.Path != "" {
				paths[k.Agent] = k.Path
			}
		}
	}
	return paths
}

// below returns the agent that a process descends from. While an agent runs, a
// command whose parent has ended, and that no terminal belongs to, may be its.
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
	if ancestry.Orphan(chain) {
		for _, k := range a.known {
			if p := ancestry.Of(k.PID); len(p) > 0 && p[0].Start == k.Start {
				return k.Agent + ", or nobody: its parent has ended", true
			}
		}
	}
	return "", false
}

// markers are variables that agents set for the commands that they run.
var markers = []struct{ variable, agent string }{
	{"CLAUDECODE", "claude"}, {"CLAUDE_CODE_CHILD_SESSION", "claude"}, {"GEMINI_CLI", "gemini"}, {"QWEN_CODE", "qwen"},
	{"QWEN_CODE_SESSION_ID", "qwen"}, {"COPILOT_CLI", "copilot"}, {"CODEX_SANDBOX", "codex"}, {"CODEX_SANDBOX_NETWORK_DISABLED", "codex"},
	{"CODEX_THREAD_ID", "codex"}, {"OPENCODE", "opencode"}, {"CLINE_ACTIVE", "cline"}, {"PI_CODING_AGENT", "pi"}, {"AI_AGENT", "an agent"},
}

// StartedBy returns the agent that started this process: one of those that hook
// entries came from is among its ancestors, or the environment says so. It
// returns "" where no agent has hooks of ours, and for a person's own command.
func StartedBy(env []string) string {
	if !protection(env).Active() {
		return ""
	}
	for _, m := range markers {
		if lookup(env, m.variable) != "" {
			return m.agent + ", by " + m.variable
		}
	}
	place, err := Place(env)
	if err != nil {
		return ""
	}
	agent, _ := openAgents(place).below(ancestry.Of(os.Getpid()))
	return agent
}
