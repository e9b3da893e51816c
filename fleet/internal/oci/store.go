package oci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Stored says of a digest whether its pack is in the store, and what changed in
// it since it was pulled; "" = nothing.
func Stored(stateDir, digest string) (there bool, changed string) {
	p, err := pack.Open(stateDir, digest)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, ""
	case err != nil:
		return true, err.Error()
	}
	return true, p.Changed()
}

// Pull puts a pack into the store and returns its folder. A pack that is there
// and unchanged stays; a changed one is replaced. Until the whole pack was
// compared with its digest it lies under another name.
func (r *Remote) Pull(ctx context.Context, stateDir string, told Progress) (folder string, err error) {
	defer func() { err = explain(r.ref, err) }()
	folder = pack.Folder(stateDir, r.Digest)
	if there, changed := Stored(stateDir, r.Digest); there && changed == "" {
		return folder, nil
	}
	store := pack.StoreDir(stateDir)
	done, err := share(ctx, store)
	if err != nil {
		return "", err
	}
	defer done()
	made, err := os.MkdirTemp(store, halfPulled+"*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	if err := r.fill(ctx, made, told); err != nil {
		return "", err
	}
	broken := made + ".old"
	defer os.RemoveAll(broken)
	for range 3 { // another process may put its own there meanwhile
		if err = os.Rename(made, folder); err == nil {
			return folder, nil
		}
		if there, changed := Stored(stateDir, r.Digest); there && changed == "" {
			return folder, nil
		}
		_ = os.RemoveAll(broken)
		_ = os.Rename(folder, broken)
	}
	return "", err
}

// fill writes a pack into a folder of the store.
func (r *Remote) fill(ctx context.Context, folder string, told Progress) error {
	files := filepath.Join(folder, pack.FilesFolder)
	if err := os.Mkdir(files, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(files)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := r.unpack(ctx, root, told); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, pack.ManifestFile), r.manifest, 0o600),
		os.WriteFile(filepath.Join(folder, pack.ConfigFile), r.config, 0o600))
}

// halfPulled begins the names of folders in the store that are no packs yet, or no
// longer.
const halfPulled = ".new-"

// storeLock is held by each process that pulls, and alone by a process that removes.
func storeLock(store string) *flock.Flock {
	return safefile.Lock(store + ".lock")
}

// share keeps others from removing what is being pulled. Where no other process pulls,
// what is half pulled was left behind by a process that was killed, and goes.
func share(ctx context.Context, store string) (done func(), err error) {
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, err
	}
	lock := storeLock(store)
	if alone, err := lock.TryLock(); err == nil && alone {
		sweep(store)
		if err := lock.Unlock(); err != nil {
			return nil, err
		}
	}
	if _, err := lock.TryRLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// sweep removes what is half pulled. The caller holds the store's lock alone.
func sweep(store string) {
	entries, _ := os.ReadDir(store)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), halfPulled) {
			_ = os.RemoveAll(filepath.Join(store, e.Name()))
		}
	}
}

// Prune removes the packs of a store whose digests are not among those to keep, and
// what killed processes left there. It returns the digests, in order. A dry run
// removes nothing. It waits for pulls of others until ctx ends.
func Prune(ctx context.Context, stateDir string, keep map[string]bool, dry bool) (gone []string, err error) {
	store := pack.StoreDir(stateDir)
	entries, err := os.ReadDir(store)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if !dry {
		lock := storeLock(store)
		if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		defer lock.Close()
		defer sweep(store)
	}
	for _, e := range entries {
		digest := strings.Replace(e.Name(), "-", ":", 1)
		if !pack.ValidDigest(digest) || keep[digest] {
			continue
		}
		if !dry { // renamed first, so that no process sees a pack with half of its files
			aside := filepath.Join(store, halfPulled+e.Name())
			if err := os.Rename(filepath.Join(store, e.Name()), aside); err != nil {
				return gone, err
			}
		}
		gone = append(gone, digest)
	}
	return gone, nil
}
