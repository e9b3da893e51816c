package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Kind is what a source is.
type Kind string

// The kinds of sources.
const (
	KindCatalogue Kind = "catalogue" // a hook that comes with the program
	KindFolder    Kind = "folder"
	KindArchive   Kind = "archive"
	KindGit       Kind = "git"
	KindPack      Kind = "pack" // an OCI artifact
)

// Spec says where hooks are.
type Spec struct {
	Kind Kind   `json:"kind"`
	At   string `json:"source"`         // a URL, an absolute path, a name of the catalogue, or where a pack is
	Ref  string `json:"ref,omitempty"`  // of git: a tag, a branch or a commit; "" = the default branch. Of a pack: a tag or a digest
	Path string `json:"path,omitempty"` // the folder in it that is looked at, with slashes; "" = its root
}

// String is the spec as Parse reads it.
func (s Spec) String() string {
	text := s.At
	if ref, err := s.Pack(); s.Kind == KindPack && err == nil {
		text = ref.String()
	} else if s.Ref != "" {
		text += "@" + s.Ref
	}
	if s.Path != "" {
		text += " (" + s.Path + ")"
	}
	return text
}

// refName is a name of a tag, a branch or a commit that no program takes for an
// option or an expression.
var refName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+/-]*$`) })

// scpLike is git's short form of an ssh URL.
var scpLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:/\\][^:]*$`)
})

// Parse reads what names a source: URL@REF or a path@REF of a git repository, the
// https URL of an archive, by its ending, a reference of a pack, else the path of a folder or of an archive.
// within is [Spec.Path].
func Parse(text, within string) (Spec, error) {
	s := Spec{At: text, Path: within}
	if within != "" {
		if err := checkName(path.Clean(within)); err != nil {
			return s, fmt.Errorf("the path in the source: %w", err)
		}
		s.Path = path.Clean(within)
	}
	if _, err := os.Lstat(text); err == nil {
		return s.local()
	}
	if p, ok, err := packSpec(text, s.Path); ok {
		return p, err
	}
	if at, ref, ok := cutRef(text); ok {
		if !validRef(ref) {
			return s, fmt.Errorf("%q cannot be a tag, a branch or a commit", ref)
		}
		s.At, s.Ref = at, ref
	}
	switch {
	case strings.Contains(s.At, "://"):
		return s.url()
	case scpLike().MatchString(s.At) && filepath.VolumeName(s.At) == "":
		s.Kind = KindGit
		return s, nil
	case strings.Contains(s.At, "::"):
		return s, fmt.Errorf("%s: such a source would run a program; use https, ssh or a path", s.At)
	}
	return s.local()
}

// cutRef cuts off what follows the last @, unless that is part of a user's name
// in a URL.
func cutRef(text string) (at, ref string, ok bool) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, "", false
	}
	before := text[:i]
	if _, rest, isURL := strings.Cut(before, "://"); isURL {
		return before, text[i+1:], strings.Contains(rest, "/")
	}
	return before, text[i+1:], strings.ContainsAny(before, `/\:`) || isDir(before)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func (s Spec) url() (Spec, error) {
	u, err := url.Parse(s.At)
	switch {
	case err != nil:
		return s, err
	case u.User != nil && u.Scheme == "https", hasPassword(u):
		return s, errors.New("the URL holds a name or a password, which would be written down; use a credential helper of git, or a file of this machine")
	case secretIn(u) != "":
		return s, fmt.Errorf("the URL holds %s, which would be written down; fetch the archive yourself, and add the file", secretIn(u))
	case u.Scheme == "https" || u.Scheme == "ssh":
		if u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") {
			return s, fmt.Errorf("%s names no host", s.At)
		}
	case u.Scheme == "file":
		s.At = filepath.FromSlash(u.Path)
		return s.repository()
	default:
		return s, fmt.Errorf("%s: sources are reached by https, ssh or a path, not by %s", s.At, u.Scheme)
	}
	s.Kind = KindGit
	if s.Ref == "" && isArchiveURL(u) {
		s.Kind = KindArchive
	}
	return s, nil
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has
}

// secretIn is the name of a part of a URL's query or fragment that looks like a
// secret, "" = there is none.
func secretIn(u *url.URL) string {
	fragment, _ := url.ParseQuery(u.Fragment)
	for _, part := range []url.Values{u.Query(), fragment} {
		for _, name := range slices.Sorted(maps.Keys(part)) {
			if secretName().MatchString(name) {
				return name
			}
		}
	}
	return ""
}

// secretName matches what signed URLs and tokens are called: private_token, sig,
// X-Amz-Signature, X-Goog-Credential, apikey.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|secret|passw|pwd|credential|signature|(?:^|[^a-z])(?:sig|auth|key|jwt|code)(?:$|[^a-z])|apikey|access[_-]?key`)
})

// local is a path of this machine.
func (s Spec) local() (Spec, error) {
	abs, err := filepath.Abs(s.At)
	if err != nil {
		return s, err
	}
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return s, missing(abs)
	} else if err != nil {
		return s, err
	}
	s.At = abs
	switch {
	case s.Ref != "":
		return s.repository()
	case isLayout(abs):
		return s, fmt.Errorf("%s is an OCI layout directory; write oci:PATH:TAG", abs)
	case info.IsDir():
		s.Kind = KindFolder
	case info.Mode().IsRegular():
		s.Kind = KindArchive
	default:
		return s, fmt.Errorf("%s is neither a folder nor an archive", abs)
	}
	return s, nil
}

// missing is a path that leads nowhere, in the same words on each system.
type missing string

func (m missing) Error() string { return string(m) + ": there is no such file or directory" }

// Is reports whether the error is that a file does not exist.
func (missing) Is(err error) bool { return err == fs.ErrNotExist }

// isLayout reports whether a folder is an OCI layout directory.
func isLayout(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "oci-layout"))
	return err == nil
}

// repository is a git repository of this machine.
func (s Spec) repository() (Spec, error) {
	if _, err := gitDir(s.At); err != nil {
		return s, err
	}
	s.Kind = KindGit
	return s, nil
}

// Check refuses what Parse never makes: a lock file can come with a project.
func (s Spec) Check() error {
	if s.Kind == KindPack {
		if s.Path == "" || checkName(s.Path) == nil {
			_, err := s.Pack()
			return err
		}
	}
	if s.Path != "" && checkName(s.Path) != nil || s.Ref != "" && !validRef(s.Ref) {
		return fmt.Errorf("%s is no source", s)
	}
	switch {
	case s.Kind == KindCatalogue && hookName().MatchString(s.At):
		return nil
	case s.Kind == KindFolder && filepath.IsAbs(s.At), s.Kind == KindArchive && filepath.IsAbs(s.At), s.Kind == KindGit && filepath.IsAbs(s.At):
		return nil
	case (s.Kind == KindGit || s.Kind == KindArchive) && strings.Contains(s.At, "://"):
		same, err := s.url()
		if err == nil && same.Kind != s.Kind {
			err = fmt.Errorf("%s is no source", s)
		}
		return err
	case s.Kind == KindGit && scpLike().MatchString(s.At):
		return nil
	}
	return fmt.Errorf("%s is no source", s)
}

func validRef(ref string) bool { return refName().MatchString(ref) && !strings.Contains(ref, "..") }

// Local reports whether the source is on this machine.
func (s Spec) Local() bool {
	return s.Kind == KindFolder || s.Kind == KindPack && strings.HasPrefix(s.At, "oci:") || (s.Kind == KindArchive || s.Kind == KindGit) && filepath.IsAbs(s.At)
}
