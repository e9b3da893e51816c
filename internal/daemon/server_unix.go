//go:build linux || darwin

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/version"
)

const (
	// DefaultIdle is after how long without a call a daemon ends.
	DefaultIdle = 30 * time.Minute
	// maxCalls bounds the calls that are decided at once; others wait.
	maxCalls = 64
	// maxWaiting bounds the calls that wait; more are not decided.
	maxWaiting = 4096
	// maxReading bounds the clients that are sending. Others wait to be accepted.
	maxReading = 256
	// speakWithin is how long a client may be silent, and readWithin how long it
	// may take to send its call.
	speakWithin = 2 * time.Second
	readWithin  = 30 * time.Second
	// tidyAfter is how long after the last call memory goes back to the system.
	tidyAfter = 3 * time.Second
	// takeoverWithin is how long a daemon that is in the way may take to let go.
	takeoverWithin = 3 * time.Second
)

// Options configure Run. The zero value is usable.
type Options struct {
	Env    []string      // where the daemon has its place; nil = os.Environ
	Idle   time.Duration // 0 = DefaultIdle
	Logger *slog.Logger  // nil = silence
	// Takeover ends a daemon that holds the place but cannot be reached.
	Takeover bool
	// Ready is called once the daemon takes calls.
	Ready func(Status)
}

// server serves a Decider on a socket.
type server struct {
	opts    Options
	place   client.Place
	decider *Decider
	log     *slog.Logger
	stamp   string // of the program that this process runs
	began   time.Time

	listener *net.UnixListener
	lock     *os.File
	places   chan struct{} // for calls that are decided
	reading  chan struct{} // for clients that are sending
	door     *doorman
	idle     *time.Timer
	tidy     *time.Timer

	calls, failed, queued, deciding atomic.Int64
	processors                      processors

	mu       sync.Mutex // guards all below
	draining bool
	why      string
	drained  chan struct{} // closed when a drain begins
	open     sync.WaitGroup
}

// Run is the daemon: it takes the user's place, answers calls until ctx ends, it
// is told to stop, another version wants its place, or nothing has happened for
// long, and then finishes what is under way. It returns an error if it could not
// take calls.
func Run(ctx context.Context, opts Options) error {
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	if opts.Idle <= 0 {
		opts.Idle = DefaultIdle
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{opts: opts, log: opts.Logger, began: time.Now(), places: make(chan struct{}, maxCalls), reading: make(chan struct{}, maxReading), drained: make(chan struct{})}
	s.place = Place(opts.Env)
	if program, err := os.Executable(); err == nil {
		s.stamp = client.Stamp(program)
	}
	if err := s.takePlace(ctx); err != nil {
		return err
	}
	s.decider = NewDecider(opts.Logger, s.place)
	s.decider.recorders.moves = true
	s.door = &doorman{server: s}
	s.door.at(placesOf(opts.Env).state)
	s.idle = time.AfterFunc(opts.Idle, s.idleEnd)
	s.tidy = time.AfterFunc(tidyAfter, func() { s.processors.few(); tidy() })
	s.processors.few()
	defer s.processors.all()
	defer context.AfterFunc(ctx, func() { s.drain("it was asked to end") })()
	s.log.Info("daemon started", "pid", os.Getpid(), "socket", s.place.Socket, "version", version.This().String())
	if opts.Ready != nil {
		opts.Ready(s.status())
	}
	unwatch := s.watchPlace()
	s.accept()
	unwatch()
	s.open.Wait()
	if s.place.Abandoned() {
		defer os.RemoveAll(s.place.Dir)
	}
	err := s.decider.Close()
	s.log.Info("daemon ended", "why", s.why, "calls", s.calls.Load(), "undecided", s.failed.Load())
	return err
}

// takePlace takes the lock of the place and listens there.
func (s *server) takePlace(ctx context.Context) error {
	if err := s.place.Make(); err != nil {
		return fmt.Errorf("take the daemon's place: %w", err)
	}
	if err := s.takeLock(ctx); err != nil {
		return err
	}
	fresh := s.place.Socket + ".new"
	_ = os.RemoveAll(fresh)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, s.place.Socket)
		if err != nil && os.RemoveAll(s.place.Socket) == nil { // a directory stands there
			err = os.Rename(fresh, s.place.Socket)
		}
	}
	if err != nil {
		l.Close()
		return fmt.Errorf("listen: %w", err)
	}
	s.listener = l
	return nil
}

