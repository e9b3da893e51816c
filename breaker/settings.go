package breaker

import (
	"cmp"
	"time"
)

const (
	// DefaultFailures is how many failures in a row open a breaker.
	DefaultFailures = 5
	// DefaultCooldown is how long a breaker stays open before a call may probe.
	DefaultCooldown = 60 * time.Second
	// Disabled, as Settings.Failures, makes a breaker that never opens.
	Disabled = -1
)

// Settings say when a breaker opens and for how long. The zero value means the
// defaults.
type Settings struct {
	// Failures in a row open the breaker. 0 means DefaultFailures; a negative
	// number, such as Disabled, means that it never opens and counts nothing.
	Failures int

	// Cooldown is how long the breaker refuses every call after it has opened.
	// 0 or less means DefaultCooldown.
	Cooldown time.Duration

	// ProbeTimeout is how long a probe may take at the most, by the caller's own
	// limit: the call's timeout and what it takes to end it. A probe that has
	// not reported by then may be replaced, though never before Cooldown has
	// passed: the longer of the two holds. 0 or less means Cooldown.
	ProbeTimeout time.Duration
}

// resolved returns the settings with every default filled in, and the zero value
// for a breaker that never opens. Settings that resolve to the same make breakers
// that behave the same.
func (s Settings) resolved() Settings {
	if s.Failures < 0 {
		return Settings{}
	}
	s.Failures = cmp.Or(s.Failures, DefaultFailures)
	if s.Cooldown <= 0 {
		s.Cooldown = DefaultCooldown
	}
	s.ProbeTimeout = max(s.ProbeTimeout, s.Cooldown)
	return s
}
