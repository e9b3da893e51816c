package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/tenterhook/tenterhook/internal/safefile"
	"github.com/tenterhook/tenterhook/internal/stamp"
)

// What a seal takes at most, folder and further files together.
const (
	MaxFiles = 4096     // folders count too
	MaxBytes = 64 << 20 // of content

	MaxProgram = 1 << 30 // bytes of a subject's only file

	maxDepth = 32 // folders within folders
)

// reader reads what a subject binds.
type reader struct {
	subject *Subject
	root    string // canonical
	dir     *os.Root

	folder, files []File
	watch         []watched
	count         int
	bytes         int64
}

func (r *reader) read() error {
	if r.subject.Dir != "" {
		// The dot keeps a pipe of that name from being waited for.
		dir, err := os.OpenRoot(r.subject.Dir + "/.")
		if err != nil {
			return asProblem(r.subject.Dir, err)
		}
		defer dir.Close()
		r.dir = dir
		if r.subject.Only == "" {
			err = r.readFolder(".", 0)
		} else {
			err = r.readOnly(r.subject.Only)
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(r.folder, byName)
	return r.readFiles()
}

// readOnly reads the one file of the folder that is bound, if it is there.
func (r *reader) readOnly(name string) error {
	info, err := r.dir.Lstat(name)
	switch {
	case absent(err):
		r.watch = append(r.watch, watched{path: r.path(name), name: name, gone: true})
		return nil
	case err == nil && !info.Mode().IsRegular():
		return notAFile(r.path(name), info.Mode().Type())
	}
	return r.readFile(name)
}

// limit is how many bytes the subject may have.
func (r *reader) limit() int64 {
	if r.subject.Only != "" {
		return MaxProgram
	}
	return MaxBytes
}

// readFiles reads the files outside of the folder.
func (r *reader) readFiles() error {
	paths := slices.Clone(r.subject.Files)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if err := r.readNamed(path); err != nil {
			return err
		}
	}
	slices.SortFunc(r.files, byName)
	return nil
}

// readFolder reads a folder of the hook's, and all that is in it.
func (r *reader) readFolder(rel string, depth int) error {
	path := r.path(rel)
	if depth > maxDepth {
		return &Problem{CodeTooLarge, path, fmt.Sprintf("lies more than %d folders deep", maxDepth), "keep the hook's folder flat"}
	}
	entries, at, err := r.list(rel, path)
	if err != nil {
		return err
	}
	r.watch = append(r.watch, watched{path: path, name: rel, follow: rel == ".", stamp: at})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		child := e.Name()
		if rel != "." {
			child = rel + "/" + child
		}
		switch e.Type() {
		case fs.ModeDir:
			err = r.readFolder(child, depth+1)
		case fs.ModeSymlink:
			err = r.readLink(child)
		case 0:
			err = r.readFile(child)
		default:
			err = notAFile(r.path(child), e.Type())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list returns a folder's entries, unless there are more than may be taken.
func (r *reader) list(rel, path string) ([]fs.DirEntry, stamp.Stamp, error) {
	f, err := r.dir.OpenFile(rel, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return nil, stamp.Stamp{}, asProblem(path, err)
	}
	defer f.Close()
	at, err := stamp.OfFile(f)
	if err != nil {
		return nil, stamp.Stamp{}, asProblem(path, err)
	}
	entries, err := f.ReadDir(MaxFiles - r.count + 1)
	if err != nil && err != io.EOF {
		return nil, stamp.Stamp{}, asProblem(path, err)
	}
	if r.count += len(entries); r.count > MaxFiles {
		return nil, stamp.Stamp{}, tooMany(r.subject.Dir)
	}
	return entries, at, nil
}

func (r *reader) readFile(rel string) error {
	path := r.path(rel)
	f, err := r.dir.OpenFile(rel, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return asProblem(path, err)
	}
	return r.bind(&r.folder, f, File{Name: rel}, watched{path: path, name: rel})
}

// readLink takes a link that stays in the folder as it is: what it leads to is
// bound by itself. One to a file elsewhere below the root is taken with that
// file's content. A link cannot be written, only replaced, which its folder shows.
func (r *reader) readLink(rel string) error {
	path := r.path(rel)
	target, err := r.dir.Readlink(rel)
	if err != nil {
		return asProblem(path, err)
	}
	if _, err := r.dir.Stat(rel); err == nil || errors.Is(err, fs.ErrNotExist) {
		r.folder = append(r.folder, File{Name: rel, Link: target})
		return nil
	}
	f, err := r.openEnd(path)
	if err != nil {
		return err
	}
	return r.bind(&r.folder, f, File{Name: rel, Link: target}, watched{path: path, name: rel, follow: true})
}

// openEnd opens what a link leads to, below the root.
func (r *reader) openEnd(path string) (*os.File, error) {
	end, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, &Problem{CodeEscapes, path, "is a link out of its folder that cannot be followed", "put the file itself in its place"}
	}
	rel, below := relative(r.root, end)
	if !below {
		return nil, &Problem{CodeEscapes, path, "is a link out of " + show(r.root), "put the file itself in its place"}
	}
	if info, err := os.Lstat(end); err == nil && !info.Mode().IsRegular() {
		return nil, &Problem{CodeEscapes, path, "is a link out of its folder, and not to a file", "put what it leads to in its place"}
	}
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return nil, asProblem(path, err)
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return nil, asProblem(path, err)
	}
	return f, nil
}

// readNamed reads a file outside of the folder, wherever links lead: it is its
// content that is bound.
func (r *reader) readNamed(path string) error {
	name := r.subject.nameOf(path)
	if r.count++; r.count > MaxFiles {
		return tooMany(r.subject.Path)
	}
	info, err := os.Stat(path)
	if absent(err) {
		r.files = append(r.files, File{Name: name, Missing: true})
		r.watch = append(r.watch, watched{path: path, name: name, follow: true, gone: true})
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return notAFile(path, info.Mode().Type())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return asProblem(path, err)
	}
	return r.bind(&r.files, f, File{Name: name}, watched{path: path, name: name, follow: true})
}

// bind hashes and closes an open file, adds it to a list and watches its path. What
// it adds is of the file that is open; that the path still means it is for the seal
// to find out.
func (r *reader) bind(list *[]File, f *os.File, file File, w watched) error {
	defer f.Close()
	at, err := stamp.OfFile(f)
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr); err != nil {
		return asProblem(w.path, err)
	}
	if !info.Mode().IsRegular() {
		return notAFile(w.path, info.Mode().Type())
	}
	limit := r.limit()
	if r.bytes+info.Size() > limit {
		return tooLarge(w.path, limit)
	}
	if file.SHA256, file.Size, err = hashed(f, limit-r.bytes); err != nil {
		return asProblem(w.path, err)
	}
	if r.bytes += file.Size; r.bytes > limit {
		return tooLarge(w.path, limit)
	}
	file.Exec, w.stamp = info.Mode().Perm()&0o111 != 0, at
	*list, r.watch = append(*list, file), append(r.watch, w)
	return nil
}

