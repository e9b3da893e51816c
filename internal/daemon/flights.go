package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
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
	byKey map[string]*flight
	order []*flight // the flights that ended well, the oldest first
}

type flight struct {
	key   string
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
	key   string
	named bool
	began time.Time // of the caller's process
}

func eventOf(agent *bridge.Agent, call *client.Call, in hook.Input, from Caller) event {
	if key := agent.CallKey(in); key != "" {
		return event{key + "\x00" + as(call, from), true, call.Began}
	}
	said, err := hook.Encode(in, in.Common()) // one call may stand for several inputs
	if err != nil {
		said = call.Stdin
	}
	return event{fmt.Sprintf("%s\x00%s\x00%x\x00%s", agent.Name, in.Event(), sha256.Sum256(said), as(call, from)), false, call.Began}
}

// as names what a call's hooks run with. An entry of a project that runs them
// with another environment must not answer for the user's, and one below a hook
// must not wait for the one around it.
func as(call *client.Call, from Caller) string {
	sum := sha256.New()
	var size [8]byte
	for _, list := range [][]string{call.Env, call.Where, {call.Dir, strconv.Itoa(call.Umask)}, from.Within} {
		sum.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(list))))
		for _, text := range list {
			sum.Write(binary.BigEndian.AppendUint64(size[:0], uint64(len(text))))
			_, _ = io.WriteString(sum, text)
		}
	}
	return string(sum.Sum(nil))
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
		f.byKey = make(map[string]*flight)
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
