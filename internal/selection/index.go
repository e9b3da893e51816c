package selection

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
	Entries    []*Entry
	events     map[hook.Event]*eventIndex
	everywhere []*Entry      // broken definitions that could concern any event
	Versions   hook.Versions // of the fleet's documents
	*Generation
}

// Generation is what one load came to. It is immutable.
type Generation struct {
	*load.Loaded
	Policy      load.Settings
	Entries     []*Entry // of the definitions
	Diagnostics []hook.Diagnostic
	Guards      *GuardSet // the guards that sessions keep
}

func newSnapshot(g *Generation, inProcess []*Entry) *snapshot {
	entries := slices.Concat(g.Entries, inProcess)
	slices.SortStableFunc(entries, CompareEntries)
	s := &snapshot{Entries: entries, events: make(map[hook.Event]*eventIndex), Versions: versionsOf(g.Configs), Generation: g}
	for _, e := range entries {
		if e.Event == "" {
			s.everywhere = append(s.everywhere, e)
		}
	}
	for _, e := range entries {
		if e.Event == "" {
			continue
		}
		index := s.events[e.Event]
		if index == nil {
			index = &eventIndex{names: make(map[string][]int)}
			s.events[e.Event] = index
		}
		index.add(e)
	}
	return s
}

// candidates returns the hooks of an event whose matchers take subject, in
// order. The slice is shared: do not change it.
func (s *snapshot) candidates(ev hook.Event, subject string) []*Entry {
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
		slices.SortStableFunc(found, CompareEntries)
	}
	return found
}

// maxMemo bounds the subjects whose candidates are remembered: names of tools
// are few, and a hostile host's are not worth the memory.
const maxMemo = 1024

// eventIndex finds the hooks of one event by what their matchers test.
type eventIndex struct {
	all    []*Entry
	every  []int            // positions in all whose matcher takes everything
	names  map[string][]int // of matchers that take just these names
	tested []int            // of matchers that must be asked

	memo atomic.Pointer[map[string][]*Entry] // copied on write
	mu   sync.Mutex                          // orders the writers of memo
}

func (x *eventIndex) add(e *Entry) {
	at := len(x.all)
	x.all = append(x.all, e)
	switch e.Matcher.Kind() {
	case match.KindEvery:
		x.every = append(x.every, at)
	case match.KindExact, match.KindList:
		for _, name := range e.Matcher.Names() {
			x.names[name] = append(x.names[name], at)
		}
	default:
		x.tested = append(x.tested, at)
	}
}

func (x *eventIndex) find(subject string) []*Entry {
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
func (e *Entry) takes(subject string) (ok, sure bool) {
	ok, err := e.Matcher.Match(subject)
	switch {
	case e.Matcher.Valid() != nil:
		return true, true
	case err != nil:
		return hook.Info(e.Event).Block != hook.BlockNothing, false
	}
	return ok, true
}

// search asks the matchers, and says whether all of them were sure.
func (x *eventIndex) search(subject string) (found []*Entry, sure bool) {
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

func (x *eventIndex) remember(subject string, found []*Entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var next map[string][]*Entry
	if old := x.memo.Load(); old != nil {
		if len(*old) >= maxMemo {
			return
		}
		next = maps.Clone(*old)
	} else {
		next = make(map[string][]*Entry, 1)
	}
	next[subject] = found
	x.memo.Store(&next)
}

// versionsOf are the versions of the fleet's documents among configs.
func versionsOf(configs []*load.ConfigFile) (v hook.Versions) {
	for _, c := range configs {
		if c.Fleet == nil || c.Fleet.Channel == "" || c.Fleet.State == load.PolicyUnknown {
			continue
		}
		if v == nil {
			v = make(hook.Versions)
		}
		v[c.Fleet.Channel] = c.Fleet.Version
		if c.Fleet.State == load.PolicyBroken {
			v[c.Fleet.Channel] = 0
		}
	}
	return v
}
