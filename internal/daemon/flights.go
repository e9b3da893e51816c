package daemon

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/daemon/client"
)

// flights let the calls that an agent makes about one event share one outcome:
// an agent with two entries of ours asks twice.
type flights struct {
	mu    sync.Mutex // guards all below, and what a flight ended with
	byKey map[eventKey]*flight
	order []*flight // the flights that ended well, the oldest first
}

type flight struct {
	key   eventKey
	over  chan struct{} // closed at the end
	ended time.Time     // zero while it is under way
	out   *hook.Outcome
	err   error
}

const (
	// againWithin is for how long a second call counts as the same where the
	// agent names its events, and asks about one of them in turn.
	againWithin = time.Second
	// maxEnded bounds the outcomes that are kept for a second call.
	maxEnded = 64
)

// event names what a call is about. Of calls that the agent does not name, those
// that overlap and say the same are about one event: an agent waits for an
// answer before it does anything else.
type event struct {
	key   eventKey
	named bool
	began time.Time // of the caller's process
}

// eventKey tells events apart. Its sums have a seed that no other process knows: nobody
// can make two calls that have one.
type eventKey struct {
	name       string // by the agent; "" = it names none
	said, with uint64 // sums of the input, and of what the hooks run with
}

var seed = maphash.MakeSeed()

func eventOf(agent *bridge.Agent, call *client.Call, in hook.Input, from Caller) event {
	if name := agent.CallKey(in); name != "" {
		return event{eventKey{name: name, with: with(call, from)}, true, call.Began}
	}
	said, err := hook.Encode(in, in.Common()) // one call may stand for several inputs
	if err != nil {
		said = call.Stdin
	}
	return event{eventKey{said: sum([]string{agent.Name, string(in.Event()), string(said)}), with: with(call, from)}, false, call.Began}
}

// with sums up what a call's hooks run with. An entry of a project that runs them
// with another environment must not answer for the user's, and one below a hook
// must not wait for the one around it.
func with(call *client.Call, from Caller) uint64 {
	return sum(call.Env, call.Where, []string{call.Dir, strconv.Itoa(call.Umask)}, from.Within)
}

// sum tells lists of texts apart.
func sum(lists ...[]string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, list := range lists {
		maphash.WriteComparable(&h, len(list))
		for _, text := range list {
			maphash.WriteComparable(&h, len(text))
			_, _ = h.WriteString(text)
		}
	}
	return h.Sum64()
}

// join returns the outcome of decide, or that of a call about the same event. A
// call whose forerunner failed decides for itself.
func (f *flights) join(ctx context.Context, e event, decide func() (*hook.Outcome, error)) (*hook.Outcome, error) {
	mine, other := f.take(e)
	if other != nil {
		select {
		case <-other.over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if other.err == nil {
			return other.out, nil
		}
		return decide()
	}
	defer f.land(mine)
	mine.err = errDraining // of a decision that panics
	mine.out, mine.err = decide()
	return mine.out, mine.err
}

// take returns a new flight, or one about the same event.
func (f *flights) take(e event) (mine, other *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.byKey[e.key]; old != nil {
		until := old.ended
		if e.named {
			until = until.Add(againWithin)
		}
		if old.ended.IsZero() || e.began.Before(until) {
			return nil, old
		}
	}
	mine = &flight{key: e.key, over: make(chan struct{})}
	if f.byKey == nil {
		f.byKey = make(map[eventKey]*flight)
	}
	f.byKey[e.key] = mine
	return mine, nil
}

// land ends a flight, and forgets old ones.
func (f *flights) land(mine *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mine.ended = time.Now()
	close(mine.over)
	f.order = append(f.order, mine)
	for len(f.order) > maxEnded || len(f.order) > 0 && time.Since(f.order[0].ended) > againWithin {
		if old := f.order[0]; f.byKey[old.key] == old {
			delete(f.byKey, old.key)
		}
		f.order[0] = nil
		f.order = f.order[1:]
	}
}
