package oci

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/tenterhook/tenterhook/internal/pack"
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
// and unchanged stays; one that changed is replaced. Until the whole pack was
// compared with its digest it lies under another name.
func (r *Remote) Pull(ctx context.Context, stateDir string, told Progress) (folder string, err error) {
	defer func() { err = explain(r.ref, err) }()
	folder = pack.Folder(stateDir, r.Digest)
	if there, changed := Stored(stateDir, r.Digest); there && changed == "" {
		return folder, nil
	}
	store := pack.StoreDir(stateDir)
	if err := os.MkdirAll(store, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(store, ".new-*")
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
