package breaker

import "time"

// Memory is what a breaker must know to continue in another process. The zero value
// is that of a closed breaker without failures.
type Memory struct {
	Failures int       `json:"failures"` // in a row
	RetryAt  time.Time `json:"retry_at"` // when the next call may probe; zero while closed
}

// Memories are those of all breakers of the set that have failures, by name.
func (s *Set) Memories() map[string]Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := make(map[string]Memory)
	for name, b := range s.breakers {
		b.mu.Lock()
		if b.failures > 0 {
			m[name] = Memory{b.failures, b.retryAt}
		}
		b.mu.Unlock()
	}
	return m
}

// Remember puts the named breaker, if there is one, into the state that a Memory
// describes. Permits given before do not count any more.
func (s *Set) Remember(name string, m Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.breakers[name]
	if b == nil || b.settings.Failures < 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = m.Failures
	settings := b.settings.resolved()
	switch {
	case m.Failures < settings.Failures:
		b.openedAt = time.Time{}
		b.enter(Closed, time.Time{})
	case m.RetryAt.IsZero(): // several processes counted them
		b.open(settings.Cooldown)
	default:
		retryAt := m.RetryAt
		if now := time.Now(); retryAt.After(now.Add(max(settings.Cooldown, settings.ProbeTimeout))) {
			retryAt = now.Add(settings.Cooldown) // the system's clock was set back
		}
		b.openedAt = retryAt.Add(-settings.Cooldown)
		b.enter(Open, retryAt)
	}
}

// Reset closes the breakers that have failures and whose name is wanted, and
// returns their names in no order. Results of calls under way do not count any more.
func (s *Set) Reset(wanted func(name string) bool) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, b := range s.breakers {
		b.mu.Lock()
		if b.failures > 0 && wanted(name) {
			b.failures, b.openedAt = 0, time.Time{}
			b.enter(Closed, time.Time{})
			names = append(names, name)
		}
		b.mu.Unlock()
	}
	return names
}

// State is the state that a breaker which remembers this is in.
func (m Memory) State(now time.Time) State {
	switch {
	case m.RetryAt.IsZero():
		return Closed
	case now.Before(m.RetryAt):
		return Open
	}
	return HalfOpen
}
