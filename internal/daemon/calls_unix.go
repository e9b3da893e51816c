//go:build linux || darwin

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
)

// serve answers one connection.
func (s *server) serve(c *net.UnixConn) {
	defer s.open.Done()
	defer c.Close()
	uid, pid, err := s.peer(c)
	if err != nil || uid != os.Geteuid() {
		<-s.reading
		s.log.Warn("refused a connection", "uid", uid, "err", err)
		return
	}
	chain := s.outsiders.Of(pid) // while the client prepares its call
	kind, fields, err := s.read(c)
	<-s.reading
	if errors.Is(err, client.ErrProtocol) {
		s.yield(c)
		return
	}
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.log.Warn("a call cannot be read", "pid", pid, "err", err)
		}
		return
	}
	switch kind {
	case client.KindPing:
		if len(fields) == 1 && s.other(string(fields[0])) {
			s.yield(c)
			return
		}
		s.send(c, client.AppendFrame(nil, client.KindTaken))
	case client.KindYield:
		s.yield(c)
	case client.KindCall:
		s.call(c, fields, chain)
	case kindStatus:
		status, _ := json.Marshal(s.status())
		s.send(c, client.AppendFrame(nil, client.KindAnswer, []byte{0}, status, nil))
	case kindStop:
		s.stop(c, pid)
	case kindReset:
		if len(fields) == 1 {
			s.reset(c, string(fields[0]), pid)
		}
	}
}

// read reads what a client sends. A client that says nothing soon is not waited for.
func (s *server) read(c *net.UnixConn) (kind byte, fields [][]byte, err error) {
	_ = c.SetReadDeadline(time.Now().Add(speakWithin))
	silent, buffered := true, bufio.NewReader(c) // a client sends one frame
	return client.ReadFrame(func(b []byte) error {
		_, err := io.ReadFull(buffered, b)
		if silent {
			silent = false
			_ = c.SetReadDeadline(time.Now().Add(readWithin))
		}
		return err
	})
}

// other reports whether a client is of another version.
func (s *server) other(stamp string) bool { return s.stamp != "" && stamp != "" && stamp != s.stamp }

// yield makes room for the daemon of another version.
func (s *server) yield(c *net.UnixConn) {
	s.drain("another version takes its place")
	s.send(c, client.AppendFrame(nil, client.KindReplaced))
}

// call decides a hook call.
func (s *server) call(c *net.UnixConn, fields [][]byte, chain []ancestry.Process) {
	call, err := client.ParseCall(fields)
	if err != nil {
		s.log.Warn("a call cannot be read", "err", err)
		return
	}
	if s.other(call.Program) {
		s.yield(c)
		return
	}
	arrived := time.Now()
	stop := s.beat(c)
	defer stop()
	u := userOf(call.Env, call.Where)
	if agent, ok := ancestry.Agent(chain, func(p ancestry.Process) bool { return s.decider.agents.knows(call.Agent, p) }); ok {
		s.decider.agents.note(call.Agent, agent, environ.Get(call.Env, "PATH"), u)
	}
	from := Caller{Within: within(call, chain, isSelf), user: &u}
	why := s.door.meet(call, u, from.Within)
	call.Patience -= time.Since(arrived)
	var answer client.Answer
	if why != "" && call.Event == "UserPromptSubmit" { // whose tools would run unguarded
		s.failed.Add(1)
		s.log.Error("refused a prompt", "agent", call.Agent, "why", why)
		answer = Undecided(call, why)
	} else {
		answer = s.decideInTurn(call, from)
	}
	stop()
	s.send(c, answer.Frame())
}

// decideInTurn decides a call once there is a place for it.
func (s *server) decideInTurn(call *client.Call, from Caller) client.Answer {
	arrived := time.Now()
	s.calls.Add(1)
	waiting := s.queued.Add(1)
	if waiting+s.deciding.Load() > 1 {
		s.processors.all()
	}
	if waiting > maxWaiting {
		s.queued.Add(-1)
		s.failed.Add(1)
		return Undecided(call, "too many calls wait for a decision")
	}
	s.places <- struct{}{}
	s.queued.Add(-1)
	s.deciding.Add(1)
	defer func() {
		<-s.places
		s.deciding.Add(-1)
		s.rest()
	}()
	call.Patience -= time.Since(arrived)
	return s.decide(call, from)
}

// beat tells a client that its call is taken if no answer comes at once, and from
// time to time that it still is, until stop. A daemon that hangs says nothing, and
// is replaced.
func (s *server) beat(c *net.UnixConn) (stop func()) {
	var mu sync.Mutex // guards over
	var over bool
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(client.TakenWithin, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over && s.send(c, client.AppendFrame(nil, client.KindTaken)) {
			timer.Reset(client.BeatEvery)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}

// decide contains a fault of ours.
func (s *server) decide(call *client.Call, from Caller) (answer client.Answer) {
	defer func() {
		if p := recover(); p != nil {
			s.failed.Add(1)
			s.log.Error("fault", "agent", call.Agent, "event", call.Event, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			answer = Undecided(call, fmt.Sprintf("a fault in tenterhook: %v", p))
		}
	}()
	ctx := context.Background()
	if call.Patience <= 0 {
		s.failed.Add(1)
		return Undecided(call, "too many calls wait for a decision")
	}
	return s.decider.Decide(ctx, call, from)
}

// rest is called after each call.
func (s *server) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.idle.Reset(s.opts.Idle)
		s.tidy.Reset(tidyAfter)
	}
}

// send writes a frame, and reports whether it was written.
func (s *server) send(c *net.UnixConn, frame []byte) bool {
	_ = c.SetWriteDeadline(time.Now().Add(readWithin))
	_, err := c.Write(frame)
	return err == nil
}

func (s *server) peer(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	uid = -1
	if control := raw.Control(func(fd uintptr) { uid, pid, err = peerOf(int(fd)) }); control != nil {
		return -1, 0, control
	}
	return uid, pid, err
}
