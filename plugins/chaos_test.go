package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// inChaos has a host notice soon what hangs.
func inChaos(sockets string) func(*Options) {
	return func(o *Options) { o.HealthTimeout, o.Logger, o.SocketDir = 300*time.Millisecond, nil, sockets }
}

// chaos is what plugins are told to do, and how a call may end that they were
// told so, by itself: with an answer, with an error, or with either.
var chaos = map[string]func(*hook.Output, error) bool{
	"version": answered("1.0.0"),
	"sleep":   answered("1.0.0"),
	"print":   answered("printed"),
	"deny": func(out *hook.Output, err error) bool {
		return err == nil && out.Verdict == hook.Deny && out.Reason == "chaos"
	},
	"grandchild": func(out *hook.Output, err error) bool { _, no := strconv.Atoi(out.Context); return no == nil },
	"panic":      failed(hook.FailurePanic),
	"fail":       failed(hook.FailureExit),
	"crash":      failed(hook.FailurePanic, hook.FailureExit),
	"exit":       failed(hook.FailureExit),
	"kill":       failed(hook.FailureExit),
	"stop":       func(out *hook.Output, err error) bool { return err == nil && out.Verdict == hook.NoOpinion }, // one thread may still answer
}

func answered(context string) func(*hook.Output, error) bool {
	return func(out *hook.Output, err error) bool {
		return err == nil && out.Context == context && out.Verdict == hook.NoOpinion
	}
}

func failed(as ...hook.Failure) func(*hook.Output, error) bool {
	return func(_ *hook.Output, err error) bool {
		var failed *hook.Error
		return errors.As(err, &failed) && slices.Contains(as, failed.Failure)
	}
}

// callInChaos has the plugin do something in 700 ms, and says how long that
// took and what is untrue of the result.
func (b *bench) callInChaos(tally *tally) (took time.Duration, wrong string) {
	words := slices.Collect(maps.Keys(chaos))
	what := do{Do: words[rand.IntN(len(words))], Text: "chaos", MS: 20}
	if rand.IntN(4) > 0 { // else it would be failing all the time, and not be started
		what.Do = "version"
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 700*time.Millisecond, hook.ErrTimeout)
	defer cancel()
	began := time.Now()
	out, err := b.host.Handle(ctx, callOf(b.hook(), what))
	took = time.Since(began)
	if err == nil && out == nil {
		return took, what.Do + ": neither an answer nor an error"
	}
	if out == nil {
		out = &hook.Output{}
	}
	if chaos[what.Do](out, err) {
		tally.note("good")
		return took, ""
	}
	var other *hook.Error
	switch {
	case errors.Is(err, hook.ErrTimeout): // it was stopped, or waited for a start
		tally.note("timeout")
	case errors.As(err, &other): // it ended for another reason than its own
		tally.note(string(other.Failure))
		time.Sleep(5 * time.Millisecond) // it may wait for a start
	default:
		return took, fmt.Sprintf("%s became %+v, %v", what.Do, out, err)
	}
	return took, ""
}

// hostInChaos is what killHost runs.
func hostInChaos(dir, sockets string) {
	o := Options{StateDir: filepath.Join(filepath.Dir(filepath.Dir(dir)), "state"), Grace: 200 * time.Millisecond}
	inChaos(sockets)(&o)
	b := &bench{dir: dir, host: New(o)}
	for range 3 {
		go func() {
			for {
				if _, wrong := b.callInChaos(&tally{}); wrong != "" {
					fmt.Println(wrong)
				}
			}
		}()
	}
	time.Sleep(time.Minute)
}

// tally counts how calls ended.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (a *tally) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = make(map[string]int)
	}
	a.count[what]++
}

func (a *tally) of(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count[what]
}

func (a *tally) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var words []string
	for _, what := range slices.Sorted(maps.Keys(a.count)) {
		words = append(words, fmt.Sprintf("%s %d", what, a.count[what]))
	}
	return strings.Join(words, ", ")
}
