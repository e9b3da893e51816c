package trust

import (
	"fmt"

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

// Owned reports as an error that somebody other than owner could have written
// one of paths: it belongs to someone else, or its mode lets others write. A
// path that does not exist is nobody's. On Windows, where access lists say who
// may write, nothing is checked.
func Owned(owner Owner, paths ...string) error {
	if owner == OwnerAnyone {
		return nil
	}
	for _, path := range paths {
		if err := owned(owner, path); err != nil {
			return err
		}
	}
	return nil
}

// Problem is a file that cannot be taken at its owner's word.
type Problem struct {
	Path   string
	Reason string
	Remedy string
}

func (p *Problem) Error() string { return fmt.Sprintf("%s %s", p.Path, p.Reason) }
