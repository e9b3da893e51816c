package trust

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// Guard keeps the verdict on one subject true, for the cost of a stat for each
// file of the hook's folder, and of a reading of each other file. It is safe for
// concurrent use.
type Guard struct {
	subject Subject
	stores  []*Store
	content *Content // in place of stores

	last atomic.Pointer[folderState]
	mu   sync.Mutex // held to read the folder
}

// folderState is the hook's folder as it was read last.
type folderState struct {
	seal    *Seal
	problem *Problem  // why there is no seal
	until   time.Time // when to read again what could not be read
}

// unreadableTTL is how long a folder that could not be read is left alone.
const unreadableTTL = time.Second

// NewGuard returns a guard that asks stores, in order, for an approval of s. It
// reads nothing yet.
func NewGuard(s Subject, stores ...*Store) *Guard {
	return &Guard{subject: s, stores: stores}
}

// Check returns the verdict as it is now. What the hook's command comes to is
// the caller's to say, for the environment and the directory that it would run
// in; nil = it has no command. Files outside of the hook's folder are read and
// hashed at each check: no time of change tells that a process changed a page
// that it holds mapped. Nothing is read, and program is not called, if the
// hook was never approved.
func (g *Guard) Check(program func() hook.Program) Verdict {
	books := make([]*book, len(g.stores))
	for i, s := range g.stores {
		books[i] = s.current()
	}
	key, err := g.subject.key()
	if err != nil {
		return refused(asProblem(g.subject.Path, err), nil)
	}
	if g.content == nil && !known(books, key) {
		v := unapproved(key)
		for _, b := range books {
			if b.problem != nil {
				v = refused(b.problem, nil)
			}
		}
		return v
	}
	seal, problem := g.folder()
	if problem != nil {
		return refused(problem, nil)
	}
	p := hook.Program{Files: g.subject.Files, Unbound: g.subject.Unbound}
	if program != nil {
		p = program()
		p.Files = append(p.Files[:len(p.Files):len(p.Files)], g.subject.Files...)
	}
	if seal, err = seal.with(p); err != nil {
		return refused(asProblem(g.subject.Path, err), nil)
	}
	if g.content != nil {
		return g.content.judge(seal)
	}
	return g.judge(seal)
}

// folder returns the seal of the hook's folder, read again if anything moved.
func (g *Guard) folder() (*Seal, *Problem) {
	if state := g.last.Load(); state.holds() {
		return state.seal, state.problem
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	state := g.last.Load()
	if state.holds() {
		return state.seal, state.problem
	}
	alone := g.subject
	alone.Files, alone.Unbound = nil, ""
	state = &folderState{}
	var err error
	if state.seal, err = alone.Seal(); err != nil {
		state.problem, state.until = asProblem(g.subject.Path, err), time.Now().Add(unreadableTTL)
	}
	g.last.Store(state)
	return state.seal, state.problem
}

func (f *folderState) holds() bool {
	switch {
	case f == nil:
		return false
	case f.seal == nil:
		return time.Now().Before(f.until)
	}
	intact, _ := f.seal.Intact()
	return intact
}

func known(books []*book, key Key) bool {
	for _, b := range books {
		if len(b.find(key)) > 0 {
			return true
		}
	}
	return false
}

// judge asks the stores. A single approval is enough; else the first that knows
// of an earlier approval says what changed.
func (g *Guard) judge(seal *Seal) Verdict {
	verdict, known := unapproved(seal.key), false
	for _, s := range g.stores {
		v := s.Judge(seal)
		if v.Approved {
			return v
		}
		if !known && len(s.current().find(seal.key)) > 0 {
			verdict, known = v, true
		}
	}
	return verdict
}
