package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	layouts "oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Progress gets how much of how many bytes were moved; nil = nothing does.
type Progress func(what string, done, all int64)

// refusedBy reports whether a registry wants other credentials.
func refusedBy(err error) bool {
	var response *errcode.ErrorResponse
	return errors.As(err, &response) && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden)
}

// Push writes a pack to a place, and lets the tag of the reference name it. It
// returns the digest that the tag named before, "" = none. A reference with
// another digest than the pack's is refused.
func Push(ctx context.Context, a *Artifact, ref pack.Reference, told Progress) (before string, err error) {
	if ref.Digest != "" && ref.Digest != a.Digest {
		return "", problem.New("other_digest", fmt.Sprintf("the folder's pack has the digest %s, not %s", a.Digest, ref.Digest), "leave the digest out, or push the folder that it was made of", nil)
	}
	defer func() { err = explain(ref, err) }()
	to, done, err := target(ctx, ref)
	if err != nil {
		return "", err
	}
	defer done()
	for _, part := range []struct {
		name, mediaType string
		data            []byte
	}{{"config", pack.ConfigType, a.Config}, {"layer", pack.LayerType, a.Layer}, {"manifest", pack.ManifestType, a.Manifest}} {
		d := descriptor(pack.Describe(part.mediaType, part.data))
		if there, err := to.Exists(ctx, d); err != nil {
			return "", err
		} else if there {
			continue
		}
		if err := to.Push(ctx, d, counted(bytes.NewReader(part.data), part.name, d.Size, told)); err != nil {
			return "", err
		}
	}
	if ref.Tag == "" {
		return "", nil
	}
	if old, err := to.Resolve(ctx, ref.Tag); err == nil && old.Digest.String() != a.Digest {
		before = old.Digest.String()
	}
	return before, to.Tag(ctx, descriptor(pack.Describe(pack.ManifestType, a.Manifest)), ref.Tag)
}

// target is a place to push to. A layout directory is made if need be, and is
// this process's alone until done is called. It waits for others until ctx ends.
func target(ctx context.Context, ref pack.Reference) (to oras.Target, done func(), err error) {
	if ref.Layout == "" {
		to, err = repository(ref)
		return to, func() {}, err
	}
	if err := begin(ref.Layout); err != nil {
		return nil, nil, err
	}
	lock := flock.New(filepath.Join(ref.Layout, ocispec.ImageLayoutFile), flock.SetFlag(os.O_RDONLY|safefile.NonBlock)) // it is there, and is never written again
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		_ = lock.Close()
		return nil, nil, err
	}
	done = func() { _ = lock.Unlock() }
	if to, err = layouts.New(ref.Layout); err != nil { // with what others pushed meanwhile
		done()
	}
	return to, done, err
}

// begin makes a layout directory, unless there is one. Its first file comes into
// being whole, for processes that begin at the same time. A directory that holds
// something else is refused.
func begin(dir string) error {
	marker := filepath.Join(dir, ocispec.ImageLayoutFile)
	if _, err := os.Stat(marker); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != ocispec.ImageLayoutFile && !strings.HasPrefix(name, halfMade) {
			if _, err := os.Stat(marker); err == nil {
				return nil // another process was faster
			}
			return problem.New("no_layout", dir+" holds other files", "name a directory that is empty, or does not exist", nil)
		}
	}
	f, err := os.CreateTemp(dir, halfMade+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintf(f, `{"imageLayoutVersion":%q}`, ocispec.ImageLayoutVersion)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), marker); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// halfMade begins the names of files that become a layout's first.
const halfMade = ".oci-layout-"

func descriptor(d pack.Descriptor) ocispec.Descriptor {
	o := ocispec.Descriptor{MediaType: d.MediaType, Digest: digest.Digest(d.Digest), Size: d.Size}
	if d.MediaType == pack.ManifestType {
		o.ArtifactType = pack.ArtifactType
	}
	return o
}

// Remote is a pack at its place, of which manifest and config were fetched and
// compared with the digest.
type Remote struct {
	Digest   string
	Contents pack.Config

	from             source
	ref              pack.Reference
	manifest, config []byte
	layer            pack.Descriptor
}

