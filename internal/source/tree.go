package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/internal/pack"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// The bounds of a source.
const (
	maxEntries = 20_000   // files, folders and links of an archive or of all hooks
	maxTotal   = 64 << 20 // bytes of an archive's files, or of all hooks
	maxArchive = 64 << 20 // bytes of an archive as it is
	maxFile    = 16 << 20 // bytes of one file of a hook
	maxHooks   = 200
	maxPath    = 512 // bytes of a name
)

// manifestName is the file that makes a folder a hook.
const manifestName = "HOOK.md"

// File is a file of a hook.
type File struct {
	Data []byte
	Exec bool
}

func (f File) equal(other File) bool { return f.Exec == other.Exec && bytes.Equal(f.Data, other.Data) }

// sum is the digest of a file, with its mode.
func (f File) sum() string {
	h := sha256.Sum256(f.Data)
	text := "sha256:" + hex.EncodeToString(h[:])
	if f.Exec {
		text += "+x"
	}
	return text
}

// Hook is a hook folder, in memory.
type Hook struct {
	Name   string          // a valid name of a folder
	Folder string          // in the source, with slashes; "." = its root
	Files  map[string]File // by name, with slashes
}

// Digest names the content of the folder: the names, modes and bytes of all files.
func (h *Hook) Digest() string { return digest(h.sums()) }

// Names lists the files in order.
func (h *Hook) Names() []string { return slices.Sorted(maps.Keys(h.Files)) }

func (h *Hook) sums() map[string]string {
	sums := make(map[string]string, len(h.Files))
	for name, f := range h.Files {
		sums[name] = f.sum()
	}
	return sums
}

func digest(sums map[string]string) string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(all, "%d %s %s\n", len(name), name, sums[name])
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil))
}

// kind is what an entry of a source is.
type kind uint8

const (
	kindFile kind = iota
	kindExec
	kindLink
	kindModule // a submodule
)

// entry is a file or a link of a source.
type entry struct {
	kind kind
	size int64
	load func() ([]byte, error) // of a link, its target
	bad  error                  // why no hook may have it
}

// tree holds the entries of a source by name, with slashes.
type tree struct {
	entries map[string]entry
	folded  map[string]string // names as a file system that ignores case has them
}

func newTree() *tree { return &tree{make(map[string]entry), make(map[string]string)} }

// note takes an entry. What is wrong with it matters only if it is a hook's.
func (t *tree) note(name string, e entry) {
	if err := t.add(name, e); err != nil {
		t.entries[name] = entry{bad: err}
	}
}

// add takes an entry, if every system can have its name.
func (t *tree) add(name string, e entry) error {
	if err := checkName(name); err != nil {
		return err
	}
	folded := strings.ToLower(name)
	if other, taken := t.folded[folded]; taken {
		if other == name {
			return fmt.Errorf("%q stands in it twice", name)
		}
		return fmt.Errorf("%q and %q differ in case alone", other, name)
	}
	t.entries[name], t.folded[folded] = e, name
	return nil
}

// checkName refuses names that lead elsewhere, or that some system reads as
// another name.
func checkName(name string) error {
	switch {
	case len(name) > maxPath:
		return fmt.Errorf("%.40q… is longer than %d bytes", name, maxPath)
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("%q is no name of a file below it", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
	}):
		return fmt.Errorf("%q has characters that do not show", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.ContainsAny(part, `\:*?"<>|`) || pack.CheckPart(name, part) != nil || !filepath.IsLocal(part) {
			return fmt.Errorf("%q is not a name that every system can have", name)
		}
	}
	return nil
}

// hookName is what a hook's folder may be called.
var hookName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// hooks reads the hook folders below root that want takes: itself, its folders,
// those in hooks and those in .tenterhook/hooks. base names the hook that root
// itself is. all are the names of all hooks.
func (t *tree) hooks(root, base string, want func(string) bool) (list []*Hook, all []string, err error) {
	folders := t.folders(root)
	if len(folders) == 0 {
		return nil, nil, fmt.Errorf("no hooks were found: %s, */%[1]s, hooks/*/%[1]s or .tenterhook/hooks/*/%[1]s", manifestName)
	}
	if len(folders) > maxHooks {
		return nil, nil, fmt.Errorf("it has %d hooks, more than %d", len(folders), maxHooks)
	}
	names := make(map[string]string)
	var total int64
	for _, folder := range folders {
		h := &Hook{Name: path.Base(folder), Folder: folder, Files: make(map[string]File)}
		if folder == root {
			h.Name = base
		}
		all = append(all, h.Name)
		if want != nil && !want(h.Name) {
			continue
		}
		if !hookName().MatchString(h.Name) {
			return nil, nil, fmt.Errorf("%q cannot be a hook's name; use letters, digits, '.', '_' and '-'", h.Name)
		}
		if other, taken := names[strings.ToLower(h.Name)]; taken {
			return nil, nil, fmt.Errorf("%s and %s are both named %s", other, folder, h.Name)
		}
		names[strings.ToLower(h.Name)] = folder
		if err := t.read(h, &total); err != nil {
			return nil, nil, err
		}
		list = append(list, h)
	}
	return list, all, nil
}

// folders finds the hook folders below root, in order.
func (t *tree) folders(root string) []string {
	if _, ok := t.entries[path.Join(root, manifestName)]; ok {
		return []string{root}
	}
	var found []string
	for name := range t.entries {
		folder := path.Dir(name)
		if path.Base(name) != manifestName {
			continue
		}
		for _, in := range []string{".", "hooks", ".tenterhook/hooks"} {
			if path.Dir(folder) == path.Join(root, in) {
				found = append(found, folder)
			}
		}
	}
	slices.Sort(found)
	return found
}

// read reads the files of a hook. A link becomes a copy of the file that it leads
// to, which must be in the same folder.
func (t *tree) read(h *Hook, total *int64) error {
	prefix := h.Folder + "/"
	if h.Folder == "." {
		prefix = ""
	}
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		short, inside := strings.CutPrefix(name, prefix)
		if !inside {
			continue
		}
		e := t.entries[name]
		if e.bad != nil {
			return e.bad
		}
		if e.kind == kindLink {
			target, err := e.load()
			if err != nil {
				return err
			}
			to := path.Join(path.Dir(name), string(target))
			if e = t.entries[to]; path.IsAbs(string(target)) || !strings.HasPrefix(to, prefix) || e.load == nil || e.kind == kindLink {
				return fmt.Errorf("%s is a link to %q; a hook's links must lead to files of its own folder", name, target)
			}
		}
		if e.kind == kindModule {
			return fmt.Errorf("%s is a submodule; a hook's files must be in the repository itself", name)
		}
		if *total += e.size; e.size > maxFile || *total > maxTotal {
			return fmt.Errorf("%s: the hooks are too large: at most %d MiB a file, %d MiB in all", name, maxFile>>20, maxTotal>>20)
		}
		data, err := e.load()
		if err != nil {
			return safefile.Named(name, err)
		}
		if strings.HasPrefix(string(data), "version https://git-lfs.github.com/spec/") {
			return fmt.Errorf("%s is kept in Git LFS, which is not fetched", name)
		}
		h.Files[short] = File{Data: data, Exec: e.kind == kindExec}
	}
	return nil
}
