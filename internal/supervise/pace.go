package supervise

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Spacing is how the starts after failures in a row are spaced.
type Spacing struct {
	First, Max time.Duration // the pause doubles from First to Max
	Jitter     float64       // a part of a pause, which is longer or shorter by it
	Free       int           // so many ends in a row cost no pause
	Rest       bool          // starting takes at most half of the time
}

// Pace counts failures in a row, and says when there may be a start. Its zero value
// has no failure. Its user guards it.
type Pace struct {
	failed int
	after  time.Time
	pause  *backoff.ExponentialBackOff
}

// Failed is how many failures there were in a row.
func (p *Pace) Failed() int { return p.failed }

// Wait is for how long there is no start; 0 or less = there may be one.
func (p *Pace) Wait() time.Duration { return time.Until(p.after) }

// Reset forgives all failures.
func (p *Pace) Reset() { *p = Pace{} }

// Ended notes the end of what had started well. A process that worked before costs no
// pause.
func (p *Pace) Ended(s Spacing, worked bool) {
	if p.failed++; p.failed > s.Free && !worked {
		p.after = time.Now().Add(p.next(s))
	}
}

// Unstarted notes a start that failed, and how long it took.
func (p *Pace) Unstarted(s Spacing, took time.Duration) {
	p.failed++
	pause := p.next(s)
	if s.Rest {
		pause = max(pause, took)
	}
	p.after = time.Now().Add(pause)
}

func (p *Pace) next(s Spacing) time.Duration {
	if p.pause == nil {
		p.pause = &backoff.ExponentialBackOff{InitialInterval: s.First, Multiplier: 2, MaxInterval: s.Max, RandomizationFactor: s.Jitter}
		p.pause.Reset()
	}
	return p.pause.NextBackOff()
}
