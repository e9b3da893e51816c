package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// What is in the folder of a pack in the store.
const (
	ManifestFile = "manifest.json"
	ConfigFile   = "config.json"
	FilesFolder  = "files"
)

// StoreDir is where packs are kept, in a state directory.
func StoreDir(stateDir string) string { return filepath.Join(stateDir, "packs") }

// Folder is where the pack of a digest is kept, whether it is there or not.
func Folder(stateDir, digest string) string {
	return filepath.Join(StoreDir(stateDir), strings.Replace(digest, ":", "-", 1))
}

// DataDir is where the hooks of a pack keep their data, whatever its version. Packs
// of other places have other folders, also those of the same name.
func DataDir(stateDir string, r Reference) string {
	place := Reference{Layout: r.Layout, Host: strings.ToLower(r.Host), Repository: r.Repository}
	if r.Layout != "" {
		place.Layout = filepath.Clean(r.Layout)
	}
	sum := sha256.Sum256([]byte(place.String()))
	return filepath.Join(stateDir, "pack-data", r.Name(), hex.EncodeToString(sum[:]))
}

// Pack is a pack in the store.
type Pack struct {
	Digest string
	Dir    string // the folder with its files
	Config
}

// Open reads what a digest says about the pack in the store. It does not look at
// the pack's files. The error wraps fs.ErrNotExist for a pack that was never
// pulled; otherwise something in the store changed.
func Open(stateDir, digest string) (*Pack, error) {
	if !ValidDigest(digest) {
		return nil, fmt.Errorf("%q is no sha256 digest", digest)
	}
	folder := Folder(stateDir, digest)
	if _, err := os.Stat(folder); err != nil {
		return nil, err
	}
	data, err := readAs(filepath.Join(folder, ManifestFile), digest, MaxManifest)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if data, err = readAs(filepath.Join(folder, ConfigFile), m.Config.Digest, MaxConfig); err != nil {
		return nil, err
	}
	config, err := ParseConfig(data)
	if err != nil {
		return nil, err
	}
	return &Pack{digest, filepath.Join(folder, FilesFolder), *config}, nil
}

// readAs reads a file that must have a digest. What is gone from a pack that is
// there is a change, not a pack that was never pulled.
func readAs(path, digest string, limit int64) ([]byte, error) {
	data, err := safefile.Read(path, limit)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %v", path, err)
	}
	if Digest(data) != digest {
		return nil, fmt.Errorf("%s changed since the pack was pulled", path)
	}
	return data, nil
}

// File returns the file of a name, with slashes.
func (c *Config) File(name string) (File, bool) {
	for _, f := range c.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// Changed says what in the pack's folder is not as the digest says: a file that
// is gone, that differs, or that the pack does not have. "" = nothing.
func (p *Pack) Changed() string {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return fmt.Sprintf("%s is gone", p.Dir)
	}
	defer root.Close()
	left := make(map[string]File, len(p.Files))
	for _, f := range p.Files {
		left[f.Name] = f
	}
	changed := ""
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		f, known := left[name]
		switch {
		case err != nil:
			changed = fmt.Sprintf("%s cannot be read: %v", name, err)
		case d.IsDir():
			return nil
		case !known:
			changed = name + " is no file of the pack"
		default:
			delete(left, name)
			changed = f.differs(root)
		}
		if changed != "" {
			return fs.SkipAll
		}
		return nil
	})
	if changed == "" {
		for _, f := range p.Files { // in order
			if _, missing := left[f.Name]; missing {
				return f.Name + " is gone"
			}
		}
	}
	return changed
}

// differs says how what is in root differs from a file; "" = in nothing.
func (f File) differs(root *os.Root) string {
	file, err := safefile.OpenIn(root, f.Name)
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", f.Name, err)
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, f.Size+1))
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", f.Name, err)
	}
	if n != f.Size || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return f.Name + " changed"
	}
	if info, err := file.Stat(); err == nil && safefile.HasModes && info.Mode()&0o111 != 0 != f.Exec {
		return f.Name + " can be executed where it could not, or the other way round"
	}
	return ""
}
