package registry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/load"
	"github.com/tenterhook/tenterhook/internal/match"
)

// snapshot is an immutable set of hooks, in order and by event.
type snapshot struct {
	entries    []*entry
	events     map[hook.Event]*eventIndex
	everywhere []*entry      // broken definitions that could concern any event
	versions   hook.Versions // of the fleet's documents
	*generation
}

// generation is what one load came to. It is immutable.
type generation struct {
	*load.Loaded
	policy      load.Settings
	entries     []*entry // of the definitions
	diagnostics []hook.Diagnostic
	guards      *guardSet // the guards that sessions keep
}

func newSnapshot(g *generation, inProcess []*entry) *snapshot {
	entries := slices.Concat(g.entries, inProcess)
	slices.SortStableFunc(entries, compareEntries)
	s := &snapshot{entries: entries, events: make(map[hook.Event]*eventIndex), versions: versionsOf(g.Configs), generation: g}
	for _, e := range entries {
		if e.event == "" {
			s.everywhere = append(s.everywhere, e)
		}
	}
	for _, e := range entries {
		if e.event == "" {
			continue
		}
		index := s.events[e.event]
		if index == nil {
			index = &eventIndex{names: make(map[string][]int)}
			s.events[e.event] = index
		}
		index.add(e)
	}
	return s
}

// candidates returns the hooks of an event whose matchers take subject, in
// order. The slice is shared: do not change it.
func (s *snapshot) candidates(ev hook.Event, subject string) []*entry {
	index := s.events[ev]
	if len(s.everywhere) == 0 {
		if index == nil {
			return nil
		}
		return index.find(subject)
	}
	found := slices.Clone(s.everywhere)
	if index != nil {
		found = append(found, index.find(subject)...)
		slices.SortStableFunc(found, compareEntries)
	}
	return found
}

// maxMemo bounds the subjects whose candidates are remembered: names of tools
// are few, and a hostile host's are not worth the memory.
const maxMemo = 1024

// eventIndex finds the hooks of one event by what their matchers test.
type eventIndex struct {
	all    []*entry
	every  []int            // positions in all whose matcher takes everything
	names  map[string][]int // of matchers that take just these names
	tested []int            // of matchers that must be asked

	memo atomic.Pointer[map[string][]*entry] // copied on write
	mu   sync.Mutex                          // orders the writers of memo
}

func (x *eventIndex) add(e *entry) {
	at := len(x.all)
	x.all = append(x.all, e)
	switch e.matcher.Kind() {
	case match.KindEvery:
		x.every = append(x.every, at)
	case match.KindExact, match.KindList:
		for _, name := range e.matcher.Names() {
			x.names[name] = append(x.names[name], at)
		}
	default:
		x.tested = append(x.tested, at)
	}
}

func (x *eventIndex) find(subject string) []*entry {
	memo := x.memo.Load()
	if memo != nil {
		if found, ok := (*memo)[subject]; ok {
			return found
		}
	}
	found, sure := x.search(subject)
	if sure && len(subject) <= 256 {
		x.remember(subject, found)
	}
	return found
}

// takes asks the matcher whether the hook is about a subject. It is not sure where
// the matcher could not tell, which for a hook that can block counts as a match. A
// matcher that cannot be used is about everything: the hook leaves a result that
// says so.
func (e *entry) takes(subject string) (ok, sure bool) {
	ok, err := e.matcher.Match(subject)
	switch {
	case e.matcher.Valid() != nil:
		return true, true
	case err != nil:
		return hook.Info(e.event).Block != hook.BlockNothing, false
	}
	return ok, true
}

// search asks the matchers, and says whether all of them were sure.
func (x *eventIndex) search(subject string) (found []*entry, sure bool) {
	sure = true
	at := append(slices.Clone(x.every), x.names[subject]...)
	for _, i := range x.tested {
		ok, certain := x.all[i].takes(subject)
		sure = sure && certain
		if ok {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil, sure
	}
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		found = append(found, x.all[i])
	}
	return found, sure
}

func (x *eventIndex) remember(subject string, found []*entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var next map[string][]*entry
	if old := x.memo.Load(); old != nil {
		if len(*old) >= maxMemo {
			return
		}
		next = maps.Clone(*old)
	} else {
		next = make(map[string][]*entry, 1)
	}
	next[subject] = found
	x.memo.Store(&next)
}
