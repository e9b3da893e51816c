package policy

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tenterhook/tenterhook/fleet/internal/hub"
	"github.com/tenterhook/tenterhook/internal/dialect"
)

// How often a machine asks the hub, beside hearing of what is new, and how long it
// waits for an answer.
const (
	askEvery = time.Minute // give or take a quarter, so that machines do not ask all at once
	askAgain = time.Second // where it did not answer
)

var answerTime = 5 * time.Second // a test has more patience

// Follower has a machine obey what a hub says. Follow runs it.
type Follower struct {
	Machine *Machine
	Conn    *nats.Conn // of a machine, or of who may read as one
	// Changed is called when another document is in force, or another problem keeps one
	// from it, by several goroutines at once; nil = nobody is told.
	Changed func()

	answered atomic.Int64 // when the hub last answered, as UnixNano
	problems sync.Map     // by channel: why its document is not in force, as an error
}

// Answered is when the hub last said what the policy is; zero = never.
func (f *Follower) Answered() time.Time {
	if at := f.answered.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Problem is why what the hub says of a channel is not in force here; nil = it is,
// or the hub has none.
func (f *Follower) Problem(channel string) error {
	if err, ok := f.problems.Load(channel); ok {
		return err.(error)
	}
	return nil
}

// Follow obeys what the hub publishes, until ctx ends: at once what it says while
// connected, and what it said before at the start, after a reconnection and each
// minute. A channel does not wait for another: a guard for the packs of a policy.
func (f *Follower) Follow(ctx context.Context) error {
	var channels sync.WaitGroup
	defer channels.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, channel := range dialect.PolicyChannels {
		came := make(chan []byte, 1)
		sub, err := f.Conn.Subscribe(hub.PolicyBucket+"."+channel, func(m *nats.Msg) {
			if deleted(m) {
				return
			}
			select { // the newest counts
			case <-came:
			default:
			}
			came <- m.Data
		})
		if err != nil {
			return err
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection may be closed
		channels.Go(func() { f.channel(ctx, channel, came) })
	}
	<-ctx.Done()
	return nil
}

// channel takes the documents of one channel.
func (f *Follower) channel(ctx context.Context, channel string, came <-chan []byte) {
	connected := f.Conn.StatusChanged(nats.CONNECTED)
	defer f.Conn.RemoveStatusListener(connected)
	for {
		again := askEvery*3/4 + rand.N(askEvery/2)
		if !f.ask(ctx, channel, came) { // after the subscription, so that nothing falls between
			again = askAgain + rand.N(askAgain)
		}
		quiet := time.After(again)
		for asked := true; asked; {
			select {
			case <-ctx.Done():
				return
			case raw := <-came:
				f.take(ctx, channel, raw)
				continue
			case <-connected:
			case <-quiet:
			}
			asked = false
		}
	}
}

// ask fetches what the hub has of a channel, and reports whether the hub said it.
// What comes meanwhile does not wait for the answer, which may be lost: it is taken
// at once, and what is older than that is not asked for.
func (f *Follower) ask(ctx context.Context, channel string, came <-chan []byte) bool {
	if !f.Conn.IsConnected() {
		return false
	}
	within, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	answer := make(chan *nats.Msg, 1)
	go func() {
		m, _ := f.Conn.RequestWithContext(within, "$JS.API.DIRECT.GET.KV_"+hub.PolicyBucket+".$KV."+hub.PolicyBucket+"."+channel, nil)
		answer <- m // nil = there was none
	}()
	for overtaken := false; ; {
		select {
		case raw := <-came:
			f.take(ctx, channel, raw)
			overtaken = true
		case m := <-answer:
			return m != nil && !overtaken && f.heard(ctx, channel, m)
		}
	}
}

// heard takes an answer of the hub, and reports whether it is one.
func (f *Follower) heard(ctx context.Context, channel string, m *nats.Msg) bool {
	switch status := m.Header.Get("Status"); {
	case status == "" && !deleted(m):
		f.take(ctx, channel, m.Data)
	case status != "" && status != "404":
		return false
	default:
		f.answered.Store(time.Now().UnixNano())
	}
	return true
}

func (f *Follower) take(ctx context.Context, channel string, raw []byte) {
	f.answered.Store(time.Now().UnixNano())
	d, changed, err := f.Machine.Take(ctx, raw, channel, "hub")
	if err != nil {
		if last := f.Problem(channel); last == nil || last.Error() != err.Error() {
			f.Machine.opts.Logger.Warn("what the hub says of the policy is not in force", "channel", channel, "err", err)
			defer f.tell()
		}
		f.problems.Store(channel, err)
		return
	}
	if _, had := f.problems.LoadAndDelete(channel); had || changed {
		defer f.tell()
	}
	if changed {
		f.Machine.opts.Logger.Info("policy in force", "channel", channel, "version", d.Version, "signers", d.Signers)
	}
}

func (f *Follower) tell() {
	if f.Changed != nil {
		f.Changed()
	}
}

// deleted reports whether a message says that there is no document: no machine obeys
// that, since it is not signed.
func deleted(m *nats.Msg) bool { return m.Header.Get("KV-Operation") != "" }
