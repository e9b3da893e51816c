//go:build linux || darwin

package daemon

import (
	"encoding/json"
	"fmt"
	"net"
	"os"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/version"
)

// status answers 'tenterhook daemon status'.
func (s *server) status() Status {
	program, _ := os.Executable()
	st := Status{PID: os.Getpid(), Version: version.This().String(), Program: program, Socket: s.place.Socket, Started: s.began,
		Calls: s.calls.Load(), UnderWay: s.deciding.Load(), Waiting: s.queued.Load(), Sessions: s.decider.sessions.count(),
		Workspaces: s.decider.registries.workspaces(), RSS: residentSize(),
		Breakers: s.decider.registries.breakers(), Dropped: s.decider.recorders.dropped()}
	st.Protection, st.HTTP = s.protection(), s.door.address()
	return st
}

// protection says whether agents are kept from changing their guards.
func (s *server) protection() string {
	if !s.user().protection().Active() {
		return NothingInstalled
	}
	if why := s.decider.registries.unprotected(); why != "" {
		return "off: " + why
	}
	return "on"
}

// user is whose directories the daemon's own environment means.
func (s *server) user() user { return userOf(s.opts.Env, nil) }

// guards reports whether an agent's operator has it kept from changing its guards.
func (s *server) guards(agent knownAgent) bool {
	return s.user().protection().Active() || userOf(s.opts.Env, agent.Where).protection().Active()
}

// stop ends the daemon for a person.
func (s *server) stop(c *net.UnixConn, pid int) {
	if s.refused(c, pid, "end") {
		return
	}
	s.drain("'tenterhook daemon stop'")
	s.send(c, client.AppendFrame(nil, client.KindAnswer, []byte{0}, nil, nil))
}

// reset closes the breakers of a hook for a person.
func (s *server) reset(c *net.UnixConn, id string, pid int) {
	if s.refused(c, pid, "reset the breakers of") {
		return
	}
	hooks, _ := json.Marshal(s.decider.registries.reset(id)) // strings always encode
	s.log.Info("breakers reset", "hook", id, "hooks", string(hooks))
	s.send(c, client.AppendFrame(nil, client.KindAnswer, []byte{0}, hooks, nil))
}

// refused answers a command that an agent started: it must not change its guards.
func (s *server) refused(c *net.UnixConn, pid int, what string) bool {
	agent, ok := s.decider.agents.below(ancestry.Of(pid))
	if !ok || !s.guards(agent) {
		return false
	}
	s.log.Warn("refused for an agent: to "+what+" its guards", "agent", agent.Agent, "pid", pid)
	s.send(c, client.AppendFrame(nil, client.KindAnswer, []byte{1}, nil,
		[]byte("the command was started by an agent ("+agent.Agent+"), which must not "+what+" its guards: run it in a terminal of your own")))
	return true
}

// residentSize is the memory that this process holds, in bytes.
func residentSize() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	_, _ = fmt.Sscan(string(text), &size, &resident)
	return resident * int64(os.Getpagesize())
}
