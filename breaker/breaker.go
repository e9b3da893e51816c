package breaker

import (
	"sync"
	"time"
)

// A Breaker decides whether a call may run, by how the calls before it went.
// The zero value is closed and has default Settings. All methods may be called
// from several goroutines at once. A Breaker must not be copied after first use.
type Breaker struct {
	settings Settings // as given; fixed

	mu sync.Mutex // guards everything below

	// phase is Closed, Open, or HalfOpen while a probe is out. Time alone never
	// changes it: see state.
	phase State
	// generation tells the permits whose result still counts from older ones.
	// It changes whenever results of calls that are under way stop counting.
	generation uint64
	// failures in a row, failed probes among them.
	failures int
	// openedAt is when the breaker last left Closed.
	openedAt time.Time
	// retryAt is, unless Closed, when the next call may probe: the end of the
	// cooldown when Open, the end of the probe's permit when HalfOpen.
	retryAt time.Time
}

// New returns a closed breaker.
func New(settings Settings) *Breaker {
	return &Breaker{settings: settings}
}

// Allow asks whether a call may run now. If so, the caller runs it and reports
// on the permit with Done. If not, the permit is the zero Permit, whose methods
// do nothing. Allow never blocks.
func (b *Breaker) Allow() (Permit, bool) {
	if b.settings.Failures < 0 {
		return Permit{}, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase != Closed && !b.startProbe() {
		return Permit{}, false
	}
	return Permit{breaker: b, generation: b.generation}, true
}

// startProbe takes the one permit there is while the breaker is not closed, or
// says that it can't be had yet.
func (b *Breaker) startProbe() bool {
	now := time.Now()
	if now.Before(b.retryAt) {
		return false
	}
	b.enter(HalfOpen, now.Add(b.settings.resolved().ProbeTimeout))
	return true
}

// report counts a result of the current generation. The phase is not Open: an
// open breaker has given no permit of its generation.
func (b *Breaker) report(r Result) {
	probe := b.phase == HalfOpen
	switch r {
	case Success:
		b.failures = 0
		if probe {
			b.openedAt = time.Time{}
			b.enter(Closed, time.Time{})
		}
	case Failure:
		b.failures++
		// A probe is past that number, since only a success resets the count.
		if settings := b.settings.resolved(); b.failures >= settings.Failures {
			b.open(settings.Cooldown)
		}
	default:
		if probe {
			b.enter(Open, time.Now())
		}
	}
}

func (b *Breaker) open(cooldown time.Duration) {
	now := time.Now()
	if b.phase == Closed {
		b.openedAt = now
	}
	b.enter(Open, now.Add(cooldown))
}

// enter begins a generation: from here on no permit given before counts.
func (b *Breaker) enter(phase State, retryAt time.Time) {
	b.phase = phase
	b.retryAt = retryAt
	b.generation++
}
