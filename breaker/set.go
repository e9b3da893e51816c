package breaker

import (
	"maps"
	"slices"
	"sync"
)

// A Set holds breakers by name, say by a hook's id, "scope/name". What has the
// same name shares a breaker, so a name must say all that tells two things apart.
// The zero value is an empty set. All methods may be called from several
// goroutines at once. A Set must not be copied after first use.
type Set struct {
	mu       sync.Mutex // guards everything below; taken before a Breaker's, never after
	breakers map[string]*Breaker
}

// Get returns the named breaker. If there is none, or if it has other settings,
// Get puts a closed one in its place. So a reload keeps what is known about a
// call whose settings stayed the same, where spelling out a default changes
// nothing, and forgets the rest. Permits of a breaker that was replaced stay
// valid for that breaker and do not touch the other.
//
// Call Get once a load and keep the breaker: callers that take turns asking for
// the same name with different settings replace each other's breaker every time.
func (s *Set) Get(name string, settings Settings) *Breaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.breakers[name]
	if b != nil && b.settings.resolved() == settings.resolved() {
		return b
	}
	if s.breakers == nil {
		s.breakers = make(map[string]*Breaker)
	}
	b = New(settings)
	s.breakers[name] = b
	return b
}

// Retain drops the breakers whose name keep does not want, so that a set does not
// grow over many reloads. Who still holds a dropped breaker can continue using it.
// keep must not call the set's methods.
func (s *Set) Retain(keep func(name string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.breakers, func(name string, _ *Breaker) bool { return !keep(name) })
}

// Snapshot describes every breaker of the set, ordered by name.
func (s *Set) Snapshot() []Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshots := make([]Snapshot, 0, len(s.breakers))
	for _, name := range slices.Sorted(maps.Keys(s.breakers)) {
		snapshot := s.breakers[name].Snapshot()
		snapshot.Name = name
		snapshots = append(snapshots, snapshot)
	}
	return snapshots
}
