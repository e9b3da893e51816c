//go:build linux || darwin

package daemon

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/internal/contain"
	"github.com/tenterhook/tenterhook/internal/daemon/ancestry"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
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

	listener  *net.UnixListener
	lock      *os.File
	places    chan struct{} // for calls that are decided
	reading   chan struct{} // for clients that are sending
	door      *doorman
	outsiders *ancestry.Outsiders
	idle      *time.Timer
	tidy      *time.Timer

	calls, failed, queued, deciding atomic.Int64
	processors                      processors

	mu       sync.Mutex // guards all below
	draining bool
	why      string
	drained  chan struct{} // closed when a drain begins
	open     sync.WaitGroup
}

// Run is the daemon: it takes the user's place, answers calls until ctx ends, it
// has to stop, another version wants its place, or nothing has happened for
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
	s := &server{opts: opts, log: opts.Logger, began: time.Now(), places: make(chan struct{}, maxCalls), reading: make(chan struct{}, maxReading), drained: make(chan struct{}), outsiders: ancestry.NewOutsiders()}
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
			go func() {
				contain.Roomy[[24 << 10]byte](0)
				s.serve(c)
			}()
			continue
		}
		<-s.reading
		select {
		case <-s.drained:
			return
		default:
		}
		if failures++; failures == 1 {
			s.log.Warn("accept", "err", err) // out of descriptors: some become free again
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

// idleEnd ends a daemon that no client asks. A daemon that takes calls over HTTP stays as
// long as an agent runs: nothing would start it again for the agent's next call.
func (s *server) idleEnd() {
	if s.door.address() != "" && s.decider.agents.alive("claude") {
		s.rest()
		return
	}
	s.drain("idle for " + s.opts.Idle.String())
}
