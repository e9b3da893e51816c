package source

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// openArchive reads a tar file, compressed or not, or a zip file. All of it is
// looked at, so that what is wrong anywhere is refused.
func openArchive(name string) (*tree, error) {
	f, err := safefile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxArchive { // a zip file's list is read as a whole
		return nil, fmt.Errorf("it is larger than %d MiB", maxArchive>>20)
	}
	b := bufio.NewReader(f)
	magic, _ := b.Peek(262)
	a := &archive{tree: newTree()}
	switch {
	case bytes.HasPrefix(magic, []byte("PK")):
		return a.tree, a.zip(f, info.Size())
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		return a.tree, a.tar(z)
	case len(magic) == 262 && string(magic[257:]) == "ustar":
		return a.tree, a.tar(b)
	}
	return nil, errors.New("it is no archive: expected .tar.gz, .tar or .zip")
}

// archive is an archive that is being read.
type archive struct {
	tree  *tree
	count int
	total int64
}

// next counts an entry of any kind.
func (a *archive) next() error {
	if a.count++; a.count > maxEntries {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	return nil
}

// keep reads a file's bytes, which count whatever a header says of them.
func (a *archive) keep(name string, k kind, r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxTotal-a.total+1))
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if a.total += int64(len(data)); a.total > maxTotal {
		return fmt.Errorf("it unpacks to more than %d MiB", maxTotal>>20)
	}
	return a.tree.add(name, entry{kind: k, size: int64(len(data)), load: func() ([]byte, error) { return data, nil }})
}

// entryName is a name as the tree has it. A leading ./ is common and harmless.
func entryName(name string) string { return strings.TrimPrefix(name, "./") }

func kindOf(mode fs.FileMode) kind {
	if mode&0o111 != 0 {
		return kindExec
	}
	return kindFile
}

func (a *archive) tar(r io.Reader) error {
	// The headers count too: gzip makes millions of empty files of a few bytes.
	t := tar.NewReader(io.LimitReader(r, 2*maxTotal))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it cannot be read: %w", err)
		}
		if err := a.next(); err != nil {
			return err
		}
		name := entryName(h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			err = a.keep(name, kindOf(h.FileInfo().Mode()), t)
		case tar.TypeSymlink:
			err = a.keep(name, kindLink, strings.NewReader(h.Linkname))
		case tar.TypeDir:
			if clean := strings.TrimSuffix(name, "/"); clean != "" && clean != "." {
				err = checkName(clean)
			}
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("%q is neither a file, a folder nor a symbolic link", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (a *archive) zip(r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	for _, f := range z.File {
		if err := a.next(); err != nil {
			return err
		}
		name, mode := entryName(f.Name), f.Mode()
		switch {
		case mode.IsDir():
			if err := checkName(path.Clean(name)); err != nil {
				return err
			}
			continue
		case !mode.IsRegular() && mode.Type() != fs.ModeSymlink:
			return fmt.Errorf("%q is neither a file, a folder nor a symbolic link", f.Name)
		}
		data, err := f.Open()
		if err != nil {
			return fmt.Errorf("%q: %w", f.Name, err)
		}
		k := kindOf(mode)
		if mode.Type() == fs.ModeSymlink {
			k = kindLink
		}
		err = a.keep(name, k, data)
		if err = errors.Join(err, data.Close()); err != nil {
			return err
		}
	}
	return nil
}
