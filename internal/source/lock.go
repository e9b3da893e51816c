package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// LockName is the lock file's name in a folder of hooks.
const LockName = "hooks.lock.json"

// lockVersion is the version of the lock file that is written.
const lockVersion = 1

// Locked is where a hook came from, and what it was then.
type Locked struct {
	Spec
	Folder string            `json:"folder,omitempty"` // of the hook, in the source
	Commit string            `json:"commit,omitempty"` // of git; of a pack its digest
	Digest string            `json:"digest"`           // of the folder as it was added
	Files  map[string]string `json:"files"`            // the digests of its files
}

// Version names what was added: the ref, with the commit of a branch, or the
// beginning of the digest.
func (l Locked) Version() string {
	short := func(text string) string { return text[:min(len(text), 12)] }
	switch {
	case l.Kind == KindPack && pack.ValidDigest(l.Ref):
		return short(strings.TrimPrefix(l.Ref, "sha256:"))
	case l.Kind == KindPack && !IsVersion(l.Ref):
		return l.Ref + " " + short(strings.TrimPrefix(l.Commit, "sha256:"))
	case l.Kind != KindGit && l.Kind != KindPack:
		return short(strings.TrimPrefix(l.Digest, "sha256:"))
	case IsVersion(l.Ref):
		return l.Ref
	case l.Ref == "" || strings.HasPrefix(l.Commit, l.Ref):
		return short(l.Commit)
	}
	return l.Ref + " " + short(l.Commit)
}

// Lock says where the hooks of a folder came from, by name.
type Lock map[string]Locked

type lockFile struct {
	Version int  `json:"version"`
	Hooks   Lock `json:"hooks"`
}

// ReadLock reads the lock file of a folder of hooks. Without one it is empty.
func ReadLock(dir string) (Lock, error) {
	path := filepath.Join(dir, LockName)
	var f lockFile
	switch err := safefile.ReadJSON(path, &f); {
	case errors.Is(err, fs.ErrNotExist):
		return Lock{}, nil
	case err != nil:
		return nil, fmt.Errorf("%w; correct it, or remove it: the hooks stay, and are yours to change", err)
	}
	if f.Version != lockVersion {
		return nil, fmt.Errorf("%s has version %d, and this program knows %d; use a newer tenterhook", path, f.Version, lockVersion)
	}
	for name := range f.Hooks {
		if !hookName().MatchString(name) {
			return nil, fmt.Errorf("%s: %q cannot be a hook's name", path, name)
		}
		if err := f.Hooks[name].Check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, name, err)
		}
		for file := range f.Hooks[name].Files {
			if err := checkName(file); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path, name, err)
			}
		}
	}
	if f.Hooks == nil {
		f.Hooks = Lock{}
	}
	return f.Hooks, nil
}

// write replaces the lock file of a folder; without hooks there is none.
func (l Lock) write(dir string) error {
	path := filepath.Join(dir, LockName)
	if len(l) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(lockFile{lockVersion, l}, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Write(path, append(data, '\n'), 0o644)
}
