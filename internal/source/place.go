package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/robustio"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// lockTime bounds how long Change waits for another process.
const lockTime = time.Minute

// Place is a folder of hooks that is being changed: no other process changes one
// meanwhile.
type Place struct {
	Dir  string
	Lock Lock
}

// Change hands a folder of hooks to edit. stateDir is where the lock against other
// processes lies. It waits for a change that is under way, for a minute.
func Change(ctx context.Context, dir, stateDir string, edit func(*Place) error) (err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(stateDir, "sources.lock")
	guard := safefile.Lock(path)
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if _, err := guard.TryLockContext(wait, 20*time.Millisecond); err != nil {
		return fmt.Errorf("another 'tenterhook add', 'update' or 'remove' holds %s: %w; wait until it ends", path, err)
	}
	defer func() { err = errors.Join(err, guard.Unlock()) }()
	lock, err := ReadLock(dir)
	if err != nil {
		return err
	}
	return edit(&Place{dir, lock})
}

// ExistsError is a folder that was not added from the source that is added now.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return e.Path + " exists" }

// EditedError is a hook whose files were edited after they were added.
type EditedError struct {
	Name  string
	Files []string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("%s was edited: %s", e.Name, strings.Join(e.Files, ", "))
}

// Add writes hooks, all of them or none. A hook that is there as it was added from
// the same source stays. made are the written ones.
func (p *Place) Add(f *Fetched) (made []string, err error) {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, err
	}
	var fresh []*Hook
	for _, h := range f.Hooks {
		_, err := os.Lstat(filepath.Join(p.Dir, h.Name))
		if was, known := p.Lock[h.Name]; err == nil && known && was.Spec == f.Spec && was.Digest == h.Digest() && p.State(h.Name).Clean() {
			continue
		}
		if err == nil {
			return nil, &ExistsError{filepath.Join(p.Dir, h.Name)}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		fresh = append(fresh, h)
	}
	aside, err := os.MkdirTemp(p.Dir, ".add-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	before := maps.Clone(p.Lock)
	for _, h := range fresh {
		if err := h.write(filepath.Join(aside, h.Name)); err != nil {
			return nil, err
		}
		p.Lock[h.Name] = f.Locked(h)
	}
	if err := p.Lock.write(p.Dir); err != nil {
		return nil, err
	}
	for _, h := range fresh {
		if err := robustio.Rename(filepath.Join(aside, h.Name), filepath.Join(p.Dir, h.Name)); err != nil {
			for _, undo := range made {
				err = errors.Join(err, os.RemoveAll(filepath.Join(p.Dir, undo)))
			}
			return nil, errors.Join(err, before.write(p.Dir))
		}
		made = append(made, h.Name)
	}
	return made, nil
}

// Locked is what the lock file says of a hook of the source.
func (f *Fetched) Locked(h *Hook) Locked {
	return Locked{Spec: f.Spec, Folder: h.Folder, Commit: f.Commit, Digest: h.Digest(), Files: h.sums()}
}

// write makes the hook's folder, which must not exist.
func (h *Hook) write(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(h.Files)) {
		f, mode := h.Files[name], fs.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := cmp.Or(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, mode)); err != nil {
			return err
		}
	}
	return nil
}

// State is what became of a hook's folder since it was added.
type State struct {
	Edited []string        // files that were changed or removed, or why the folder cannot be read
	Extra  []string        // what else is there
	Files  map[string]File // the added files, as they are now
	Gone   bool            // there is no folder
}

// Clean reports whether the hook's own files are as they were added.
func (s State) Clean() bool { return len(s.Edited) == 0 && !s.Gone }

// State looks at a hook that the lock file has.
func (p *Place) State(name string) State {
	s := State{Files: make(map[string]File)}
	was := p.Lock[name].Files
	dir := filepath.Join(p.Dir, name)
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Gone: true}
	}
	if info, lerr := os.Lstat(dir); err == nil && (lerr != nil || !info.IsDir()) {
		err = errors.Join(root.Close(), fmt.Errorf("%s is a link", dir))
	}
	if err != nil {
		s.Edited = []string{err.Error()}
		return s
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, ours := was[file]; !ours || !d.Type().IsRegular() {
			s.Extra = append(s.Extra, file)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := readBounded(root, file)
		if err != nil {
			return err
		}
		s.Files[file] = File{data, kindOf(info.Mode()) == kindExec}
		return nil
	})
	for _, file := range slices.Sorted(maps.Keys(was)) {
		if now, there := s.Files[file]; !there || now.sum() != was[file] {
			s.Edited = append(s.Edited, file)
		}
	}
	if err != nil {
		s.Edited = append(s.Edited, err.Error())
	}
	return s
}

