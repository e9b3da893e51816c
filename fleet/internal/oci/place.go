package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/tenterhook/tenterhook/fleet/internal/problem"
	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// source is where packs can be read from.
type source interface {
	Resolve(ctx context.Context, reference string) (ocispec.Descriptor, error)
	Fetch(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error)
	Tags(ctx context.Context, last string, fn func([]string) error) error
}

// open returns the place of a reference, to read from.
func open(ref pack.Reference) (source, error) {
	if ref.Layout == "" {
		return repository(ref)
	}
	return openLayout(ref.Layout)
}

// repository is one of a registry. A registry on this machine is asked without
// TLS. Credentials are those of docker's configuration.
func repository(ref pack.Reference) (*remote.Repository, error) {
	repo, err := remote.NewRepository(ref.Host + "/" + ref.Repository)
	if err != nil {
		return nil, err
	}
	repo.PlainHTTP = loopback(ref.Host)
	client := &auth.Client{Client: &http.Client{Transport: retry.NewTransport(timely())}, Cache: auth.NewCache()}
	client.SetUserAgent("tenterhook-fleet")
	if client.Credential, err = dockerCredentials(); err != nil {
		return nil, err
	}
	repo.Client = client
	return repo, nil
}

// dockerCredentials are those of docker's configuration, nil = none can be there.
// A file that cannot be read is an error: it may hold what the registry asks for.
func dockerCredentials() (auth.CredentialFunc, error) {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("DOCKER_CONFIG") == "" {
		return nil, nil
	}
	unreadable := func(err error) error {
		return problem.New("docker_config", "docker's configuration cannot be used: "+err.Error(), "fix its config.json, or let DOCKER_CONFIG name another folder; an empty one has no credentials", err)
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, unreadable(err)
	}
	get := credentials.Credential(store)
	return func(ctx context.Context, host string) (auth.Credential, error) {
		c, err := get(ctx, host)
		if err != nil && ctx.Err() == nil {
			err = unreadable(err)
		}
		return c, err
	}, nil
}

// timely is a transport that does not wait for ever for a server that accepts and
// says nothing.
func timely() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = time.Minute
	return t
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// layout is a layout directory that is read. It takes no size of its index for
// granted.
type layout struct {
	dir   string
	index ocispec.Index
}

func openLayout(dir string) (*layout, error) {
	if _, err := os.Stat(filepath.Join(dir, ocispec.ImageLayoutFile)); err != nil {
		return nil, &problem.Error{Code: "no_layout", Message: dir + " is no OCI layout directory", Hint: "push a pack there first, or name another directory", Err: err}
	}
	l := &layout{dir: dir}
	return l, safefile.ReadJSON(filepath.Join(dir, ocispec.ImageIndexFile), &l.index)
}

// Resolve finds the manifest of a tag or a digest.
func (l *layout) Resolve(_ context.Context, reference string) (ocispec.Descriptor, error) {
	if pack.ValidDigest(reference) {
		info, err := os.Stat(l.blob(reference))
		if err != nil {
			return ocispec.Descriptor{}, fmt.Errorf("%s: %w", reference, errdef.ErrNotFound)
		}
		return ocispec.Descriptor{MediaType: pack.ManifestType, Digest: digest.Digest(reference), Size: info.Size()}, nil
	}
	for _, d := range l.index.Manifests {
		if d.Annotations[ocispec.AnnotationRefName] == reference {
			return d, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("%s: %w", reference, errdef.ErrNotFound)
}

// Fetch opens a blob.
func (l *layout) Fetch(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	if !pack.ValidDigest(d.Digest.String()) {
		return nil, fmt.Errorf("%q is no sha256 digest", d.Digest)
	}
	path := l.blob(d.Digest.String())
	f, err := safefile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", d.Digest, errdef.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Tags lists the tags, in order.
func (l *layout) Tags(_ context.Context, _ string, fn func([]string) error) error {
	var tags []string
	for _, d := range l.index.Manifests {
		if tag := d.Annotations[ocispec.AnnotationRefName]; tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return fn(tags)
}

func (l *layout) blob(digest string) string {
	return filepath.Join(l.dir, ocispec.ImageBlobsDir, "sha256", strings.TrimPrefix(digest, "sha256:"))
}

// explain gives an error of a place a remedy.
func explain(ref pack.Reference, err error) error {
	var known *problem.Error
	var network net.Error
	var local *fs.PathError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled):
		return problem.New("canceled", "it was interrupted", "run it again; nothing is half done", err)
	case errors.Is(err, errdef.ErrNotFound):
		bare := ref
		bare.Tag, bare.Digest = "", ""
		return problem.New("not_found", ref.String()+" is not there", "tenterhook pack list "+bare.String()+" shows the tags", err)
	case refusedBy(err):
		return problem.New("unauthorized", ref.Host+" refuses access: "+err.Error(), "log in with docker login "+ref.Host+", whose credentials are used", err)
	case errors.As(err, &local): // before network, which each error of the system also is
		return problem.New("local_files", err.Error(), "check who may write there, and whether the disk is full", err)
	case errors.As(err, &network):
		return problem.New("unreachable", ref.Host+" cannot be reached: "+err.Error(), "try again later, or name a layout directory; packs that were pulled stay in force", err)
	}
	return problem.New("bad_pack", ref.String()+" is refused: "+err.Error(), "name another version, or tell its author", err)
}
