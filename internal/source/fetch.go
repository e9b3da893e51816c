package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Fetched is what a source holds now.
type Fetched struct {
	Spec
	Commit string // of git; of a pack its digest
	Hooks  []*Hook
	All    []string // the names of the hooks that it has, also of those not read
}

// Get reads the hooks of a folder, an archive or a git repository that want takes;
// nil = all of them. What it needs on disk meanwhile is in a folder of temp, and
// removed. The error names the source.
func Get(ctx context.Context, s Spec, want func(name string) bool, temp string) (*Fetched, error) {
	f := &Fetched{Spec: s}
	err := f.get(ctx, want, temp)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	return f, nil
}

func (f *Fetched) get(ctx context.Context, want func(string) bool, temp string) (err error) {
	t, root := (*tree)(nil), path.Join(".", f.Path)
	switch f.Kind {
	case KindFolder:
		var closeFolder func() error
		if t, closeFolder, err = openFolder(filepath.Join(f.At, filepath.FromSlash(f.Path))); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeFolder()) }()
		root = "."
	case KindArchive:
		at := f.At
		if !f.Local() {
			if at, err = download(ctx, f.At, temp); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.Remove(at)) }()
		}
		if t, err = openArchive(at); err != nil {
			return err
		}
		if top := t.top(); f.Path == "" && top != "" && len(t.folders(".")) == 0 {
			root = top
		}
	case KindGit:
		dir, err := os.MkdirTemp(temp, "tenterhook-git-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		r, err := fetch(ctx, f.Spec, dir)
		if err != nil {
			return err
		}
		f.Commit = r.commit
		if t, err = r.tree(ctx); err != nil {
			return err
		}
		f.Hooks, f.All, err = t.hooks(root, f.base(), want)
		return err
	default:
		return fmt.Errorf("%q is no kind of source", f.Kind)
	}
	f.Hooks, f.All, err = t.hooks(root, f.base(), want)
	return err
}

// top is the one folder that everything in an archive is in; "" = there are
// several, or files beside it.
func (t *tree) top() string {
	top := ""
	for name := range t.entries {
		first, _, inside := strings.Cut(name, "/")
		if !inside || top != "" && top != first {
			return ""
		}
		top = first
	}
	return top
}

// base is the name of a hook that is the source's root itself.
func (s Spec) base() string {
	if s.Path != "" {
		return path.Base(s.Path)
	}
	at, _, _ := strings.Cut(filepath.ToSlash(s.At), "?") // of a URL
	name := path.Base(strings.ReplaceAll(at, ":", "/"))
	for _, ext := range []string{".git", ".zip", ".gz", ".tgz", ".tar"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// FromFS makes a hook of files that come with the program. A script may be
// executed.
func FromFS(name string, folder fs.FS, files []string) (*Hook, error) {
	h := &Hook{Name: name, Folder: ".", Files: make(map[string]File)}
	for _, file := range files {
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		h.Files[file] = File{Data: data, Exec: strings.HasPrefix(string(data[:min(2, len(data))]), "#!")}
	}
	return h, nil
}

// Newest returns the ref that an update of a git source goes to, and the commit
// that it names: for a version the newest one but prereleases, for a branch
// the branch itself. A commit stays.
func Newest(ctx context.Context, s Spec) (ref, commit string, err error) {
	refs, err := remoteRefs(ctx, s)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", s, err)
	}
	tagged, isTag := refs["refs/tags/"+s.Ref]
	switch {
	case s.Ref == "":
		return "", refs["HEAD"], nil
	case isTag && version(s.Ref) != "":
		var tags []string
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			if tag, ok := strings.CutPrefix(name, "refs/tags/"); ok {
				tags = append(tags, tag)
			}
		}
		newest := NewestTag(s.Ref, tags)
		return newest, refs["refs/tags/"+newest], nil
	case isTag:
		return s.Ref, tagged, nil
	case refs["refs/heads/"+s.Ref] != "":
		return s.Ref, refs["refs/heads/"+s.Ref], nil
	}
	return s.Ref, "", nil
}

// NewestTag returns the tag that an update of a tag goes to: of a version the
// newest one but prereleases, else the tag itself.
func NewestTag(tag string, tags []string) string {
	newest := tag
	for _, other := range tags {
		if v := version(other); version(tag) != "" && v != "" && semver.Prerelease(v) == "" && prefix(other) == prefix(tag) && semver.Compare(v, version(newest)) > 0 {
			newest = other
		}
	}
	return newest
}

// version is the version that a tag names, as v1.2.3: of 1.2.3, v1.2.3 and
// hooks/v1.2.3. "" = it names none: v1 alone is meant to move.
func version(tag string) string {
	last := path.Base(tag)
	if !strings.HasPrefix(last, "v") {
		last = "v" + last
	}
	if !semver.IsValid(last) || !strings.Contains(last, ".") {
		return ""
	}
	return last
}

// IsVersion reports whether a ref names a version, as the tags of releases do.
func IsVersion(ref string) bool { return version(ref) != "" }

// prefix is what stands before a tag's version.
func prefix(tag string) string { return path.Dir(tag) }
