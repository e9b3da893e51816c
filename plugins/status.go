package plugins

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Process is how a plugin stands with one host: this one, or another of this
// user that lives now.
type Process struct {
	PID    int    `json:"pid"`    // 0 = it does not run
	Host   int    `json:"host"`   // the host's process
	Digest string `json:"digest"` // of what runs or failed
	State  State  `json:"state"`  // running, starting or failing
	Why    string `json:"why"`
}

// statusName is the file in a host's private folder that tells others of the
// same user how its plugins stand. It is for people: nothing is decided by it.
const (
	statusName = "plugins.json"
	maxStatus  = 1 << 20 // bytes
)

// post tells other hosts how the plugins stand now.
func (h *Host) post() {
	h.sockets.keep(statusName, func() ([]byte, error) { return json.Marshal(h.processes()) })
}

// processes is how this host's plugins stand, by their paths; plugins that neither
// run nor failed of late are not in it.
func (h *Host) processes() map[string]Process {
	h.mu.Lock()
	units := slices.Collect(maps.Values(h.units))
	h.mu.Unlock()
	all := make(map[string]Process)
	for _, u := range units {
		if p, ok := u.process(); ok {
			all[u.path] = p
		}
	}
	return all
}

// process is how the plugin stands; false = nothing needs it.
func (u *unit) process() (Process, bool) {
	now := u.Status()
	p := Process{Host: os.Getpid(), Digest: now.From.digest}
	switch {
	case now.Running:
		p.State, p.PID = StateRunning, now.Process.service.PID()
	case now.Starting:
		p.State = StateStarting
	case now.Failed != nil:
		p.State, p.Why = StateFailing, now.Failed.Error()
		var last *Problem
		if wait := u.problem(now.Failed); wait != nil {
			p.Why = wait.Reason
		} else if errors.As(now.Failed, &last) {
			p.Why = last.Reason
		}
	default:
		return Process{}, false
	}
	return p, true
}

// standing is how a plugin stands with all hosts that live, those where it runs
// first.
func (h *Host) standing() map[string][]Process {
	all := make(map[string][]Process)
	add := func(one map[string]Process) {
		for path, p := range one {
			if rank(p.State) >= 0 { // another host's file may say anything
				all[path] = append(all[path], p)
			}
		}
	}
	add(h.processes())
	for _, dir := range h.sockets.others() {
		var one map[string]Process
		data, err := readFile(filepath.Join(dir, statusName), maxStatus)
		if err == nil && json.Unmarshal(data, &one) == nil {
			add(one)
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Process) int {
			return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
		})
	}
	return all
}

func rank(s State) int { return slices.Index([]State{StateRunning, StateStarting, StateFailing}, s) }
