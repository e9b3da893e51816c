package source

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// packSpec reads an argument that names a pack: HOST/REPOSITORY:TAG of a host with
// a dot or a port, oci:PATH:TAG, or either with a digest. ok is false for an
// argument that names something else.
func packSpec(text, within string) (s Spec, ok bool, err error) {
	isLayout := strings.HasPrefix(text, "oci:")
	ref, err := pack.ParseReference(text)
	switch {
	case err != nil && isLayout:
		return s, true, err
	case err != nil || ref.Layout != "" && !isLayout && ref.Digest == "":
		return s, false, nil
	case ref.Layout == "" && (!strings.ContainsAny(ref.Host, ".:") && ref.Host != "localhost" || ref.Tag+ref.Digest == ""):
		return s, false, nil
	case ref.Tag+ref.Digest == "":
		return s, true, fmt.Errorf("%s names neither a tag nor a digest; write oci:PATH:TAG", text)
	}
	s = Spec{Kind: KindPack, Ref: ref.Tag, Path: within}
	if ref.Digest != "" {
		s.Ref = ref.Digest
	}
	ref.Tag, ref.Digest = "", ""
	if ref.Layout != "" {
		if ref.Layout, err = filepath.Abs(ref.Layout); err != nil {
			return s, true, err
		}
	}
	s.At = ref.String()
	return s, true, nil
}

// Pack is the reference of a pack.
func (s Spec) Pack() (pack.Reference, error) {
	text := s.At + ":" + s.Ref
	if pack.ValidDigest(s.Ref) {
		text = s.At + "@" + s.Ref
	}
	ref, err := pack.ParseReference(text)
	if err == nil && (ref.Layout == "") == strings.HasPrefix(s.At, "oci:") || ref.Layout != "" && !filepath.IsAbs(ref.Layout) || ref.Tag+ref.Digest != s.Ref {
		err = fmt.Errorf("%s is no pack", text)
	}
	return ref, err
}

// FromPack reads the hooks of a pack in the store that want takes; nil = all of
// them. Each file must be as the digest says.
func FromPack(s Spec, p *pack.Pack, want func(name string) bool) (_ *Fetched, err error) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	t := newTree()
	for _, f := range p.Files {
		e := entry{kind: kindFile, size: f.Size, load: func() ([]byte, error) { return readPacked(root, f) }}
		if f.Exec {
			e.kind = kindExec
		}
		t.note(f.Name, e)
	}
	fetched := &Fetched{Spec: s, Commit: p.Digest}
	if fetched.Hooks, fetched.All, err = t.hooks(path.Join(".", s.Path), s.base(), want); err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	return fetched, nil
}

// readPacked reads a file of a pack, which must be as the pack's digest says.
func readPacked(root *os.Root, f pack.File) ([]byte, error) {
	file, err := safefile.OpenIn(root, filepath.FromSlash(f.Name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, f.Size+1))
	if err == nil && pack.Digest(data) != "sha256:"+f.SHA256 {
		err = fmt.Errorf("it changed since the pack was pulled")
	}
	return data, err
}
