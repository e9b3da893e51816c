package breaker_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenterhook/tenterhook/breaker"
)

// tick is the model's unit of time.
const tick = time.Second

// model is the reference: the rules of the package, told another way. It counts
// ticks and never asks a clock, measures what has passed instead of setting
// deadlines, and remembers of every permit whether it still counts, where the
// breaker numbers generations.
type model struct {
	failuresToOpen, cooldown, probeLimit int // the last two in ticks

	now      int
	phase    string // "closed", "cooling", "probing"; or "free": a probe may go at once
	failures int
	openedAt int    // when closed ended
	since    int    // when the phase began
	counts   []bool // by the number of the permit
}

// allow returns the number of the permit, or -1.
func (m *model) allow() int {
	passed := m.now - m.since
	switch m.phase {
	case "cooling":
		if passed < m.cooldown {
			return -1
		}
		m.turn("probing")
	case "probing":
		if passed < m.probeLimit {
			return -1
		}
		m.turn("probing")
	case "free":
		m.turn("probing")
	}
	m.counts = append(m.counts, true)
	return len(m.counts) - 1
}

func (m *model) report(permit int, r breaker.Result) {
	if permit < 0 || !m.counts[permit] {
		return
	}
	m.counts[permit] = false
	probe := m.phase == "probing"
	switch {
	case r == breaker.Success:
		m.failures = 0
		if probe {
			m.turn("closed")
		}
	case r == breaker.Failure:
		m.failures++
		if !probe && m.failures == m.failuresToOpen {
			m.openedAt = m.now
			m.turn("cooling")
		} else if probe {
			m.turn("cooling")
		}
	case probe:
		m.turn("free")
	}
}

// turn changes the phase, after which no permit given until now counts.
func (m *model) turn(phase string) {
	m.phase, m.since = phase, m.now
	clear(m.counts)
}

func (m *model) snapshot(start time.Time) breaker.Snapshot {
	s := breaker.Snapshot{Failures: m.failures, OpensAt: m.failuresToOpen}
	passed, wait := m.now-m.since, 0
	switch m.phase {
	case "closed":
		return s
	case "cooling":
		wait = m.cooldown - passed
		s.State = breaker.Open
		if wait <= 0 {
			s.State = breaker.HalfOpen
		}
	case "probing":
		wait = m.probeLimit - passed
		s.State = breaker.HalfOpen
	case "free":
		s.State = breaker.HalfOpen
	}
	s.OpenedAt = start.Add(time.Duration(m.openedAt) * tick)
	s.RetryAfter = time.Duration(max(wait, 0)) * tick
	return s
}

// pair runs the same steps on a breaker and on the model.
type pair struct {
	breaker *breaker.Breaker
	model   *model
	start   time.Time
	permits []*breaker.Permit
	numbers []int // the model's number of each permit
}

func newPair(failures, cooldown, probeTimeout int) *pair {
	return &pair{
		breaker: breaker.New(breaker.Settings{
			Failures:     failures,
			Cooldown:     time.Duration(cooldown) * tick,
			ProbeTimeout: time.Duration(probeTimeout) * tick,
		}),
		model: &model{
			failuresToOpen: failures,
			cooldown:       cooldown,
			probeLimit:     max(cooldown, probeTimeout),
			phase:          "closed",
		},
		start: time.Now(),
	}
}

// allow reports whether both gave the same answer.
func (p *pair) allow() bool {
	permit, ok := p.breaker.Allow()
	number := p.model.allow()
	if ok {
		p.permits = append(p.permits, &permit)
		p.numbers = append(p.numbers, number)
	}
	return ok == (number >= 0)
}

// report reports on a permit that was given, whether or not it was before.
func (p *pair) report(permit int, r breaker.Result) {
	p.permits[permit].Done(r)
	p.model.report(p.numbers[permit], r)
}

func (p *pair) wait(ticks int) {
	time.Sleep(time.Duration(ticks) * tick)
	p.model.now += ticks
}

// agree reports whether both are in the same state.
func (p *pair) agree() bool {
	got, want := p.breaker.Snapshot(), p.model.snapshot(p.start)
	return got.State == want.State && got.Failures == want.Failures &&
		got.OpensAt == want.OpensAt && got.OpenedAt.Equal(want.OpenedAt) &&
		got.RetryAfter == want.RetryAfter && p.breaker.State() == want.State
}

func (p *pair) diff() string {
	return "(-want +got):\n" + cmp.Diff(p.model.snapshot(p.start), p.breaker.Snapshot())
}

// step is one step of a random sequence.
type step struct {
	Do     string // "allow", "wait", or "report"
	Ticks  int    // for wait
	Result breaker.Result
	Permit int // for report: how far back from the newest permit given
}

