package trust

import (
	"sync"
	"sync/atomic"
	"time"
)

// Guard keeps the verdict on one subject true, for the cost of a stat a file. It
// is safe for concurrent use.
type Guard struct {
	subject Subject
	stores  []*Store

	last atomic.Pointer[judgement]
	mu   sync.Mutex // held to judge
}

// judgement is a verdict and what it rests on.
type judgement struct {
	verdict Verdict
	books   []*book   // what the stores held
	until   time.Time // when to look again though nothing else says so; zero = never
}

// unreadableTTL is how long a subject that could not be read is left alone.
const unreadableTTL = time.Second

// NewGuard returns a guard that asks stores, in order, for an approval of s. It
// reads nothing yet.
func NewGuard(s Subject, stores ...*Store) *Guard {
	return &Guard{subject: s, stores: stores}
}

// Check returns the verdict as it is now. If the files and the stores are as
// they were when it was made, it is the last one; else they are read and judged
// anew. Nothing is read that nobody ever approved.
func (g *Guard) Check() Verdict {
	if j := g.last.Load(); j != nil && g.holds(j) {
		return j.verdict
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if j := g.last.Load(); j != nil && g.holds(j) {
		return j.verdict
	}
	j := g.judge()
	g.last.Store(j)
	return j.verdict
}

func (g *Guard) holds(j *judgement) bool {
	for i, s := range g.stores {
		if s.current() != j.books[i] {
			return false
		}
	}
	if j.verdict.Seal != nil {
		intact, _ := j.verdict.Seal.Intact()
		return intact
	}
	return j.until.IsZero() || time.Now().Before(j.until)
}

func (g *Guard) judge() *judgement {
	j := &judgement{books: make([]*book, len(g.stores))}
	for i, s := range g.stores { // first: what they hold later is found out by the next check
		j.books[i] = s.current()
	}
	key, err := g.subject.key()
	if err == nil && !g.known(j.books, key) {
		j.verdict = unapproved(key)
		for _, b := range j.books {
			if b.problem != nil {
				j.verdict = refused(b.problem, nil)
			}
		}
		return j
	}
	var seal *Seal
	if err == nil {
		seal, err = g.subject.Seal()
	}
	if err != nil {
		j.verdict = refused(asProblem(g.subject.Path, err), nil)
		j.until = time.Now().Add(unreadableTTL)
		return j
	}
	j.verdict = g.judgeSeal(seal)
	return j
}

func (g *Guard) known(books []*book, key Key) bool {
	for _, b := range books {
		if len(b.find(key)) > 0 {
			return true
		}
	}
	return false
}

// judgeSeal asks the stores. One that approves is enough; else the first that
// knows of an earlier approval says what changed.
func (g *Guard) judgeSeal(seal *Seal) Verdict {
	var verdict Verdict
	for i, s := range g.stores {
		v := s.Judge(seal)
		if v.Approved {
			return v
		}
		if i == 0 || len(s.current().find(seal.key)) > 0 {
			verdict = v
		}
	}
	return verdict
}
