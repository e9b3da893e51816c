package top

import (
	"context"
	"time"

	"github.com/tenterhook/tenterhook/journal"
)

// Feed is where the view gets its news. News, Stats, Breakers and Off are called
// one at a time, Run and Disable at any time, all from other goroutines than the
// view's.
type Feed struct {
	// News returns the results that came since it was asked last, the oldest
	// first; the first time the newest that there are.
	News func(ctx context.Context) ([]journal.Line, error)
	// Stats returns how each hook did in the last day.
	Stats func(ctx context.Context) ([]journal.HookStats, error)
	// Breakers returns the breakers that are open; Off the hooks that are switched
	// off, with until when and why.
	Breakers func() ([]Breaker, error)
	Off      func() (map[string]string, error)
	// Run returns a run with all its hooks.
	Run func(ctx context.Context, run string) (*journal.Entry, error)
	// Disable switches a hook off; length 0 = until it is enabled.
	Disable func(ctx context.Context, id string, length time.Duration) error
}

// Breaker is an open breaker.
type Breaker struct {
	Hook, By string
	Failures int
	RetryAt  time.Time
}

const (
	newsEvery  = 250 * time.Millisecond
	statsEvery = 2 * time.Second
)

// news is what a look at the feed found.
type news struct {
	lines    []journal.Line
	slow     bool // the others were asked too
	stats    []journal.HookStats
	breakers []Breaker
	off      map[string]string
	err      error
}

// look asks the feed; slow asks what is asked less often.
func (f *Feed) look(ctx context.Context, slow bool) (n news) {
	n.slow = slow
	if n.lines, n.err = f.News(ctx); n.err != nil || !slow {
		return n
	}
	if n.stats, n.err = f.Stats(ctx); n.err != nil {
		return n
	}
	if n.off, n.err = f.Off(); n.err != nil {
		return n
	}
	n.breakers, n.err = f.Breakers()
	return n
}