// Update replaces a hook that was added by what its source has now. shown is its
// state as it was shown. Files that others put into the folder stay. Edits
// are an [*EditedError], unless force gives them up.
func (p *Place) Update(f *Fetched, h *Hook, shown State, force bool) (err error) {
	now := p.State(h.Name)
	if !maps.EqualFunc(now.Files, shown.Files, File.equal) || !slices.Equal(now.Extra, shown.Extra) {
		return fmt.Errorf("%s changed while you looked at it; update it again", h.Name)
	}
	if edited := slices.Concat(now.Edited, inTheWay(now.Extra, h)); len(edited) > 0 && !force {
		return &EditedError{h.Name, edited}
	}
	aside, err := os.MkdirTemp(p.Dir, ".update-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	made, dir := filepath.Join(aside, h.Name), filepath.Join(p.Dir, h.Name)
	if err := h.write(made); err != nil {
		return err
	}
	for _, extra := range now.Extra {
		if slices.Contains(inTheWay(now.Extra, h), extra) {
			continue
		}
		from, to := filepath.Join(dir, filepath.FromSlash(extra)), filepath.Join(made, filepath.FromSlash(extra))
		if err := cmp.Or(os.MkdirAll(filepath.Dir(to), 0o755), os.Link(from, to)); err != nil {
			return err
		}
	}
	before := maps.Clone(p.Lock)
	p.Lock[h.Name] = f.Locked(h)
	if err := p.Lock.write(p.Dir); err != nil {
		return err
	}
	if now.Gone {
		err = robustio.Rename(made, dir)
	} else {
		err = exchange(made, dir)
	}
	if err != nil {
		return errors.Join(err, before.write(p.Dir))
	}
	return nil
}

// inTheWay are the further files whose names the hook's new files need.
func inTheWay(extra []string, h *Hook) (names []string) {
	for _, file := range extra {
		for name := range h.Files {
			if strings.EqualFold(name, file) || strings.HasPrefix(name, file+"/") || strings.HasPrefix(file, name+"/") {
				names = append(names, file)
				break
			}
		}
	}
	return names
}

// swap is exchange for systems that cannot do it at once.
func swap(made, dir string) error {
	old := made + ".old"
	if err := robustio.Rename(dir, old); err != nil {
		return err
	}
	if err := robustio.Rename(made, dir); err != nil {
		return errors.Join(err, robustio.Rename(old, dir))
	}
	return nil
}

// Holds reports whether there is a hook folder of that name, wherever it came from.
func (p *Place) Holds(name string) bool {
	if !hookName().MatchString(name) {
		return false
	}
	info, err := os.Lstat(filepath.Join(p.Dir, name, manifestName))
	return err == nil && info.Mode().IsRegular()
}

// Remove removes what Add brought. It returns what stays: files that others
// put into the folder. Edits are an [*EditedError], unless force gives them up;
// then nothing stays.
func (p *Place) Remove(name string, force bool) (stays []string, err error) {
	s := p.State(name)
	if len(s.Edited) > 0 && !force {
		return nil, &EditedError{name, s.Edited}
	}
	dir := filepath.Join(p.Dir, name)
	switch {
	case s.Gone:
	case len(s.Extra) == 0 || force:
		aside := filepath.Join(p.Dir, ".remove-"+name)
		if err := cmp.Or(os.RemoveAll(aside), robustio.Rename(dir, aside), os.RemoveAll(aside)); err != nil {
			return nil, err
		}
	default:
		if err := removeFiles(dir, slices.Sorted(maps.Keys(p.Lock[name].Files))); err != nil {
			return nil, err
		}
		stays = s.Extra
	}
	delete(p.Lock, name)
	return stays, p.Lock.write(p.Dir)
}

// removeFiles removes files of a folder, the manifest first, and the folders that
// are empty then.
func removeFiles(dir string, files []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range append([]string{manifestName}, files...) {
		if err := root.Remove(filepath.FromSlash(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for parent := path.Dir(file); parent != "."; parent = path.Dir(parent) {
			if root.Remove(filepath.FromSlash(parent)) != nil {
				break // something stays in it
			}
		}
	}
	return nil
}
