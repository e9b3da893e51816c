package breaker

import "time"

// A State of a breaker.
type State uint8

const (
	// Closed: every call may run.
	Closed State = iota
	// Open: no call may run until the cooldown is over.
	Open
	// HalfOpen: the cooldown is over; one call may probe, or is probing.
	HalfOpen
)

// String returns "closed", "open" or "half-open".
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return "invalid"
}

// A Snapshot describes a breaker at one moment, for people to read.
type Snapshot struct {
	// Name is the breaker's name in its Set; empty outside of one.
	Name  string
	State State
	// Failures counts the failures in a row, failed probes among them.
	Failures int
	// OpensAt is the count of Failures that opens the breaker; 0 if it is
	// disabled.
	OpensAt int
	// OpenedAt is when the breaker last opened from closed; zero while closed.
	OpenedAt time.Time
	// RetryAfter is how long calls are refused, unless a probe reports
	// before: what is left of the cooldown, or of the probe's permit. 0 means
	// that the next call may run.
	RetryAfter time.Duration
}

// State returns the state the breaker is in now.
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state(time.Now())
}

// Snapshot describes the breaker as it is now, without changing it.
func (b *Breaker) Snapshot() Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return Snapshot{
		State:      b.state(now),
		Failures:   b.failures,
		OpensAt:    b.settings.resolved().Failures,
		OpenedAt:   b.openedAt,
		RetryAfter: max(b.retryAt.Sub(now), 0), // the zero time is past
	}
}

// state is the phase as seen from outside, where an open breaker turns half-open
// by the mere passing of its cooldown.
func (b *Breaker) state(now time.Time) State {
	if b.phase == Open && !now.Before(b.retryAt) {
		return HalfOpen
	}
	return b.phase
}
