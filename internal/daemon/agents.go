package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/registry"
)

// agents are the processes of agents that hook entries came from. They are kept
// in files, for commands that ask whether an agent started them: one in the
// daemon's place, and one where the account has it, which no environment moves.
type agents struct {
	mu    sync.Mutex // guards all below
	known []knownAgent
	files []string
}

type knownAgent struct {
	Agent string `json:"agent"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	Path  string `json:"path,omitempty"` // PATH of its last call
	// Where its operator's hooks are, as variables.
	Where []string `json:"where,omitempty"`
}

const (
	// maxAgents bounds the processes that are remembered. Ended processes go first.
	maxAgents = 256
	// maxAgentFiles bounds the files that one process keeps.
	maxAgentFiles = 8
)

// agentsFile is the name of these files.
const agentsFile = "agents.json"

// openAgents reads the file of a place. A file that cannot be read is empty: the
// next call of each agent fills it.
func openAgents(place client.Place) *agents {
	file := filepath.Join(place.Dir, agentsFile)
	return &agents{known: readAgents(file), files: []string{file}}
}

// readAgents reads files. What cannot be read knows no agent.
func readAgents(files ...string) (known []knownAgent) {
	for _, file := range files {
		var more []knownAgent
		if safefile.ReadJSON(file, &more) == nil {
			known = append(known, more...)
		}
	}
	return known
}

// accountAgents is the file that no environment moves, "" = there is none.
func accountAgents() string {
	if p := accountPlaces(); p.state != "" {
		return filepath.Join(p.state, "run", agentsFile)
	}
	return ""
}

func (k knownAgent) same(o knownAgent) bool { return k.PID == o.PID && k.Start == o.Start }

func (k knownAgent) equal(o knownAgent) bool {
	return k.same(o) && k.Agent == o.Agent && k.Path == o.Path && slices.Equal(k.Where, o.Where)
}

func (k knownAgent) alive() bool {
	p, ok := ancestry.Look(k.PID)
	return ok && p.Start == k.Start
}

// knows reports whether a process is known to be of an agent.
func (a *agents) knows(name string, p ancestry.Process) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.known, func(k knownAgent) bool { return k.Agent == name && k.PID == p.PID && k.Start == p.Start })
}

// note remembers the process of an agent, the PATH that it calls with, and whose
// hooks its calls concern.
func (a *agents) note(name string, p ancestry.Process, path string, u user) {
	if _, there := bridge.Lookup(name); !there { // a person who tries the bridge
		return
	}
	now := knownAgent{name, p.PID, p.Start, path, u.variables()}
	file := filepath.Join(u.kept, "run", agentsFile)
	a.mu.Lock()
	defer a.mu.Unlock()
	met := slices.ContainsFunc(a.known, now.equal)
	if met && (slices.Contains(a.files, file) || len(a.files) == maxAgentFiles) {
		return
	}
	if !slices.Contains(a.files, file) && len(a.files) < maxAgentFiles && u.kept != "" {
		a.files = append(a.files, file)
	}
	if !met { // it may have had another PATH
		a.known = append(slices.DeleteFunc(a.known, func(k knownAgent) bool { return k.same(now) && slices.Equal(k.Where, now.Where) }), now)
	}
	a.known = slices.DeleteFunc(a.known, func(k knownAgent) bool { return !k.alive() })
	a.known = a.known[max(0, len(a.known)-maxAgents):]
	for _, file := range a.files {
		a.write(file)
	}
}

// write adds what is known to a file that other daemons write too. The
// caller holds mu.
func (a *agents) write(file string) {
	all := slices.Clone(a.known)
	for _, k := range readAgents(file) {
		if !slices.ContainsFunc(all, func(o knownAgent) bool { return k.same(o) && slices.Equal(k.Where, o.Where) }) && k.alive() {
			all = append(all, k)
		}
	}
	data, err := json.Marshal(all[max(0, len(all)-maxAgents):])
	if err == nil {
		_ = safefile.Put(file, data) // what cannot be written costs a refusal, and no decision
	}
}

// AgentPaths are the PATHs that agents called with last, by agent.
func AgentPaths(env []string) map[string]string {
	paths := make(map[string]string)
	for _, k := range openAgents(Place(env)).known {
		if k.Path != "" {
			paths[k.Agent] = k.Path
		}
	}
	return paths
}

// alive reports whether a process of an agent runs.
func (a *agents) alive(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.known {
		if k.Agent == name && k.alive() {
			return true
		}
	}
	return false
}

// below returns the agent that a process descends from. While an agent runs, a
// command whose parent has ended, and that no terminal belongs to, may be its.
func (a *agents) below(chain []ancestry.Process) (knownAgent, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return below(a.known, chain)
}

func below(known []knownAgent, chain []ancestry.Process) (knownAgent, bool) {
	for _, p := range chain {
		for _, k := range known {
			if k.PID == p.PID && k.Start == p.Start {
				return k, true
			}
		}
	}
	if ancestry.Orphan(chain) {
		for _, k := range known {
			if k.alive() {
				k.Agent += ", or unknown: its parent has ended"
				return k, true
			}
		}
	}
	return knownAgent{}, false
}

// markers are variables that agents set for the commands that they run.
var markers = []struct{ variable, agent string }{
	{"CLAUDECODE", "claude"}, {"CLAUDE_CODE_CHILD_SESSION", "claude"}, {"GEMINI_CLI", "gemini"}, {"QWEN_CODE", "qwen"},
	{"QWEN_CODE_SESSION_ID", "qwen"}, {"COPILOT_CLI", "copilot"}, {"CODEX_SANDBOX", "codex"}, {"CODEX_SANDBOX_NETWORK_DISABLED", "codex"},
	{"CODEX_THREAD_ID", "codex"}, {"OPENCODE", "opencode"}, {"CLINE_ACTIVE", "cline"}, {"PI_CODING_AGENT", "pi"}, {"AI_AGENT", "an agent"},
}

// StartedBy returns the agent that started this process, and whose guards a
// command of it would change: a process that hook entries came from is among
// its ancestors, or the environment says so. It returns "" where no agent has
// hooks of ours, where an operator switched self-protection off, and for a
// person's own command.
func StartedBy(ctx context.Context, env []string) string {
	agent, guarded := startedBy(env)
	for _, u := range guarded {
		if u.protection().Active() && !u.unprotected(ctx) {
			return agent
		}
	}
	return ""
}

// startedBy returns the agent, and the users whose protection may be in force.
func startedBy(env []string) (agent string, guarded []user) {
	here := userOf(env, nil)
	known := readAgents(filepath.Join(here.kept, "run", agentsFile), accountAgents(), filepath.Join(Place(env).Dir, agentsFile))
	if k, ok := below(known, ancestry.Of(os.Getpid())); ok {
		return k.Agent, []user{here, userOf(env, k.Where)}
	}
	for _, m := range markers {
		if environ.Get(env, m.variable) != "" {
			return m.agent + ", by " + m.variable, []user{here}
		}
	}
	return "", nil
}

// unprotected reports whether the user's settings switch self-protection off.
func (u user) unprotected(ctx context.Context) bool {
	reg, err := registry.Open(ctx, registry.Options{Workspace: u.home, UserDir: u.config, StateDir: u.state,
		Without: []hook.Scope{hook.ScopeProject, hook.ScopePlugin}, Guards: []*hook.Hook{u.protection().Guard()}})
	if err != nil {
		return false
	}
	defer reg.Close()
	return switchedOff(reg) != ""
}

// switchedOff says why self-protection is off in a registry, "" if it is not.
func switchedOff(reg *registry.Registry) string {
	for _, l := range reg.List() {
		if l.Hook.ID == protectionID && l.State == hook.StateDisabled {
			return l.Why
		}
	}
	return ""
}