func (r *reader) path(rel string) string {
	if rel == "." {
		return r.subject.Dir
	}
	return r.subject.Dir + string(filepath.Separator) + filepath.FromSlash(rel)
}

var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// hashed is the digest, in hex, and the size of what src holds. It stops
// reading soon after limit.
func hashed(src io.Reader, limit int64) (string, int64, error) {
	buf := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buf)
	h, size := sha256.New(), int64(0)
	for size <= limit {
		n, err := src.Read(buf[:])
		h.Write(buf[:n])
		size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", size, err
		}
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])), size, nil
}

// absent reports whether err says that a path leads nowhere.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func tooMany(path string) *Problem {
	return &Problem{CodeTooLarge, path, fmt.Sprintf("holds more than the %d files that can be approved", MaxFiles),
		"keep what the hook does not need elsewhere, or ship dependencies as one file"}
}

func tooLarge(path string, limit int64) *Problem {
	return &Problem{CodeTooLarge, path, fmt.Sprintf("is more than the %d MiB that can be approved, including the files beside it", limit>>20),
		"keep data elsewhere"}
}

func notAFile(path string, mode fs.FileMode) *Problem {
	what := "a device"
	switch mode & (fs.ModeDir | fs.ModeNamedPipe | fs.ModeSocket) {
	case fs.ModeDir:
		what = "a folder"
	case fs.ModeNamedPipe:
		what = "a pipe"
	case fs.ModeSocket:
		what = "a socket"
	}
	if mode&fs.ModeSymlink != 0 {
		what = "a link"
	}
	return &Problem{CodeNotAFile, path, "is " + what + ", which cannot be approved", "remove it, or put a regular file in its place"}
}
