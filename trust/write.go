package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// lockWait is how long a writer waits for another process.
const lockWait = 10 * time.Second

// Approve records what was read, in the place of earlier approvals of the same
// hooks. It is what the seals hold that is approved, whatever is there by now:
// show them, and then approve the same. On an error nothing was approved and
// nothing that was is lost.
func (s *Store) Approve(seals ...*Seal) error {
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
	removed := 0
	err := s.change(nil, func(list []Approval) []Approval {
		left := slices.DeleteFunc(list, func(a Approval) bool { return slices.Contains(keys, a.Key()) })
		removed = len(list) - len(left)
		return left
	})
	if err != nil {
		return 0, err
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
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return unwritten(s.dir, err)
	}
	if p := s.owned(); p != nil { // before anything is put there
		return p
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
		return &Problem{CodeTooLarge, s.path, fmt.Sprintf("would be larger than %d MiB", maxStore>>20), "revoke approvals that nobody needs"}
	}
	if err := s.keepTexts(texts); err != nil {
		return unwritten(s.dir, err)
	}
	if err := replaceFile(s.path, data); err != nil {
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
	for sum, text := range texts {
		s.texts[sum] = text
	}
	s.now.Store(newBook(edit(slices.Clone(b.approvals))))
	return nil
}

// tempSuffix ends the names of files that are not finished.
const tempSuffix = ".tmp"

// replaceFile writes a file beside path and puts it in its place, so that path
// holds either the old or the new bytes, whenever the machine stops.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+tempSuffix) // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // not every system can, and the file is whole either way
		_ = dir.Close()
	}
	return nil
}

func unwritten(path string, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{CodeUnreadable, path, "cannot be written: " + err.Error(), "make room, or let the user who runs the agent write there"}
}
