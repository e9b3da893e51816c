package pack

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Reference says where a pack is, and which one: a repository of a registry, as
// HOST/REPOSITORY, or an OCI layout directory, as oci:PATH.
type Reference struct {
	Layout     string // the path of a layout directory; "" = a registry
	Host       string // of a registry, with its port if there is one
	Repository string // in the registry
	Tag        string // "" = none is named
	Digest     string // "sha256:…"; "" = none is named
}

var (
	tagForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`) })
	hostForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$`)
	})
	repositoryForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	})
	nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })
)

const refForms = `write HOST/REPOSITORY:TAG, HOST/REPOSITORY@sha256:…, or oci:PATH:TAG for a layout directory`

// ParseReference reads a reference. A path that begins with / or . is a layout
// directory, too; a tag of such a path has to be written with oci:.
func ParseReference(text string) (Reference, error) {
	var r Reference
	rest, digest, pinned := cutLast(text, "@")
	if pinned {
		if !ValidDigest(digest) {
			return r, fmt.Errorf("%q: %q is no digest: it is sha256: and 64 hexadecimal digits", text, digest)
		}
		r.Digest = digest
	}
	if at, ok := strings.CutPrefix(rest, "oci:"); ok {
		r.Layout = at
		if path, tag, tagged := cutLast(at, ":"); tagged && tagForm().MatchString(tag) {
			r.Layout, r.Tag = path, tag
		}
		if r.Layout == "" {
			return r, fmt.Errorf("%q names no directory: %s", text, refForms)
		}
		return r, nil
	}
	if isPath(rest) {
		r.Layout = rest
		return r, nil
	}
	host, repository, ok := strings.Cut(rest, "/")
	if at, tag, tagged := cutLast(repository, ":"); tagged {
		if !tagForm().MatchString(tag) {
			return r, fmt.Errorf("%q: %q cannot be a tag: %s", text, tag, refForms)
		}
		repository, r.Tag = at, tag
	}
	if !ok || !hostForm().MatchString(host) || len(repository) > 255 || !repositoryForm().MatchString(repository) {
		return r, fmt.Errorf("%q is no reference of a pack: %s", text, refForms)
	}
	r.Host, r.Repository = host, repository
	return r, nil
}

func isPath(s string) bool {
	return strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") || filepath.IsAbs(s)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Pinned reads a reference that names a digest and can be a package: as settings
// have it.
func Pinned(text string) (Reference, error) {
	r, err := ParseReference(text)
	if err != nil {
		return r, err
	}
	if r.Digest == "" {
		return r, fmt.Errorf("%q names no digest, and a tag can move: write REF@sha256:…", text)
	}
	if !nameForm().MatchString(r.Name()) {
		return r, fmt.Errorf("%q: %q cannot be the name of a package: use letters, digits, '.', '_' and '-'", text, r.Name())
	}
	return r, nil
}

// Name is the name of the package that the hooks of a pack are of: the last part
// of the repository or of the path.
func (r Reference) Name() string {
	if r.Layout != "" {
		return filepath.Base(filepath.Clean(r.Layout))
	}
	return r.Repository[strings.LastIndex(r.Repository, "/")+1:]
}

// String is the reference as [ParseReference] reads it.
func (r Reference) String() string {
	text := r.Host + "/" + r.Repository
	if r.Layout != "" {
		text = "oci:" + r.Layout
	}
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}
