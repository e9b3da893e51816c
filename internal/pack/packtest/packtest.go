// Package packtest puts packs into a store for tests, without any registry.
//
// Stage: tests alone.
package packtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenterhook/tenterhook/internal/pack"
)

// parts are the manifest and the config of a pack with files, of which the ones that
// end in .sh can be executed. The layer is not made: the store has none.
func parts(files map[string]string) (manifest, config []byte, err error) {
	var list []pack.File
	for name, text := range files {
		list = append(list, pack.File{Name: name, Size: int64(len(text)),
			SHA256: strings.TrimPrefix(pack.Digest([]byte(text)), "sha256:"), Exec: strings.HasSuffix(name, ".sh")})
	}
	if config, err = pack.NewConfig(list); err != nil {
		return nil, nil, err
	}
	return pack.NewManifest(pack.Describe(pack.ConfigType, config), pack.Describe(pack.LayerType, nil)), config, nil
}

// Digest is that of a pack with files.
func Digest(files map[string]string) string {
	manifest, _, err := parts(files)
	if err != nil {
		panic(err)
	}
	return pack.Digest(manifest)
}

// Put puts a pack with files into the store of a state directory, and returns the
// folder with them.
func Put(t testing.TB, stateDir string, files map[string]string) string {
	t.Helper()
	manifest, config, err := parts(files)
	if err != nil {
		t.Fatal(err)
	}
	folder := pack.Folder(stateDir, pack.Digest(manifest))
	within := filepath.Join(folder, pack.FilesFolder)
	all := map[string][]byte{filepath.Join(folder, pack.ManifestFile): manifest, filepath.Join(folder, pack.ConfigFile): config}
	for name, text := range files {
		all[filepath.Join(within, filepath.FromSlash(name))] = []byte(text)
	}
	for path, data := range all {
		mode := os.FileMode(0o600)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, mode); err != nil {
			t.Fatal(err)
		}
	}
	return within
}
