package trust

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// lockWait is how long a writer waits for another process.
const lockWait = 10 * time.Second

// Approve records what was read, in the place of earlier approvals of the same
// hooks. It is what the seals hold that is approved, whatever is there now:
// show them, and then approve the same. On an error nothing was approved and
// nothing that was is lost. It refuses what is unbound, see [Seal.Unbound].
func (s *Store) Approve(seals ...*Seal) error {
	for _, seal := range seals {
		if why := seal.Unbound(); why != "" {
			return &Problem{CodeUnbound, seal.key.ID, "is unbound, what its command runs may change without a new approval: " + why,
				"make the command name a script by its path, or approve it with --unbound"}
		}
	}
	return s.ApproveUnbound(seals...)
}

// ApproveUnbound is Approve for what may be unbound. Of a seal that is, it
// approves the definition and the hook's folder, and leaves open which files
// outside of it the command runs.
func (s *Store) ApproveUnbound(seals ...*Seal) error {
	at := time.Now().UTC().Truncate(time.Second)
	replaced := make(map[Key]bool, len(seals))
	var added []Approval
	texts := make(map[string][]byte)
	for _, seal := range slices.Backward(seals) { // of two for one hook, the last
		if replaced[seal.key] {
			continue
		}
		replaced[seal.key] = true
		a := seal.Approval()
		a.Approved = at
		if a.Unbound {
			a.Files = nil
		}
		added = append(added, a)
		seal.texts(texts)
	}
	return s.change(texts, func(list []Approval) []Approval {
		list = slices.DeleteFunc(list, func(a Approval) bool { return replaced[a.Key()] })
		return append(list, added...)
	})
}

// Revoke removes the approvals with one of keys and says how many there were.
func (s *Store) Revoke(keys ...Key) (int, error) {
	removed, err := s.RevokeWhere(func(a *Approval) bool { return slices.Contains(keys, a.Key()) })
	return len(removed), err
}

// RevokeWhere removes the approvals that gone says yes to, and returns them. It
// needs no file of the hook, so it reaches hooks that are not there any more.
func (s *Store) RevokeWhere(gone func(*Approval) bool) ([]Approval, error) {
	var removed []Approval
	err := s.change(nil, func(list []Approval) []Approval {
		removed = nil
		return slices.DeleteFunc(list, func(a Approval) bool {
			if !gone(&a) {
				return false
			}
			removed = append(removed, a)
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// change replaces what the store holds by what edit makes of it, and keeps the
// texts. Writers come one after the other, and each starts from what the last
// one left.
func (s *Store) change(texts map[string][]byte, edit func([]Approval) []Approval) error {
	switch {
	case s.handed:
		return &Problem{CodeReadOnly, s.path, "was handed in and is never written", "approve in a store of your own, and export that"}
	case s.path == "":
		return s.changeMemory(texts, edit)
	}
	if p := s.owned(); p != nil { // before anything is put there, which its user could not use
		return p
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return unwritten(s.dir, err)
	}
	unlock, err := lock(filepath.Join(s.dir, lockName), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	b := s.load() // not what was read once: another process may have written since
	if b.problem != nil {
		return b.problem
	}
	list := edit(slices.Clone(b.approvals))
	slices.SortFunc(list, compareApprovals)
	data, err := encode(list)
	if err != nil {
		return unwritten(s.path, err)
	}
	if len(data) > maxStore {
		return &Problem{CodeTooLarge, s.path, fmt.Sprintf("would be larger than %d MiB", maxStore>>20), "revoke approvals that are not needed"}
	}
	if err := s.keepTexts(texts); err != nil {
		return unwritten(s.dir, err)
	}
	if err := safefile.Write(s.path, data, 0o600); err != nil {
		return unwritten(s.path, err)
	}
	s.sweep(list)
	s.mu.Lock()
	s.now.Store(s.load())
	s.mu.Unlock()
	return nil
}

func (s *Store) changeMemory(texts map[string][]byte, edit func([]Approval) []Approval) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.now.Load()
	if b.problem != nil {
		return b.problem
	}
	maps.Copy(s.texts, texts)
	s.now.Store(newBook(edit(slices.Clone(b.approvals))))
	return nil
}

func unwritten(path string, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{CodeUnreadable, path, "cannot be written: " + err.Error(), "make room, or let the user who runs the agent write there"}
}