// Look fetches what a pack says about itself. The digest of the reference counts,
// and its tag where it has none.
func Look(ctx context.Context, ref pack.Reference) (_ *Remote, err error) {
	defer func() { err = explain(ref, err) }()
	from, err := open(ref)
	if err != nil {
		return nil, err
	}
	name := ref.Digest
	if name == "" {
		name = ref.Tag
	}
	if name == "" {
		return nil, problem.New("no_version", ref.String()+" names neither a tag nor a digest", "tenterhook pack list "+ref.String()+" shows the tags", nil)
	}
	d, err := from.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if !pack.ValidDigest(d.Digest.String()) || ref.Digest != "" && d.Digest.String() != ref.Digest {
		return nil, fmt.Errorf("the place answers with %s where %s was asked for", d.Digest, name)
	}
	r := &Remote{Digest: d.Digest.String(), from: from, ref: ref}
	if r.manifest, err = fetch(ctx, from, d, pack.MaxManifest); err != nil {
		return nil, err
	}
	m, err := pack.ParseManifest(r.manifest)
	if err != nil {
		return nil, err
	}
	if r.config, err = fetch(ctx, from, descriptor(m.Config), pack.MaxConfig); err != nil {
		return nil, err
	}
	c, err := pack.ParseConfig(r.config)
	if err != nil {
		return nil, err
	}
	if len(c.Hooks()) == 0 {
		return nil, errors.New("it holds no hooks")
	}
	r.Contents, r.layer = *c, m.Layers[0]
	return r, nil
}

// fetch reads a small blob, and compares its size and digest.
func fetch(ctx context.Context, from source, d ocispec.Descriptor, limit int64) ([]byte, error) {
	if d.Size < 0 || d.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes, and at most %d are allowed", d.Digest, d.Size, limit)
	}
	rc, err := from.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	data, err := io.ReadAll(io.LimitReader(rc, d.Size+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != d.Size || pack.Digest(data) != d.Digest.String() {
		return nil, fmt.Errorf("what is there is not %s of %d bytes", d.Digest, d.Size)
	}
	return data, nil
}

// Verify fetches the layer and compares every file, without writing anything.
func (r *Remote) Verify(ctx context.Context, told Progress) error {
	return explain(r.ref, r.unpack(ctx, nil, told))
}

// unpack reads the layer. Its files are written into root, nil = nowhere.
func (r *Remote) unpack(ctx context.Context, root *os.Root, told Progress) error {
	rc, err := r.from.Fetch(ctx, descriptor(r.layer))
	if err != nil {
		return err
	}
	defer rc.Close()
	h := sha256.New()
	limited := &io.LimitedReader{R: rc, N: r.layer.Size + 1}
	body := io.TeeReader(counted(limited, "layer", r.layer.Size, told), h)
	if err := extract(body, &r.Contents, root); err != nil {
		return err
	}
	if err := onlyZeros(body); err != nil {
		return err
	}
	if read := r.layer.Size + 1 - limited.N; read != r.layer.Size || "sha256:"+hex.EncodeToString(h.Sum(nil)) != r.layer.Digest {
		return fmt.Errorf("its layer is not %s of %d bytes", r.layer.Digest, r.layer.Size)
	}
	return nil
}

// onlyZeros reads the rest of a tar, which holds nothing.
func onlyZeros(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			return errors.New("its layer continues after its end")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// counted tells how much was read.
func counted(r io.Reader, what string, all int64, told Progress) io.Reader {
	if told == nil {
		return r
	}
	return &counter{r: r, what: what, all: all, told: told}
}

type counter struct {
	r         io.Reader
	what      string
	done, all int64
	told      Progress
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	c.told(c.what, c.done, c.all)
	return n, err
}

// Tag is a name in a place, and what it names now.
type Tag struct {
	Tag    string `json:"tag"`
	Digest string `json:"digest"`
}

// Tags lists the tags of a place, in order.
func Tags(ctx context.Context, ref pack.Reference) (_ []Tag, err error) {
	defer func() { err = explain(ref, err) }()
	from, err := open(ref)
	if err != nil {
		return nil, err
	}
	list := []Tag{}
	err = from.Tags(ctx, "", func(names []string) error {
		for _, name := range names {
			d, err := from.Resolve(ctx, name)
			if err != nil {
				return err
			}
			list = append(list, Tag{name, d.Digest.String()})
		}
		return nil
	})
	return list, err
}
