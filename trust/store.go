package trust

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/internal/stamp"
)

// The files of a store's folder.
const (
	approvalsName = "approvals.json"
	lockName      = "approvals.lock"
	textsName     = "texts"
)

// maxStore bounds the approvals file, in bytes.
const maxStore = 32 << 20

// Store holds approvals. It notices what other processes approve and revoke. It
// is safe for concurrent use, by several processes too.
type Store struct {
	dir    string // "" = no folder of its own
	path   string // of the approvals; "" = in memory alone
	handed bool   // a file that was handed in is never written

	now   atomic.Pointer[book]
	mu    sync.Mutex        // held to replace now
	texts map[string][]byte // of a store in memory, by digest; guarded by mu
}

// book is what a store holds at one time. It is immutable.
type book struct {
	approvals []Approval
	byKey     map[Key][]*Approval
	problem   *Problem    // it cannot be relied on, and approves nothing
	stamp     stamp.Stamp // of the file that was read
	real      string      // where that is, links followed
	absent    bool        // there is none
	read      time.Time
}

// problemTTL is how long a store with a problem is left alone: what is wrong may
// be fixed without a trace in the file itself.
const problemTTL = time.Second

// Open returns the store in dir, $XDG_STATE_HOME/tenterhook as a rule. A folder
// that does not exist is an empty store, and is made by the first approval. The
// folder and its files must be the user's, and no other user may write them.
//
// The Store is never nil. A store with an error, a [*Problem], approves
// nothing, says why, and changes nothing until the problem is fixed.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, path: filepath.Join(dir, approvalsName)}
	if !filepath.IsAbs(dir) {
		p := &Problem{CodeUnreadable, dir, "is no absolute path, so what it means depends on the working directory", "give the full path"}
		s.path = ""
		s.now.Store(&book{problem: p})
		return s, p
	}
	return s, s.problem()
}

// OpenFile returns the approvals in a file that the operator handed in, made by
// [Export] as a rule. It is read only, must be there, and only the user or root may
// be able to write it. The Store is never nil, as with [Open].
func OpenFile(path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	s := &Store{path: abs, handed: true}
	return s, s.problem()
}

// Memory returns an empty store that lasts as long as the process.
func Memory() *Store {
	s := &Store{texts: make(map[string][]byte)}
	s.now.Store(newBook(nil))
	return s
}

// List returns the approvals, by root, ID and path. The error is why there are
// none that can be relied on.
func (s *Store) List() ([]Approval, error) {
	b := s.current()
	if b.problem != nil {
		return nil, b.problem
	}
	return slices.Clone(b.approvals), nil
}

// Find returns the approvals that can be about a subject, as they are now, those
// for its place before those for any. They must not be changed. It costs a stat
// while nothing is approved or revoked. The error is why none can be relied on.
func (s *Store) Find(k Key) ([]*Approval, error) {
	b := s.current()
	if b.problem != nil {
		return nil, b.problem
	}
	found := b.find(k)
	if s.handed && len(found) > 0 {
		if p := b.within(k); p != nil {
			return nil, p
		}
	}
	return found, nil
}

func (s *Store) problem() error {
	if p := s.current().problem; p != nil {
		return p
	}
	return nil
}

// current is the store as it is now, for the cost of a stat if it did not change.
func (s *Store) current() *book {
	b := s.now.Load()
	if b != nil && s.path == "" || b != nil && b.fresh(s.path) {
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if again := s.now.Load(); again != b && again.fresh(s.path) {
		return again
	}
	b = s.load()
	s.now.Store(b)
	return b
}

// fresh reports whether the file at path is unchanged.
func (b *book) fresh(path string) bool {
	if b.problem != nil && time.Since(b.read) > problemTTL {
		return false
	}
	at, err := stamp.Of(path, true) // zero with an error, as b's is then
	if b.absent {
		return absent(err)
	}
	return at == b.stamp
}

// load reads the store's file. Its stamp is taken first: what is written
// meanwhile is another file, and found out at the next look.
func (s *Store) load() *book {
	at, err := stamp.Of(s.path, true)
	list, problem := s.read(err)
	b := newBook(list)
	b.stamp, b.absent, b.problem, b.read = at, absent(err), problem, time.Now()
	if b.real, err = filepath.EvalSymlinks(s.path); err != nil {
		b.real = s.path
	}
	return b
}

func (s *Store) read(statErr error) ([]Approval, *Problem) {
	problem := s.owned()
	switch {
	case problem != nil:
		return nil, problem
	case absent(statErr) && !s.handed:
		return nil, nil
	case statErr != nil:
		return nil, asProblem(s.path, statErr)
	}
	data, problem := readStore(s.path)
	if problem != nil {
		return nil, problem
	}
	return decode(s.path, data)
}

// owned says whether another user could have written the store.
func (s *Store) owned() *Problem {
	paths := []string{s.path}
	if s.dir != "" {
		paths = []string{s.dir, s.path}
	}
	var p *Problem
	errors.As(Owned(OwnerUser, paths...), &p)
	return p
}

func readStore(path string) ([]byte, *Problem) {
	data, err := safefile.Read(path, maxStore)
	if refused := (*fs.PathError)(nil); err == nil {
		return data, nil
	} else if errors.As(err, &refused) {
		return nil, asProblem(path, err)
	}
	return nil, damaged(path, err.Error())
}

// newBook takes over list.
func newBook(list []Approval) *book {
	slices.SortFunc(list, compareApprovals)
	b := &book{approvals: list, byKey: make(map[Key][]*Approval, len(list))}
	for i := range list {
		k := list[i].Key()
		b.byKey[k] = append(b.byKey[k], &list[i])
	}
	return b
}

// find returns the approvals that can be about a subject, those for its place
// before those for any.
func (b *book) find(k Key) []*Approval {
	anywhere := k
	anywhere.Root = ""
	return append(slices.Clip(b.byKey[k]), b.byKey[anywhere]...)
}

// within says that the approvals are in a workspace: who wrote that could have
// written them too.
func (b *book) within(k Key) *Problem {
	if !below(k.Root, b.real) {
		return nil
	}
	return &Problem{CodeInWorkspace, b.real, "is in the workspace that it approves: the author of a changed hook could change it too",
		"keep it elsewhere"}
}

func compareApprovals(a, b Approval) int {
	return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.ID, b.ID), strings.Compare(a.Path, b.Path),
		a.Approved.Compare(b.Approved))
}
