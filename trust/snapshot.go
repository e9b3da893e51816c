package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/robustio"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Snapshots keeps copies of hook folders, as they were read, to run commands
// from. It is safe for concurrent use, by several processes too.
type Snapshots struct {
	dir string

	mu    sync.Mutex
	slots map[string]*slot // by digest
}

// slot is a copy's place. Its lock is held while the copy is made or verified.
type slot struct {
	mu   sync.Mutex
	seal *Seal // of the copy; nil = not verified yet
}

// snapshotAge is how long a copy is kept that no process uses.
const snapshotAge = 30 * 24 * time.Hour

// NewSnapshots returns the copies in dir, $XDG_STATE_HOME/tenterhook/snapshots
// as a rule: an absolute path outside of any workspace, on a file system that
// programs may be run from. The folder is made with the first copy.
func NewSnapshots(dir string) *Snapshots {
	return &Snapshots{dir: dir, slots: make(map[string]*slot)}
}

// Dir returns a folder that holds the hook's folder as the seal has it, or ""
// for a subject without a folder. The first call for some content copies it, or
// verifies the copy of an earlier process; later ones cost a stat a file. It
// fails with a [*Problem] if the content is not there any more: the bytes of the
// seal run, or nothing does.
//
// Files of the copy can be read and, where they could be, executed by the user
// alone, and the copy cannot be written, but by root. What a hook of root's
// writes there is left alone; a file of the copy that is not as it was is
// replaced.
func (s *Snapshots) Dir(seal *Seal) (string, error) {
	if seal.subject.Dir == "" {
		return "", nil
	}
	id := seal.copyID()
	path := filepath.Join(s.dir, id)
	sl := s.slot(id)
	sl.mu.Lock()
	defer sl.mu.Unlock()
	if sl.seal != nil {
		if intact, _ := sl.seal.Intact(); intact {
			return path, nil
		}
	}
	if p := s.private(); p != nil {
		return "", p
	}
	_ = os.Chtimes(path, time.Time{}, time.Now()) // marks the copy as used; it may not be there yet
	if sl.seal = verified(path, seal); sl.seal != nil {
		return path, nil
	}
	if err := s.copy(seal, path); err != nil {
		return "", err
	}
	if sl.seal = verified(path, seal); sl.seal == nil {
		return "", &Problem{CodeChanging, path, "is not what was put there", "find out who writes to it"}
	}
	return path, nil
}

func (s *Snapshots) slot(id string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	sl := s.slots[id]
	if sl == nil {
		sl = new(slot)
		s.slots[id] = sl
	}
	return sl
}

// private makes the folder, and says whether another user could write there.
func (s *Snapshots) private() *Problem {
	if !filepath.IsAbs(s.dir) {
		return &Problem{CodeUnreadable, s.dir, "is no absolute path, so what it means depends on the working directory", "give the full path"}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return unwritten(s.dir, err)
	}
	var p *Problem
	errors.As(Owned(OwnerUser, s.dir), &p)
	return p
}

// copyID names a copy by what is in it.
func (s *Seal) copyID() string {
	if s.base != nil {
		return s.base.copyID()
	}
	s.copyOnce.Do(func() {
		h := sha256.New()
		for _, f := range s.folder {
			fmt.Fprintf(h, "%#v\n", copied(f))
		}
		s.copyName = hex.EncodeToString(h.Sum(nil)[:16]) // shorter paths; a copy is verified file by file
	})
	return s.copyName
}

// copied is what a copy has in the place of a file: a link out of the folder
// becomes the file that it leads to.
func copied(f File) File {
	if f.SHA256 != "" {
		f.Link = ""
	}
	return f
}

// verified returns the seal of a copy that has all files of a folder, or nil.
func verified(path string, of *Seal) *Seal {
	seal, err := Subject{ID: path, Root: path, Path: path, Dir: path, Only: of.subject.Only, Definition: []byte("[]")}.Seal()
	if err != nil {
		return nil
	}
	have := make(map[string]File, len(seal.folder))
	for _, f := range seal.folder {
		have[f.Name] = f
	}
	for _, f := range of.folder {
		if have[f.Name] != copied(f) {
			return nil
		}
	}
	return seal
}

// copy makes a copy beside path and puts it in its place, in that of a broken
// one if need be. One process does so at a time.
func (s *Snapshots) copy(seal *Seal, path string) error {
	unlock, err := lock(filepath.Join(s.dir, "snapshots.lock"), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if verified(path, seal) != nil {
		return nil // another process was faster
	}
	made, err := os.MkdirTemp(s.dir, "*"+safefile.TempSuffix)
	if err != nil {
		return unwritten(s.dir, err)
	}
	defer removeCopy(made)
	if err := copyFolder(seal, made); err != nil {
		return err
	}
	broken := made + ".old"
	defer removeCopy(broken)
	_ = robustio.Rename(path, broken)
	if err := robustio.Rename(made, path); err != nil {
		return unwritten(path, err)
	}
	s.sweep()
	return nil
}

func copyFolder(seal *Seal, to string) error {
	root, err := os.OpenRoot(seal.subject.Dir + "/.")
	if err != nil {
		return asProblem(seal.subject.Dir, err)
	}
	defer root.Close()
	r := reader{subject: &seal.subject, root: seal.key.Root, dir: root}
	for _, f := range seal.folder {
		path := filepath.Join(to, filepath.FromSlash(f.Name))
		_ = os.MkdirAll(filepath.Dir(path), 0o700) // where it fails, so does what follows
		if f.SHA256 == "" {
			err = os.Symlink(f.Link, path)
		} else {
			err = r.copyFile(f, path)
		}
		if err != nil {
			return unwritten(path, err)
		}
	}
	return seals(to, 0o500)
}

// copyFile copies a file if it is still the one of the seal.
func (r *reader) copyFile(f File, to string) error {
	from := r.path(f.Name)
	src, err := r.dir.OpenFile(f.Name, os.O_RDONLY|safefile.NonBlock, 0)
	if f.Link != "" {
		src, err = r.openEnd(from)
	}
	if err != nil {
		return asProblem(from, err)
	}
	defer src.Close()
	mode := fs.FileMode(0o400)
	if f.Exec {
		mode = 0o500
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	sum, _, err := hashed(tee{src, dst}, f.Size)
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if sum != f.SHA256 {
		return &Problem{CodeChanging, from, "changed since it was judged", "judge it again"}
	}
	return nil
}

// tee is io.TeeReader for files: what is read from one is written to the other.
type tee struct{ from, to *os.File }

func (t tee) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n > 0 {
		if _, err := t.to.Write(p[:n]); err != nil {
			return n, err
		}
	}
	return n, err
}

// seals gives every folder of a tree a mode.
func seals(dir string, mode fs.FileMode) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
}

// removeCopy removes a tree whose folders cannot be written.
func removeCopy(dir string) {
	_ = seals(dir, 0o700)
	_ = os.RemoveAll(dir)
}

// sweep removes copies that no process has used for long, and what was left
// half made.
func (s *Snapshots) sweep() {
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.IsDir() && time.Since(info.ModTime()) > snapshotAge {
			removeCopy(filepath.Join(s.dir, e.Name()))
		}
	}
}
