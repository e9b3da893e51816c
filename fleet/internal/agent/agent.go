package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/fleet/internal/ship"
	"github.com/tenterhook/tenterhook/internal/fleetstate"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/journal"
)

// Link is what a part works with.
type Link struct {
	Connection *hub.Connection
	Conn       *nats.Conn // it may be disconnected, and connects again by itself
	JS         jetstream.JetStream
	StateDir   string
	Log        *slog.Logger
	// OnReconnect has a function called each time the hub is reached again, and now if
	// it is reached, each call in a goroutine of its own.
	OnReconnect func(func())
	// Changed says that a part has another state, which people wait for: it is said
	// at once on this machine, and soon to the hub. It never waits.
	Changed func()
}

// Part is something that an agent does beside shipping.
type Part interface {
	// Name is the part's key in the state of the agent.
	Name() string
	// Run works until ctx ends. It waits out failures itself.
	Run(ctx context.Context, l *Link)
	// State is what the agent says of it, as JSON. It is called while Run runs.
	State() any
}

// Options say how an agent runs.
type Options struct {
	StateDir   string
	JournalDir string
	Connection *hub.Connection
	Journal    journal.Options
	Parts      []Part
	Logger     *slog.Logger // nil = silence
}

// agent is a running one.
type agent struct {
	o       Options
	conn    *nats.Conn
	shipper *ship.Shipper
	started time.Time
	contact atomic.Pointer[time.Time]
	said    fleetstate.State // last, to the file
	changed chan struct{}    // holds one while a change is not said
	mu      sync.Mutex       // guards again
	again   []func()
	done    sync.WaitGroup
}

// Run ships until ctx ends. It fails if another agent of this machine runs, or if the
// connection cannot be used at all; a hub that cannot be reached is waited for.
func Run(ctx context.Context, o Options) (err error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(fleetstate.Dir(o.StateDir), 0o700); err != nil {
		return err
	}
	lock := safefile.Lock(filepath.Join(fleetstate.Dir(o.StateDir), "agent.lock"))
	got, err := lock.TryLock()
	if err != nil {
		return err
	}
	if !got {
		return problem.New("agent_runs", "another agent of this machine runs", "'tenterhook fleet status' shows it", nil)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	a := &agent{o: o, started: time.Now().UTC(), changed: make(chan struct{}, 1)}
	if a.conn, err = o.Connection.ConnectLater(nats.ConnectHandler(a.reached), nats.ReconnectHandler(a.reached), nats.DisconnectErrHandler(a.lost),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Logger.Warn("the hub refuses", "err", err) })); err != nil {
		return err
	}
	defer a.conn.Close()
	js, err := o.Connection.JetStream(a.conn, ship.Options()...)
	if err != nil {
		return err
	}
	a.shipper = &ship.Shipper{Machine: o.Connection.Name, Conn: a.conn, JS: js, Dir: o.JournalDir, Options: o.Journal}
	a.work(ctx, js)
	return a.say(true)
}

// work runs everything until ctx ends.
func (a *agent) work(ctx context.Context, js jetstream.JetStream) {
	a.done.Go(func() { a.shipper.Run(ctx) })
	link := &Link{Connection: a.o.Connection, Conn: a.conn, JS: js, StateDir: a.o.StateDir, Log: a.o.Logger, OnReconnect: a.onReconnect, Changed: a.change}
	for _, p := range a.o.Parts {
		a.done.Go(func() { p.Run(ctx, link) })
	}
	a.beat(ctx)
	a.done.Wait()
}

func (a *agent) reached(conn *nats.Conn) {
	a.touch()
	a.o.Logger.Info("connected to the hub", "url", conn.ConnectedUrlRedacted())
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, do := range a.again {
		go do()
	}
}

func (a *agent) onReconnect(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.again = append(a.again, do)
	if a.conn.IsConnected() {
		go do()
	}
}

func (a *agent) lost(_ *nats.Conn, err error) {
	if err != nil {
		a.o.Logger.Warn("the hub cannot be reached; records wait here", "err", err)
	}
}

func (a *agent) touch() {
	now := time.Now().UTC()
	a.contact.Store(&now)
}

func (a *agent) change() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// soon is within which time the hub hears of a change: a policy comes to all machines of
// a fleet at once, and 10,000 of them are 2,000 beats a second.
const soon = fleetstate.Beat / 3

// sooner is when the hub hears of a change that happened now: at a random time, and no
// later than planned.
func sooner(planned, now time.Time) time.Time {
	if at := now.Add(rand.N(soon)); at.Before(planned) {
		return at
	}
	return planned
}

// beat says how it does: in the file whenever that changes, and to the hub now and
// then and after a change, at random times so that a fleet does not come at once.
func (a *agent) beat(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var toHub time.Time // when to tell it next
	for {
		if err := a.say(false); err != nil {
			a.o.Logger.Error("the state of the agent cannot be written", "err", err)
		}
		if a.conn.IsConnected() && time.Now().After(toHub) {
			if a.tell(ctx) == nil {
				a.touch()
			}
			toHub = time.Now().Add(fleetstate.Beat/2 + rand.N(fleetstate.Beat/2))
		}
		select {
		case <-tick.C:
		case <-a.changed:
			a.said.At = time.Time{} // said again, whatever else is as before
			toHub = sooner(toHub, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// state is how it does now.
func (a *agent) state() fleetstate.State {
	s := fleetstate.State{Fleet: a.o.Connection.Fleet, Machine: a.o.Connection.Name, PID: os.Getpid(), Started: a.started, At: time.Now().UTC(),
		Connected: a.conn.IsConnected(), Audit: a.shipper.State(), Parts: map[string]json.RawMessage{}}
	if at := a.contact.Load(); at != nil {
		s.Contact = *at
	}
	if s.Audit.Contact.After(s.Contact) {
		s.Contact = s.Audit.Contact
	}
	for _, p := range a.o.Parts {
		if text, err := json.Marshal(p.State()); err == nil {
			s.Parts[p.Name()] = text
		}
	}
	return s
}

// say writes the state where the machine's own commands read it.
func (a *agent) say(stopped bool) error {
	now := a.state()
	now.Stopped = stopped
	if !stopped && now.Connected == a.said.Connected && now.Contact.Equal(a.said.Contact) && now.Audit == a.said.Audit && now.At.Sub(a.said.At) < fleetstate.Beat/2 {
		return nil
	}
	if err := hub.WriteJSON(fleetstate.File(a.o.StateDir), now); err != nil {
		return err
	}
	a.said = now
	return nil
}

// tell tells the hub.
func (a *agent) tell(ctx context.Context) error {
	text, err := json.Marshal(a.state())
	if err != nil {
		return err
	}
	if limit := a.conn.MaxPayload(); int64(len(text)) > limit {
		return fmt.Errorf("the state of the agent has %d bytes, the hub takes %d", len(text), limit)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = a.conn.RequestWithContext(ctx, "$KV."+hub.MachinesBucket+"."+a.o.Connection.Name, text)
	return err
}