func (s step) String() string {
	switch s.Do {
	case "wait":
		return fmt.Sprintf("wait %d", s.Ticks)
	case "report":
		return fmt.Sprintf("report %d on permit -%d", s.Result, s.Permit)
	}
	return s.Do
}

// run takes the steps and says where breaker and model part, or "".
func (p *pair) run(steps []step) string {
	for i, s := range steps {
		agreed := true
		switch s.Do {
		case "allow":
			agreed = p.allow()
		case "wait":
			p.wait(s.Ticks)
		case "report":
			if n := len(p.permits); n > 0 {
				p.report(n-1-s.Permit%n, s.Result)
			}
		}
		if !agreed || !p.agree() {
			return fmt.Sprintf("%v: parted at step %d: same answer %v, state %s", steps[:i+1], i, agreed, p.diff())
		}
	}
	return ""
}

func TestRandomSequencesAgreeWithTheModel(t *testing.T) {
	// Reports on the newest permits are the likely ones: only they get a
	// sequence anywhere. The others are repeated or late.
	steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			Do:     rapid.SampledFrom([]string{"allow", "allow", "report", "report", "wait"}).Draw(rt, "do"),
			Ticks:  rapid.IntRange(0, 5).Draw(rt, "ticks"),
			Result: breaker.Result(rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(rt, "result")),
			Permit: rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 5, 8}).Draw(rt, "permit"),
		}
	}), 60, 120)
	rapid.Check(t, func(rt *rapid.T) {
		failures := rapid.IntRange(1, 4).Draw(rt, "failures")
		cooldown := rapid.IntRange(1, 4).Draw(rt, "cooldown")
		probeTimeout := rapid.IntRange(0, 7).Draw(rt, "probe timeout")
		sequence := steps.Draw(rt, "steps")
		var parted string // rapid's own calls belong outside the bubble
		synctest.Test(t, func(*testing.T) {
			parted = newPair(failures, cooldown, probeTimeout).run(sequence)
		})
		if parted != "" {
			rt.Fatal(parted)
		}
	})
}

// TestEverySequenceOfEightStepsAgreesWithTheModel leaves nothing to chance: all
// sequences of up to eight of the five steps, for settings small enough that
// eight steps lead everywhere. Since every beginning of a sequence is itself one,
// the states need comparing at the end only.
func TestEverySequenceOfEightStepsAgreesWithTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("long: tries every sequence")
	}
	const depth = 8
	tests := []struct {
		name                             string
		failures, cooldown, probeTimeout int
		oldestFirst                      bool
	}{
		{"one failure, newest call reports", 1, 1, 2, false},
		{"one failure, oldest call reports", 1, 1, 2, true},
		{"two failures, newest call reports", 2, 1, 0, false},
		{"two failures, oldest call reports", 2, 1, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sequences, ends := 0, map[breaker.State]int{}
				for n := range depth + 1 {
					steps := make([]int, n)
					for more := true; more; more = increment(steps) {
						p := newPair(tt.failures, tt.cooldown, tt.probeTimeout)
						if !p.runDigits(steps, tt.oldestFirst) || !p.agree() {
							t.Fatalf("after %v: %s", names(steps), p.diff())
						}
						sequences++
						ends[p.model.snapshot(p.start).State]++
					}
				}
				if want := (5*390625 - 1) / 4; sequences != want || len(ends) != 3 {
					t.Errorf("%d sequences end in %v; want %d, and each of the three states", sequences, ends, want)
				}
			})
		})
	}
}

var digitNames = [5]string{"neutral", "success", "failure", "allow", "wait"}

// runDigits takes steps by their number and reports whether every Allow gave the
// same answer. Results go to the newest or the oldest call under way, and when
// there is none to the newest permit there ever was, a second time.
func (p *pair) runDigits(steps []int, oldestFirst bool) bool {
	var pending []int
	for _, digit := range steps {
		switch digitNames[digit] {
		case "allow":
			given := len(p.permits)
			if !p.allow() {
				return false
			}
			if len(p.permits) > given {
				pending = append(pending, given)
			}
		case "wait":
			p.wait(1)
		default:
			permit := len(p.permits) - 1
			if n := len(pending); n > 0 && oldestFirst {
				permit, pending = pending[0], pending[1:]
			} else if n > 0 {
				permit, pending = pending[n-1], pending[:n-1]
			}
			if permit >= 0 {
				p.report(permit, breaker.Result(digit))
			}
		}
	}
	return true
}

// increment counts up in base five and says whether it could.
func increment(digits []int) bool {
	for i := range digits {
		if digits[i]++; digits[i] < len(digitNames) {
			return true
		}
		digits[i] = 0
	}
	return false
}

func names(steps []int) []string {
	var s []string
	for _, digit := range steps {
		s = append(s, digitNames[digit])
	}
	return s
}