// takeLock holds the lock file. A daemon that holds it and cannot be reached is
// asked to end, and then made to.
func (s *server) takeLock(ctx context.Context) error {
	f, err := os.OpenFile(s.place.Lock, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("take the daemon's place: %w", err)
	}
	signal, patience := syscall.SIGTERM, time.Now().Add(takeoverWithin)
	for syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, wholeFile()) != nil {
		holder := holderOf(f)
		switch {
		case !s.opts.Takeover, ctx.Err() != nil:
			f.Close()
			return &HeldError{PID: holder}
		case time.Now().Before(patience):
		case signal == syscall.SIGTERM:
			signal, patience = syscall.SIGKILL, time.Now().Add(takeoverWithin)
		default:
			f.Close()
			return fmt.Errorf("take the daemon's place: the daemon with pid %d does not end", holder)
		}
		if holder > 0 {
			_ = syscall.Kill(holder, signal)
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.lock = f
	return nil
}

func wholeFile() *syscall.Flock_t { return &syscall.Flock_t{Type: syscall.F_WRLCK} }

// holderOf is the process that holds the lock, by the kernel's word; 0 = none.
func holderOf(f *os.File) int {
	lock := wholeFile()
	if syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, lock) != nil || lock.Type == syscall.F_UNLCK {
		return 0
	}
	return int(lock.Pid)
}

// accept takes connections until a drain begins.
func (s *server) accept() {
	for failures := 0; ; {
		select {
		case s.reading <- struct{}{}:
		case <-s.drained:
			return
		}
		c, err := s.listener.AcceptUnix()
		if err == nil {
			failures = 0
			s.open.Add(1)
			go s.serve(c)
			continue
		}
		<-s.reading
		select {
		case <-s.drained:
			return
		default:
		}
		if failures++; failures == 1 {
			s.log.Warn("accept", "err", err) // out of descriptors: some will be free again
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// drain makes room for another daemon at once, and lets Run end when all calls
// are answered. Connections that were not accepted yet are closed: their clients
// ask the next daemon.
func (s *server) drain(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return
	}
	s.draining, s.why = true, why
	close(s.drained)
	s.listener.Close()
	s.lock.Close()
	s.idle.Stop()
	s.tidy.Stop()
	s.door.end()
	s.log.Info("daemon ends", "why", why, "under_way", s.deciding.Load()+s.queued.Load())
}

// idleEnd ends a daemon that nobody asks. One that takes calls over HTTP stays as
// long as an agent runs: nothing would start it again for the agent's next call.
func (s *server) idleEnd() {
	if s.door.address() != "" && s.decider.agents.alive("claude") {
		s.rest()
		return
	}
	s.drain("idle for " + s.opts.Idle.String())
}

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
		s.call(c, fields, pid)
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

// read reads what a client sends. One that says nothing soon is not waited for.
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
func (s *server) call(c *net.UnixConn, fields [][]byte, pid int) {
	call, err := client.ParseCall(fields)
	if err != nil {
		s.log.Warn("a call cannot be read", "pid", pid, "err", err)
		return
	}
	if s.other(call.Program) {
		s.yield(c)
		return
	}
	arrived := time.Now()
	stop := s.beat(c)
	defer stop()
	u, chain := userOf(call.Env, call.Where), ancestry.Of(pid)
	if agent, ok := ancestry.Agent(chain); ok {
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
