package oci

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/manifest"
)

// Artifact is a folder of hooks as a pack.
type Artifact struct {
	Digest   string // of the manifest
	Manifest []byte
	Config   []byte
	Layer    []byte
	Contents pack.Config
}

// Read makes a pack of a folder. The same files give the same digest, wherever
// they are and whose they are. A .git is left out; a link, a device and a name
// that some system takes for another are errors.
func Read(dir string) (*Artifact, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	contents := make(map[string][]byte)
	var files []pack.File
	total := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.EqualFold(d.Name(), ".git") && d.IsDir():
			return fs.SkipDir
		case strings.EqualFold(d.Name(), ".git") || d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no regular file; put a copy in its place, or remove it", path.Join(dir, name))
		}
		data, exec, err := readFile(root, name)
		if err != nil {
			return err
		}
		if total += len(data); total > pack.MaxTotal || len(files) >= pack.MaxFiles {
			return fmt.Errorf("%s is too large for a pack, which holds at most %d files and %d MiB; name the folder of the hooks alone", dir, pack.MaxFiles, pack.MaxTotal>>20)
		}
		sum := sha256.Sum256(data)
		files = append(files, pack.File{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Exec: exec})
		contents[name] = data
		return nil
	})
	if err != nil {
		return nil, err
	}
	return assemble(files, contents)
}

// readFile reads a file that may be in a pack, and whether it can be executed.
func readFile(root *os.Root, name string) ([]byte, bool, error) {
	f, err := safefile.OpenIn(root, name)
	if err != nil {
		return nil, false, safefile.Named(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	data, err := safefile.ReadAll(f, pack.MaxFile)
	if _, large := errors.AsType[safefile.TooLargeError](err); large {
		err = fmt.Errorf("%w; keep it out of the pack", err)
	}
	if err != nil {
		return nil, false, safefile.Named(name, err)
	}
	return data, executable(info, data), nil
}

// assemble makes the parts of a pack.
func assemble(files []pack.File, contents map[string][]byte) (*Artifact, error) {
	config, err := pack.NewConfig(files)
	if err != nil {
		return nil, fmt.Errorf("%w; rename the file, or keep it out of the folder", err)
	}
	a := &Artifact{Config: config, Contents: pack.Config{Files: files}}
	hooks := a.Contents.Hooks()
	for _, f := range files {
		if path.Base(f.Name) == "HOOK.md" && !slices.Contains(hooks, f.Name) {
			return nil, fmt.Errorf("%s would not be found; put all hooks into <name>/HOOK.md, or all into hooks/<name>/HOOK.md", f.Name)
		}
	}
	if len(hooks) == 0 {
		return nil, errors.New("it holds no hooks; name a folder with <name>/HOOK.md or hooks/<name>/HOOK.md in it")
	}
	for _, name := range hooks {
		if err := checkKind(name, contents[name]); err != nil {
			return nil, err
		}
	}
	var layer bytes.Buffer
	tw := tar.NewWriter(&layer)
	for _, f := range files {
		if err := tw.WriteHeader(header(f)); err != nil {
			return nil, err
		}
		if _, err := tw.Write(contents[f.Name]); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	a.Layer = layer.Bytes()
	a.Manifest = pack.NewManifest(pack.Describe(pack.ConfigType, a.Config), pack.Describe(pack.LayerType, a.Layer))
	a.Digest = pack.Digest(a.Manifest)
	return a, nil
}

// checkKind fails for the manifest of a plugin's hook. An approval of this machine
// binds a plugin's executable, and a pack's digest approves its files: neither
// could vouch for a process that serves hooks of both.
func checkKind(name string, data []byte) error {
	declared, _ := manifest.Parse(manifest.Source{Scope: hook.ScopePlugin, Folder: path.Base(path.Dir(name))}, data)
	for _, h := range declared {
		if h.Kind.Info().Packaged {
			return fmt.Errorf(`%s has type = "plugin", and plugins do not run from packs; install the plugin's package on each machine, or make the hook a command`, name)
		}
	}
	return nil
}

// header is a file's in the layer: no time, no owner, and of the mode whether it
// can be executed.
func header(f pack.File) *tar.Header {
	mode := int64(0o644)
	if f.Exec {
		mode = 0o755
	}
	return &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: f.Size, Mode: mode, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
}

// extract writes the files of a layer into root. Whatever is not as header makes
// it of the config's next file is refused before a byte of it is written. A nil
// root checks alone.
func extract(layer io.Reader, c *pack.Config, root *os.Root) error {
	tr, hooks := tar.NewReader(layer), c.Hooks()
	for _, f := range c.Files {
		h, err := tr.Next()
		if err == io.EOF {
			return fmt.Errorf("its layer ends before %q", f.Name)
		}
		if err != nil {
			return fmt.Errorf("its layer is no tar: %w", err)
		}
		if err := expected(h, f); err != nil {
			return err
		}
		var text bytes.Buffer
		content := io.Reader(tr)
		if slices.Contains(hooks, f.Name) {
			content = io.TeeReader(tr, &text)
		}
		if err := writeFile(root, f, content); err != nil {
			return err
		}
		if err := checkKind(f.Name, text.Bytes()); slices.Contains(hooks, f.Name) && err != nil {
			return err
		}
	}
	if h, err := tr.Next(); err == nil {
		return fmt.Errorf("its layer holds %q, which its config does not list", h.Name)
	} else if err != io.EOF {
		return fmt.Errorf("its layer is no tar: %w", err)
	}
	return nil
}

// expected fails for a header that is not that of a file.
func expected(h *tar.Header, f pack.File) error {
	want := header(f)
	switch {
	case h.Typeflag != tar.TypeReg || h.Linkname != "":
		return fmt.Errorf("%q in its layer is no regular file (type %q)", h.Name, h.Typeflag)
	case h.Name != want.Name:
		return fmt.Errorf("its layer holds %q where its config has %q", h.Name, f.Name)
	case h.Size != want.Size:
		return fmt.Errorf("%q has %d bytes in its layer and %d in its config", h.Name, h.Size, f.Size)
	case h.Mode != want.Mode || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(want.ModTime):
		return fmt.Errorf("%q has a mode, an owner or a time in its layer that no pack has", h.Name)
	}
	for key := range h.PAXRecords {
		if key != "path" {
			return fmt.Errorf("%q has the extended header %q in its layer", h.Name, key)
		}
	}
	return nil
}

// writeFile writes a file into root, nil = nowhere, and compares its digest.
func writeFile(root *os.Root, f pack.File, content io.Reader) (err error) {
	h := sha256.New()
	var to io.Writer = h
	if root != nil {
		if err := root.MkdirAll(path.Dir(f.Name), 0o700); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if f.Exec {
			mode = 0o700
		}
		file, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to = io.MultiWriter(h, file)
	}
	n, err := io.Copy(to, io.LimitReader(content, f.Size))
	if err != nil {
		return fmt.Errorf("%q cannot be unpacked: %w", f.Name, err)
	}
	if n != f.Size || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%q in its layer is not what its config says", f.Name)
	}
	return nil
}
