package trust

import (
	"sync"

	"github.com/tenterhook/tenterhook/hook"
)

// Owner says whose word a scope's files are.
type Owner uint8

const (
	OwnerAnyone Owner = iota // not judged by ownership
	OwnerRoot                // the system's administrator
	OwnerUser                // the user who runs the agent, or root
)

// OwnerOf returns who must own the files of a scope.
func OwnerOf(s hook.Scope) Owner {
	switch s {
	case hook.ScopeManaged:
		return OwnerRoot
	case hook.ScopeUser:
		return OwnerUser
	}
	return OwnerAnyone
}

// Owned is [Owners.Check] for who has one thing to ask.
func Owned(owner Owner, paths ...string) error { return new(Owners).Check(owner, paths...) }

// Owners judges who could have written files. It remembers the folders on the
// way to them, so it is for one load: what changes later is not noticed. The
// zero value is ready; it may be used from several goroutines at once.
//
// On Windows, where access lists say who may write, nothing is checked.
type Owners struct {
	mu   sync.Mutex
	ways map[way]*Problem // folders that were judged, nil = nothing is wrong
}

// way is a folder on the way to files that must be an owner's.
type way struct {
	owner  Owner
	folder string
}

// Check reports as a [*Problem] that a user other than owner could have
// written one of paths: it belongs to someone else, its mode lets others write,
// or that holds for a folder on the way to it, links included: who can write a
// folder can put another file in the place of what is in it, unless its sticky
// bit is set. A path that does not exist has no owner.
func (o *Owners) Check(owner Owner, paths ...string) error {
	if owner == OwnerAnyone {
		return nil
	}
	for _, path := range paths {
		if p := o.check(owner, path); p != nil {
			return p
		}
	}
	return nil
}

// CheckTree is Check for a folder and all that is in it, and for what links in
// it lead to.
func (o *Owners) CheckTree(owner Owner, dir string) error {
	if owner == OwnerAnyone {
		return nil
	}
	if p := o.checkTree(owner, dir); p != nil {
		return p
	}
	return nil
}

func (o *Owners) remembered(w way) (*Problem, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, ok := o.ways[w]
	return p, ok
}

func (o *Owners) remember(w way, p *Problem) *Problem {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ways == nil {
		o.ways = make(map[way]*Problem)
	}
	o.ways[w] = p
	return p
}
