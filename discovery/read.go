package discovery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// MaxManifest is the size in bytes that a HOOK.md may have.
const MaxManifest = 64 << 10

// readNamed reads a manifest wherever the links in its name lead.
func readNamed(fsys afero.Fs, name string) ([]byte, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notAFileError{info.Mode()}
	}
	file, err := fsys.OpenFile(name, os.O_RDONLY|safefile.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readFile(file, MaxManifest)
}

// readFile reads an open file that is regular and small enough. It judges the
// file that is open, not a name that may mean another one now.
func readFile(file interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}, max int) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notAFileError{info.Mode()}
	}
	if info.Size() > int64(max) {
		return nil, tooLargeError(max)
	}
	// One byte more than the file has: a full buffer means that it grew, or has
	// no size to tell, as in /proc.
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > max:
			return nil, tooLargeError(max)
		case err == io.EOF, err == nil && n > 0 && int64(len(data)) == info.Size():
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

var errNotAFolder = errors.New("not a folder")

// tooLargeError says how many bytes a file may have.
type tooLargeError int

func (e tooLargeError) Error() string { return fmt.Sprintf("larger than %d KiB", e>>10) }

// notAFileError says that what should be a regular file is something else.
type notAFileError struct{ mode fs.FileMode }

func (e notAFileError) Error() string {
	switch e.mode.Type() {
	case fs.ModeDir:
		return "a folder, not a file"
	case fs.ModeNamedPipe:
		return "a pipe, not a file"
	case fs.ModeSocket:
		return "a socket, not a file"
	case fs.ModeSymlink:
		return "a link, not a file"
	}
	return "a device, not a file"
}

// CodeUnreadable is the code of a diagnostic about a file or folder that is there
// and that the system did not let this process read.
const CodeUnreadable = "unreadable"

// explain makes a diagnostic of why something could not be read.
func explain(path string, err error) hook.Diagnostic {
	d := hook.Diagnostic{Severity: hook.SeverityError, Path: path}
	var notAFile notAFileError
	var tooLarge tooLargeError
	switch {
	case errors.As(err, &notAFile):
		d.Code, d.Message, d.Hint = "not_a_file", err.Error(), "put a regular file in its place"
	case errors.As(err, &tooLarge):
		d.Code, d.Message, d.Hint = "too_large", err.Error(), "move what does not define the hook into another file"
	case errors.Is(err, errEscapes):
		d.Code, d.Message, d.Hint = "link_escapes", err.Error(), "copy what it leads to, or link to something inside"
	case errors.Is(err, errDangling):
		d.Code, d.Message, d.Hint = "link_broken", err.Error(), "remove it, or restore what it leads to"
	case errors.Is(err, errLink):
		d.Code, d.Message, d.Hint = "link_refused", err.Error(), "copy what it leads to"
	case errors.Is(err, errNotAFolder):
		d.Code, d.Message, d.Hint = "not_a_folder", err.Error(), "name a folder that holds <name>/HOOK.md"
	case errors.Is(err, fs.ErrNotExist):
		d.Code, d.Message = "missing", "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		d.Code, d.Message, d.Hint = CodeUnreadable, "cannot be read: permission denied", "let the user who runs the agent read it"
	default:
		d.Code, d.Message, d.Hint = CodeUnreadable, "cannot be read: "+reason(err), "fix it, or remove it"
	}
	return d
}

// reason is an error without the path that the diagnostic names anyway.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
